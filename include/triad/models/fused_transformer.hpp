// LRF: an encoder and a decoder whose layers may also attend to the states after earlier layers (fuse-attention).
// Without fuse-attention, the model is the Transformer.
// SPDX-License-Identifier: Apache-2.0
//
//   source: x_0 = tokens, x_L from the encoder's layers             (source rows, d)      LRF equations 1 to 4, 7
//   target: y_0 = tokens, y_M from the decoder's layers and x_L     (target rows, d)      LRF equations 1 to 3, 5, 6, 8
//   fuse-attention in the layers that the options select                                  LRF equations 9 and 10
//   relative positions in self-attention if layer.reach > 0, usually with positions = false       Shaw et al. 2018
//   logits(i) = w_out y_M(i)                                        (target rows, v)      w_out: a matrix of its own,
//                                                                                         or the decoder's table
//
// The encoder may be wider than the decoder, because the decoder's attention over x_L projects x_L to the decoder's
// width.  A layer that the caller chooses may compute x_0.  So the encoder may be a pre-trained one with a small
// decoder (models/roberta.hpp).
//
// With frozen_encoder, the encoder has no gradient and no dropout.  So x_L depends only on the source, and a caller may
// keep x_L from pass to pass (batches/state_cache.hpp) and give it as pair_batch::source_states.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "triad/batches/pair_batch.hpp"
#include "triad/core/sizes.hpp"
#include "triad/layers/fixed_row.hpp"
#include "triad/layers/fused_stack.hpp"
#include "triad/layers/inputs/scaled_tokens.hpp"
#include "triad/ops/cross_entropy.hpp"
#include "triad/ops/elementwise.hpp"
#include "triad/ops/matmul.hpp"

namespace triad {

struct fused_transformer_options {
  index_t source_tokens = 0, target_tokens = 0;         // the numbers of rows of the tables; target_tokens is v
  fused_stack_options encoder{}, decoder{};             // the constructor sets causal and source_width
  bool tied_output = true;                              // whether w_out is the decoder's table
  double dropout = 0;                                   // the dropout rate of x_0 and y_0
  embedding_scale scaled = embedding_scale::tokens_up;  // of x_0 and y_0
  bool shared_table = false;  // whether the target's tokens have the source's table; Source must be scaled_tokens<T, D>
  bool positions = true;      // whether sinusoids of positions are added to x_0 and y_0; Source may not use them
  index_t fixed_token = -1;   // the token whose look-ups have no gradient; negative: none; a tied output trains its row
  label_smoothing smoothing{};
  bool frozen_encoder = false;  // whether the parameters of `source` and `encoder` are constants
};

/// The encoder-decoder model.  `Source` is the layer that computes x_0 from the tokens of a source.  Source takes the
/// input of scaled_tokens, and its output is the encoder's initial state.  D, H and F are the decoder's sizes.
/// `Encoder` must be given if the encoder's static sizes differ from D, H and F.
template <class T, index_t D = dyn, index_t H = dyn, index_t F = dyn, class Source = scaled_tokens<T, D>,
          class Encoder = fused_stack<T, D, H, F>>
struct fused_transformer {
  static_assert(std::same_as<typename Source::output, typename Encoder::state>,
                "fused_transformer: Source and Encoder need states of one type; name an Encoder of Source's width");
  static_assert(std::same_as<typename Source::input, placed_tokens<T>>,
                "fused_transformer: Source's input must be placed_tokens");

  using value_type = T;
  using planned_with = pair_dims;
  using input = pair_batch<T>;
  using output = tensor<T, dyn, dyn>;  // (target rows, v): logits
  using answers = pair_answers;
  using source_type = Source;
  using target_type = scaled_tokens<T, D>;
  using encoder_type = Encoder;
  using decoder_type = fused_stack<T, D, H, F>;
  using source_state = typename Encoder::state;  // (source rows, e)
  using state = tensor<T, dyn, D>;               // (target rows, d)

  source_type source;
  target_type target;
  encoder_type encoder;
  decoder_type decoder;
  bool tied_output, shared_table, positions, frozen;
  label_smoothing smoothing;

