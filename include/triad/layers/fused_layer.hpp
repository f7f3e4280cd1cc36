// One layer of an encoder or a decoder.  A token may also attend to its own states after earlier layers (LRF equations
// 4 to 10).
// SPDX-License-Identifier: Apache-2.0
//
//   t_1 = attention(x)                        to the tokens of the sequence; causal in a decoder
//   t_2 = cross(t_1, source)                  to the encoder's last states; only in a decoder
//   t_3 = fuse(t_2, x_0 .. x_{l-1})           to the token's own earlier states; only in layers with fuse-attention
//   y   = feed_forward(t_3)
//
// Each of the four steps is a sublayer with a residual sum and a norm (layers/sublayer.hpp).  All states are (rows, d).
#pragma once

#include <utility>

#include "triad/core/sizes.hpp"
#include "triad/layers/attention.hpp"
#include "triad/layers/cross_attention.hpp"
#include "triad/layers/feed_forward.hpp"
#include "triad/layers/fuse_attention.hpp"
#include "triad/layers/sublayer.hpp"
#include "triad/layers/transformer_layer.hpp"

namespace triad {

/// The input of a layer.
template <class T, index_t D = dyn>
struct fused_input {
  tensor<T const, dyn, D> x;  // (rows, d); has a gradient
  sequence_batch sequences;
  vec<std::uint8_t const> masked{nullptr, 0};  // (rows) 1: no query attends to this key; (0): no mask
  layer_states<T const> states;                // (l or more, rows, d); has a gradient; only for fuse-attention
  index_t layers = 0;                          // l
  source_states<T> source;                     // has a gradient; only for cross-attention
  score_bias<T> bias{};                        // of self-attention; has a gradient of its own
};

/// The sizes of a batch for a layer with `layers` earlier states.  source_rows is 0 for an encoder.
struct fused_dims : fuse_dims {
  index_t source_rows;
  constexpr fused_dims(row_dims r, index_t l, index_t source = 0) : fuse_dims(r, l), source_rows(source) {}
};
template <class F>
constexpr void each_count(fused_dims& d, F&& f) {
  f.sum(d.rows, "rows");
  f.sum(d.source_rows, "tokens of sources");
}

template <class T, index_t D = dyn, index_t H = dyn, index_t F = dyn>
struct fused_layer {
  using input = fused_input<T, D>;
  using output = tensor<T, dyn, D>;  // (rows, d)
  using planned_with = fused_dims;
  using attention_type = sublayer<T, self_attention<T, D, H>, D>;
  using cross_type = sublayer<T, cross_attention<T, D, H>, D>;
  using fuse_type = sublayer<T, fuse_attention_layer<T, D, H>, D>;
  using block_type = sublayer<T, feed_forward<T, D, F, D>, D>;

  attention_type attention;
  cross_type cross;
  fuse_type fuse;
  block_type block;
  bool crosses, fuses;  // whether the layer has cross-attention; whether the layer has fuse-attention

  /// source_width is the width of the encoder states to which a decoder attends.  It is 0 for an encoder.
  fused_layer(transformer_layer_options const& o, index_t source_width, bool has_fuse)
      : attention{{shape_of(o), o.dropout, o.causal, o.reach}, norm_of(o), o.dropout, o.norms},
        cross{{shape_of(o), source_width, o.dropout}, norm_of(o), o.dropout, o.norms},
        fuse{fuse_attention_layer<T, D, H>(o.width, o.heads, o.dropout), norm_of(o), o.dropout, o.norms},
        block{feed_forward<T, D, F, D>(o.width, o.hidden, o.width, o.dropout, o.between), norm_of(o), o.dropout,
              o.norms},
        crosses(source_width > 0),
        fuses(has_fuse) {}

  constexpr index_t width() const { return attention.width(); }

