// The Edge Transformer as an encoder and a decoder.  The model maps one sequence of tokens to another sequence.
// SPDX-License-Identifier: Apache-2.0
//
//   source: x_0 = pair_edges(source);  x_{k+1} = layer(x_k);  y = x_L                      (rows of the sources, d)
//   whole:  z_0 = y between nodes of the source, otherwise pair_edges(whole);  z_{k+1} = layer(z_k)
//           causal: a node l of the target is a middle node of (i, j) only if l <= max(i, j)
//   logits(t) = w z_L(t, t), or w z_L(begin, t)                                                        (targets, v)
//
// The decoder's layers also update the edges between nodes of the source.  No node of the target is a middle node of
// these edges.  The readout reads only one edge for each token of a target.  So the last layer computes its output
// projection and its feed-forward block only for these edges.
#pragma once

#include <string>

#include "triad/batches/edge_pair_batch.hpp"
#include "triad/layers/edge_transformer_layer.hpp"
#include "triad/layers/fixed_row.hpp"
#include "triad/layers/inputs/pair_edges.hpp"
#include "triad/layers/repeat.hpp"
#include "triad/ops/cross_entropy.hpp"

namespace triad {

struct edge_transformer_seq2seq_options {
  index_t tokens = 0;  // rows of the table of tokens, which encoder and decoder share; also the number of logits
  index_t reach = 32;  // relative positions are clipped to -reach .. reach
  index_t layers = 1;  // the number of layers of the encoder, and of the decoder
  bool tied = false;   // true: as in the paper, encoder layers share parameters, and decoder layers share parameters
  edge_transformer_layer_options layer{};
  sequence_encoding encoding = sequence_encoding::relational;
  edge_readout readout = edge_readout::diagonal;
  double positional_dropout = 0;
  index_t fixed_token = -1;  // the token whose vector is not learned; negative: none
  label_smoothing smoothing{};
  bool prune = true;  // false: the last layer computes all edges, as the released program does; the logits are equal
};

/// The encoder or the decoder: the layer that computes the initial states, and the layers that update the states.
template <class T, index_t D = dyn, index_t H = dyn, index_t F = dyn, form Form = form::released>
struct edge_transformer_side {
  using layer_type = edge_transformer_layer<T, D, H, F, Form>;

  static constexpr char const* name = "edge_transformer_seq2seq";  // the model's name, for messages

  pair_edges<T, D> edges;
  repeat<T, layer_type> layers;

  explicit edge_transformer_side(edge_transformer_seq2seq_options const& options)
      : edges{options.encoding, relative_edges{checked_size(name, {"reach", options.reach})},
              extents_of<D>(name, {"width", options.layer.width}), dropout_rate(name, options.positional_dropout),
              options.fixed_token},
        layers{layer_type(options.layer), extents_of<dyn>(name, {"layers", options.layers, most_repeats}), options.tied,
               options.prune} {}

  template <class S>
  struct fields {
    fields_of<pair_edges<T, D>, S> edges;
    fields_of<repeat<T, layer_type>, S> layers;
    template <class V>
    void each(V&& f) {
      f("edges", edges);
      f("layers", layers);
    }
  };
  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(edges, place), plan<S>(layers, place)};
  }
};

template <class T, index_t D = dyn, index_t H = dyn, index_t F = dyn, form Form = form::released>
struct edge_transformer_seq2seq {
  using value_type = T;
  using planned_with = edge_pair_dims;
  using input = edge_pair_batch<T>;
  using output = tensor<T, dyn, dyn>;  // (targets, v): logits
  using answers = pair_answers;
  using side = edge_transformer_side<T, D, H, F, Form>;
  using layer_type = typename side::layer_type;
  using states = tensor<T, dyn, D>;  // (rows, d)

  index_t tokens;
  side encoder, decoder;
  edge_pair_layout layout;  // the loader must have the same layout
  label_smoothing smoothing;