  explicit fused_transformer(fused_transformer_options const& options)
    requires std::same_as<Source, scaled_tokens<T, D>>
      : fused_transformer(
            options, Source{checked_size("fused_transformer", {"source_tokens", options.source_tokens}),
                            extents_of<D>("fused_transformer: the encoder", {"width", options.encoder.layer.width}),
                            options.dropout, options.fixed_token, options.scaled}) {
    TRIAD_EXPECTS(encoder.width() == decoder.width() || !options.positions,
                  "fused_transformer: the encoder's width is " + std::to_string(encoder.width()) + ", expected " +
                      std::to_string(decoder.width()) + ", the decoder's, as they share position waves");
    detail::expect_fixed_token("fused_transformer: the", options.fixed_token, options.source_tokens, "source tokens");
  }
  /// Uses the layer `s` as the Source.  Does not read options.source_tokens.
  fused_transformer(fused_transformer_options const& options, Source const& s)
      : source(s),
        target{checked_size("fused_transformer", {"target_tokens", options.target_tokens}),
               extents_of<D>("fused_transformer: the decoder", {"width", options.decoder.layer.width}),
               dropout_rate("fused_transformer", options.dropout), options.fixed_token, options.scaled},
        encoder(as_encoder(options.encoder)),
        decoder(as_decoder(options.decoder, encoder.width())),
        tied_output(options.tied_output),
        shared_table(options.shared_table),
        positions(options.positions),
        frozen(options.frozen_encoder),
        smoothing(options.smoothing) {
    TRIAD_EXPECTS(source.tokens > 0 && options.target_tokens > 1,
                  "fused_transformer: " + std::to_string(source.tokens) + " source tokens and " +
                      std::to_string(options.target_tokens) + " target tokens, expected 1 or more and 2 or more");
    expect_extent("fused_transformer", "columns of the source's tokens", source.width(), encoder.width());
    detail::expect_fixed_token("fused_transformer: the", options.fixed_token, options.target_tokens, "target tokens");
    TRIAD_EXPECTS(!shared_table || (std::same_as<Source, target_type> && source.tokens == target.tokens && !frozen),
                  "fused_transformer: a table of " + std::to_string(source.tokens) + " tokens of the source for " +
                      std::to_string(target.tokens) +
                      " of the target, expected as many, scaled_tokens<T, D> as Source, and no frozen encoder");
  }

  /// d: the width of the target's states, of the sinusoids, and of the projected keys and values of the source.
  constexpr index_t width() const { return decoder.width(); }
  constexpr index_t vocabulary() const { return target.tokens; }

  /// Whether the parameter with this path has a gradient.  Optimisers skip parameters without a gradient.
  bool has_gradient(std::string_view path) const {
    return !frozen || !(path.starts_with("source.") || path.starts_with("encoder."));
  }

  template <class S>
  struct fields {
    fields_of<source_type, S> source;
    fields_of<encoder_type, S> encoder;
    fields_of<target_type, S> target;  // (0, d) if both sides share the source's table
    fields_of<decoder_type, S> decoder;
    tensor<S, dyn, D> output;  // (v, d); (0, d) if the decoder's table is used instead
    template <class V>
    void each(V&& f) {
      f("source", source);
      f("encoder", encoder);
      if (target.table.extent(0) != 0) f("target", target);
      f("decoder", decoder);
      if (output.extent(0) != 0) f("output", output);
    }
    /// The table of the target's tokens.
    fields_of<target_type, S> of_target() const {
      if constexpr (std::same_as<source_type, target_type>)
        if (target.table.extent(0) == 0) return source;
      return target;
    }
    /// w_out (v, d).
    tensor<S, dyn, D> projection() const { return output.extent(0) != 0 ? output : of_target().table; }
  };
  /// The values that the encoder and the source layer save.
  struct encoder_saved : encoder_type::saved {
    typename source_type::saved source;
  };
  struct saved {
    encoder_saved encoder;
    typename decoder_type::saved decoder;
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    auto table = target;
    if (shared_table) table.tokens = 0;
    return {plan<S>(source, place), plan<S>(encoder, place), plan<S>(table, place), plan<S>(decoder, place),
            place.make<tensor<S, dyn, D>>(tied_output ? 0 : vocabulary(), width())};
  }
  saved plan_saved(arena& place, pair_dims const& z, keep kept = keep::everything) const {
    auto const e = plan_encoder(place, z, kept);
    return {e, decoder.plan_saved(place, z.target_rows, z.source_rows, kept)};
  }
  /// A frozen encoder keeps nothing for a backward pass.
  encoder_saved plan_encoder(arena& place, pair_dims const& z, keep kept) const {
    if (frozen) kept = keep::nothing;
    return {encoder.plan_saved(place, z.source_rows, 0, kept), source.plan_saved(place, row_dims(z.source_rows), kept)};
  }
  output plan_output(arena& place, pair_dims const& z) const { return place.make<output>(z.target_rows, vocabulary()); }

  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output const& logits) const {
    encode(ex, c, w, in, s.encoder);
    decode(ex, c, w, in, tensor<T const, dyn, dyn>(s.encoder.y()), s.decoder, logits);
  }
  /// Runs the encoder, or copies in.source_states to s.y().
  template <backend Ex>
  void encode(Ex& ex, call c, fields<T const> w, input const& in, encoder_saved const& s) const {
    if (in.source_states.extent(0) != 0) {
      TRIAD_EXPECTS(
          frozen && in.source_states.extent(0) == in.sizes.source_rows && in.source_states.extent(1) == encoder.width(),
          "fused_transformer: source_states of " + std::to_string(in.source_states.extent(0)) + " x " +
              std::to_string(in.source_states.extent(1)) + ", expected " + std::to_string(in.sizes.source_rows) +
              " x " + std::to_string(encoder.width()) + " of a model with frozen_encoder");
      return transform(ex, unchanged{}, in.source_states, tensor<T, dyn, dyn>(s.y()));
    }
    if (frozen) c.train = false;
    if constexpr (requires { source.longest(); })
      TRIAD_EXPECTS(in.sizes.longest_source <= source.longest(),
                    "fused_transformer: a source of " + std::to_string(in.sizes.longest_source) +
                        " tokens, expected at most " + std::to_string(source.longest()) + ", the encoder's positions");
    source.forward(ex, c.child(0), w.source, source_tokens(in), s.source, s.x(0));
    encoder.forward(ex, c.child(1), w.encoder, source_input(in), s);
  }