  template <class S>
  struct fields {
    fields_of<attention_type, S> attention;
    fields_of<cross_type, S> cross;
    fields_of<fuse_type, S> fuse;
    fields_of<block_type, S> block;
    bool crosses, fuses;
    template <class V>
    constexpr void each(V&& f) {
      f("attention", attention);
      if (crosses) f("cross", cross);
      if (fuses) f("fuse", fuse);
      f("feed_forward", block);
    }
  };
  struct saved {
    typename attention_type::saved attention;
    typename cross_type::saved cross;
    typename fuse_type::saved fuse;
    typename block_type::saved block;
    output after_attention, after_cross, after_fuse;  // (rows, d) each
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {.attention = plan<S>(attention, place),
            .cross = plan<S>(cross, place, crosses),
            .fuse = plan<S>(fuse, place, fuses),
            .block = plan<S>(block, place),
            .crosses = crosses,
            .fuses = fuses};
  }
  saved plan_saved(arena& place, fused_dims const& dims, keep kept = keep::everything) const {
    arena none;  // an arena without memory, for values that this layer does not have
    auto &of_cross = crosses ? place : none, &of_fuse = fuses ? place : none;
    row_dims const rows(dims.rows);
    return {.attention = attention.plan_saved(place, rows, kept),
            .cross = cross.plan_saved(of_cross, cross_dims(rows, dims.source_rows), kept),
            .fuse = fuse.plan_saved(of_fuse, fuse_dims(rows, dims.layers), kept),
            .block = block.plan_saved(place, rows, kept),
            .after_attention = place.make<output>(dims.rows, width()),
            .after_cross = of_cross.make<output>(dims.rows, width()),
            .after_fuse = of_fuse.make<output>(dims.rows, width())};
  }

  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output y) const {
    attention.forward(ex, c.child(0), w.attention, {in.x, in.sequences, in.masked, in.bias}, s.attention,
                      s.after_attention);
    if (crosses) cross.forward(ex, c.child(1), w.cross, cross_of(in, s), s.cross, s.after_cross);
    rest(ex, c, w, in, s, y);
  }
  /// Computes the next token of every sequence that a decoder generates.  Row s of x belongs to sequence s.  `source`
  /// (source rows, 2 d) has the keys and values of in.source.  Each sequence of in.sequences consists of the rows that
  /// share a source.
  template <backend Ex>
  void extend(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output y,
              attention_cache<T> const& cache, tensor<T const, dyn, dyn> source) const {
    attention.forward(ex, c.child(0), w.attention, {in.x, in.sequences}, s.attention, s.after_attention, cache);
    if (crosses) cross.forward(ex, c.child(1), w.cross, cross_of(in, s), s.cross, s.after_cross, source);
    rest(ex, c, w, in, s, y);
  }

  /// Overwrites dx (rows, d), which must not be dy.  Adds to d_states (l or more, rows, d), the gradient of the earlier
  /// states.  Adds to d_source (source rows, e), the gradient of the source.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, const_view<output> dy,
                output dx, fields<T> gradient, layer_states<T> d_states, tensor<T, dyn, dyn> d_source) const {
    auto const frame = c.scratch->open();
    auto const state = [&] { return c.scratch->template make<output>(dy.extent(0), width()); };
    output d = state(), other = state();
    block.backward(ex, c.child(3), w.block, last(s), s.block, dy, d, gradient.block);
    if (fuses) {
      fuse.backward(ex, c.child(2), w.fuse, fuse_of(in, s), s.fuse, d, other, gradient.fuse, d_states);
      std::swap(d, other);
    }
    if (crosses) {
      cross.backward(ex, c.child(1), w.cross, cross_of(in, s), s.cross, d, other, gradient.cross, d_source);
      std::swap(d, other);
    }
    attention.backward(ex, c.child(0), w.attention, {in.x, in.sequences, in.masked, in.bias}, s.attention, d, dx,
                       gradient.attention);
  }

 private:
  /// Runs fuse-attention, if the layer has it, then the feed-forward block.
  template <backend Ex>
  void rest(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output y) const {
    if (fuses) fuse.forward(ex, c.child(2), w.fuse, fuse_of(in, s), s.fuse, s.after_fuse);
    block.forward(ex, c.child(3), w.block, last(s), s.block, y);
  }

  static extents<D, H> shape_of(transformer_layer_options const& o) {
    return width_and_heads<D, H>("fused_layer", o.width, o.heads);
  }
  static layer_norm_layer<T, D> norm_of(transformer_layer_options const& o) {
    return sublayer_norm<T, D>("fused_layer", o);
  }
  static cross_input<T, D> cross_of(input const& in, saved const& s) {
    return {s.after_attention, in.sequences, in.source};
  }
  fuse_input<T, D> fuse_of(input const& in, saved const& s) const {
    return {crosses ? s.after_cross : s.after_attention, in.states, in.layers};
  }
  const_view<output> last(saved const& s) const {
    return fuses ? s.after_fuse : crosses ? s.after_cross : s.after_attention;
  }
};

}  // namespace triad