  explicit edge_transformer_seq2seq(edge_transformer_seq2seq_options const& options)
      : tokens(checked_size(side::name, {"tokens", options.tokens})),
        encoder(options),
        decoder(options),
        layout{options.encoding, relative_edges{options.reach}, options.readout},
        smoothing(options.smoothing) {
    TRIAD_EXPECTS(options.tokens > 1,
                  "edge_transformer_seq2seq: tokens are " + std::to_string(options.tokens) + ", expected 2 or more");
    TRIAD_EXPECTS(options.layer.variant != triangle_form::flat,
                  "edge_transformer_seq2seq: the flat form of attention, expected another one: it is not causal");
    detail::expect_fixed_token("edge_transformer_seq2seq: the", options.fixed_token, options.tokens);
  }

  constexpr index_t width() const { return encoder.layers.layer.width(); }
  constexpr index_t vocabulary() const { return tokens; }
  constexpr linear<T, D, dyn> readout() const { return {extents<D, dyn>(width(), vocabulary()), false}; }

  template <class S>
  struct fields {
    tensor<S, dyn, D> tokens;  // (v, d): shared by the encoder and the decoder
    fields_of<side, S> encoder, decoder;
    fields_of<linear<T, D, dyn>, S> output;
    template <class V>
    void each(V&& f) {
      f("tokens", tokens);
      f("encoder", encoder);
      f("decoder", decoder);
      f("output", output);
    }
  };
  struct encoder_saved {
    typename pair_edges<T, D>::saved edges;
    typename repeat<T, layer_type>::saved layers;  // includes x_0
    states y;                                      // (rows of the sources, d): the encoder's result
  };
  struct decoder_saved {
    typename pair_edges<T, D>::saved edges;
    typename repeat<T, layer_type>::saved layers;  // includes z_0
    states queried;                                // (targets, d): the readout's input
  };
  struct saved {
    encoder_saved encoder;
    decoder_saved decoder;
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {place.make<tensor<S, dyn, D>>(tokens, width()), plan<S>(encoder, place), plan<S>(decoder, place),
            plan<S>(readout(), place)};
  }
  saved plan_saved(arena& place, edge_pair_dims const& z, keep kept = keep::everything) const {
    auto const e = plan_encoder(place, z, kept);
    return {e, plan_decoder(place, z, kept)};
  }
  encoder_saved plan_encoder(arena& place, edge_pair_dims const& z, keep kept) const {
    return {encoder.edges.plan_saved(place, z.source, kept), encoder.layers.plan_saved(place, z.source, kept),
            place.make<states>(z.source.rows, width())};
  }
  decoder_saved plan_decoder(arena& place, edge_pair_dims const& z, keep kept) const {
    return {decoder.edges.plan_saved(place, z.whole, kept), decoder.layers.plan_wanted(place, z.whole, kept, z.targets),
            place.make<states>(z.targets, width())};
  }
  output plan_output(arena& place, edge_pair_dims const& z) const {
    return place.make<output>(z.targets, vocabulary());
  }

  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output const& logits) const {
    encode(ex, c, w, in, s.encoder);
    decode(ex, c, w, in, s.encoder.y, s.decoder, logits);
  }

  /// Runs the encoder.  The result is s.y.
  template <backend Ex>
  void encode(Ex& ex, call const& c, fields<T const> w, input const& in, encoder_saved const& s) const {
    TRIAD_EXPECTS(!in.layout || *in.layout == layout,
                  "edge_transformer_seq2seq: a batch of another layout, expected the model's; make the loader with the "
                  "model's `layout`");
    encoder.edges.forward(ex, c.child(0), w.encoder.edges, source_edges(in, w.tokens), s.edges, s.layers.state(0));
    encoder.layers.forward(ex, c.child(1), w.encoder.layers, source_input(in, s.layers.state(0)), s.layers, s.y);
  }

  /// Runs the decoder on the encoder's result y (rows of the sources, d).
  template <backend Ex>
  void decode(Ex& ex, call const& c, fields<T const> w, input const& in, tensor<T const, dyn, D> y,
              decoder_saved const& s, output const& logits) const {
    if (in.sizes.targets == 0) return;
    decoder.edges.forward(ex, c.child(2), w.decoder.edges, whole_edges(in, w.tokens, y), s.edges, s.layers.state(0));
    decoder.layers.forward(ex, c.child(3), w.decoder.layers, stack_input(in, s), s.layers, s.queried);
    readout().forward(ex, c, w.output, s.queried, {}, logits);
  }

  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output const& d_logits,
                fields<T> gradient) const {
    if (in.sizes.targets == 0) return;
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    auto const state = [&](index_t rows) { return scratch.make<states>(rows, width()); };
    auto const dy = state(in.sizes.source.rows), dx0 = state(in.sizes.source.rows);
    backward_decoder(ex, c, w, in, s, d_logits, dy, gradient);
    encoder.layers.backward(ex, c.child(1), w.encoder.layers, source_input(in, s.encoder.layers.state(0)),
                            s.encoder.layers, dy, dx0, gradient.encoder.layers);
    encoder.edges.backward(ex, c.child(0), w.encoder.edges, source_edges(in, w.tokens), s.encoder.edges, dx0, state(0),
                           gradient.tokens, gradient.encoder.edges);
  }

  input measured_input(edge_pair_dims const& z) const { return input::measured(z, width()); }
  static answers measured_answers(edge_pair_dims const& z) { return input::measured_answers(z); }

  /// Overwrites `loss` with the label-smoothed cross entropy of the next token at every token.  Overwrites `d` with the
  /// gradient.
  template <backend Ex>
  void loss(Ex& ex, arena&, input const&, output const& logits, answers const& targets, vec<T> loss,
            output const& d) const {
    cross_entropy(ex, logits, targets.next, loss, d, smoothing);
  }

  /// source_input() returns the input of the encoder's layers.  whole_input() returns the input of the decoder's
  /// layers.
  edge_input<T, D> source_input(input const& in, tensor<T const, dyn, D> x) const {
    return {x, in.source.graphs, in.source_mask};
  }
  edge_input<T, D> whole_input(input const& in, tensor<T const, dyn, D> x) const {
    edge_input<T, D> all{x, in.whole.graphs, in.mask};
    all.sources = in.sources;
    return all;
  }

 private:
  pair_edges_input<T, D> source_edges(input const& in, tensor<T const, dyn, D> table) const {
    return {table, tensor<T const, dyn, D>(nullptr, extents<dyn, D>(0, width())), in.source};
  }
  pair_edges_input<T, D> whole_edges(input const& in, tensor<T const, dyn, D> table, tensor<T const, dyn, D> y) const {
    pair_edges_input<T, D> e{table, y, in.whole, in.origin, in.source_row};
    if (decoder.edges.relational()) {
      e.nodes.token = in.target_token;
      e.nodes.self = in.target_self;
    }
    return e;
  }
  edge_input<T, D> stack_input(input const& in, decoder_saved const& s) const {
    auto x = whole_input(in, s.layers.state(0));
    x.wanted = in.wanted;
    return x;
  }

  /// Runs the decoder's backward pass.  Overwrites dy (rows of the sources, d).
  template <backend Ex>
  void backward_decoder(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s,
                        output const& d_logits, states dy, fields<T> gradient) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    auto const state = [&](index_t rows) { return scratch.make<states>(rows, width()); };
    auto const& d = s.decoder;
    auto const queried = state(in.sizes.targets), dx0 = state(in.sizes.whole.rows);
    readout().backward(ex, c, w.output, d.queried, {}, d_logits, queried, gradient.output);
    decoder.layers.backward(ex, c.child(3), w.decoder.layers, stack_input(in, d), d.layers, queried, dx0,
                            gradient.decoder.layers);
    decoder.edges.backward(ex, c.child(2), w.decoder.edges, whole_edges(in, w.tokens, s.encoder.y), d.edges, dx0, dy,
                           gradient.tokens, gradient.decoder.edges);
  }
};

}  // namespace triad