  /// Runs the decoder on the encoder's result.
  template <backend Ex>
  void decode(Ex& ex, call const& c, fields<T const> w, input const& in, tensor<T const, dyn, dyn> source_y,
              typename decoder_type::saved const& s, output const& logits) const {
    target.forward(ex, c.child(2), w.of_target(), target_tokens(in), {}, s.x(0));
    decoder.forward(ex, c.child(3), w.decoder, target_input(in, source_y), s);
    matmul(ex, s.y(), transposed(w.projection()), logits);
  }
  /// Runs the decoder for the next token of every target.  The earlier tokens are in the caches (fused_stack::extend).
  /// in.target_token has one row for each target.  A sequence of in.target consists of the targets that share a source.
  /// source_y (source rows, e) is the encoder's result.  projected(k) returns the keys and values of source_y in layer
  /// k + 1, (source rows, 2 d).  Overwrites logits (targets, v).
  template <backend Ex, class Cache, class Projected>
  void extend(Ex& ex, call const& c, fields<T const> w, input const& in, tensor<T const, dyn, dyn> source_y,
              typename decoder_type::saved const& s, Cache&& cache, Projected&& projected, output const& logits) const {
    target.forward(ex, c.child(2), w.of_target(), target_tokens(in), {}, s.x(0));
    decoder.extend(ex, c.child(3), w.decoder, target_input(in, source_y), s, cache, projected);
    matmul(ex, s.y(), transposed(w.projection()), logits);
  }

  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output const& d_logits,
                fields<T> gradient) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    auto const of_source = [&] {
      return scratch.template make<source_state>(frozen ? 0 : in.source.rows, encoder.width());
    };
    auto const dx = of_source(), dx0 = of_source();
    fill(ex, T(0), dx);
    {
      auto const inner = scratch.open();
      auto const of_target = [&] { return scratch.template make<state>(in.target.rows, width()); };
      auto const dy = of_target(), dy0 = of_target();
      matmul_add(ex, transposed(d_logits), s.decoder.y(), gradient.projection());
      matmul(ex, d_logits, w.projection(), dy);
      decoder.backward(ex, c.child(3), w.decoder, target_input(in, tensor<T const, dyn, dyn>(s.encoder.y())), s.decoder,
                       dy, dy0, gradient.decoder, tensor<T, dyn, dyn>(dx));
      target.backward(ex, c.child(2), w.of_target(), target_tokens(in), {}, dy0, gradient.of_target());
    }
    if (frozen) return;
    encoder.backward(ex, c.child(1), w.encoder, source_input(in), s.encoder, dx, dx0, gradient.encoder,
                     tensor<T, dyn, dyn>(nullptr, 0, encoder.width()));
    source.backward(ex, c.child(0), w.source, source_tokens(in), s.encoder.source, dx0, gradient.source);
  }

  input measured_input(pair_dims const& z) const { return input::measured(z, width()); }
  static answers measured_answers(pair_dims const& z) { return answers::measured(z); }

  /// Overwrites `loss` with the label-smoothed cross entropy of the next token at every token.  Overwrites `d` with the
  /// gradient.
  template <backend Ex>
  void loss(Ex& ex, arena&, input const&, output const& logits, answers const& targets, vec<T> loss,
            output const& d) const {
    cross_entropy(ex, logits, targets.next, loss, d, smoothing);
  }

  placed_tokens<T> source_tokens(input const& in) const { return {in.source_token, in.source_position, waves_of(in)}; }
  placed_tokens<T> target_tokens(input const& in) const { return {in.target_token, in.target_position, waves_of(in)}; }

 private:
  using source_layer_input = typename Encoder::layer_type::input;

  static fused_stack_options as_encoder(fused_stack_options o) {
    o.layer.causal = false;
    o.source_width = 0;
    return o;
  }
  static fused_stack_options as_decoder(fused_stack_options o, index_t source_width) {
    o.layer.causal = true;
    o.source_width = source_width;
    return o;
  }
  tensor<T const, dyn, dyn> waves_of(input const& in) const {
    return positions ? in.waves : tensor<T const, dyn, dyn>(nullptr, 0, width());
  }
  /// Returns the input of all layers of the encoder without the states, which fused_stack adds.
  static source_layer_input source_input(input const& in) {
    auto x = none<source_layer_input>();
    x.sequences = in.source;
    x.masked = in.source_masked;
    return x;
  }
  static fused_input<T, D> target_input(input const& in, tensor<T const, dyn, dyn> source_y) {
    auto x = none<fused_input<T, D>>();
    x.sequences = in.target;
    x.masked = in.target_masked;
    x.source = {source_y, in.source, in.source_masked};
    return x;
  }
  template <class Input>
  static Input none() {
    return {};
  }
};

}  // namespace triad
