// One layer of a Transformer.  Its norms come after the residual sums or before the branches.
// SPDX-License-Identifier: Apache-2.0
//
//   norm_position::after    t = x + drop(attention(x));  u = norm1(t)      v = u + drop(feed_forward(u));  y = norm2(v)
//   norm_position::before   u = norm1(x);  t = x + drop(attention(u))      v = norm2(t);  y = t + drop(feed_forward(v))
//
// The layer consists of two sublayers.  Both positions of the norms have the same parameters and take the same memory.
// All states are (rows, d).  The attention is self_attention of sequences, or another layer that sublayer accepts as a
// branch, such as relative_attention.
#pragma once

#include <concepts>
#include <optional>
#include <string>

#include "triad/core/sizes.hpp"
#include "triad/layers/attention.hpp"
#include "triad/layers/feed_forward.hpp"
#include "triad/layers/sublayer.hpp"

namespace triad {

/// Sizes and dropout rates of a Transformer layer.
struct transformer_layer_options {
  // d, h and the width of the feed-forward block.  not_given means the size that the type has, or one head.
  index_t width = not_given, heads = not_given, hidden = not_given;
  double dropout = 0;  // the rate for the results of both branches
  norm_position norms = norm_position::after;
  activation between = activation::relu;
  bool causal = false;
  double epsilon = 1e-5;  // the epsilon of every norm
  index_t reach = 0;      // the reach of relative positions in self-attention (ops/attention.hpp); 0: none
  std::optional<double> inner_dropout = {};  // the rate for attention weights and hidden units; empty: `dropout`

  /// The dropout rate of attention weights and hidden units.
  constexpr double rate_inside() const { return inner_dropout.value_or(dropout); }
};

/// Returns the norm of a sublayer in a layer with these options.  `owner` is the name of the layer, for messages.
template <class T, index_t D>
constexpr layer_norm_layer<T, D> sublayer_norm(char const* owner, transformer_layer_options const& o) {
  return {extents_of<D>(owner, {"width", o.width}), o.epsilon};
}

template <class T, index_t D = dyn, index_t H = dyn, index_t F = dyn, class Attention = self_attention<T, D, H>>
struct transformer_layer {
  using input = typename Attention::input;
  using output = tensor<T, dyn, D>;  // (rows, d)
  using planned_with = layer_dims<Attention>;
  using attention_type = sublayer<T, Attention, D>;
  using block_type = sublayer<T, triad::feed_forward<T, D, F, D>, D>;

  attention_type attention;
  block_type block;

  explicit transformer_layer(transformer_layer_options const& o)
      : transformer_layer(o, {width_and_heads<D, H>("transformer_layer", o.width, o.heads),
                              dropout_rate("transformer_layer", o.rate_inside()), o.causal, o.reach}) {
    if (o.reach != 0) (void)checked_size("transformer_layer", {"reach of relative positions", o.reach});
  }
  /// Makes a layer with another attention of the same width.  The attention has its own heads and dropout rate.  Throws
  /// contract_violation if the widths differ.  Only self_attention has the options o.causal and o.reach: for another
  /// attention, throws contract_violation if one of them is set.
  transformer_layer(transformer_layer_options const& o, Attention const& a)
      : attention{a, sublayer_norm<T, D>("transformer_layer", o), dropout_rate("transformer_layer", o.dropout),
                  o.norms},
        block{{o.width, o.hidden, o.width, o.rate_inside(), o.between},
              sublayer_norm<T, D>("transformer_layer", o),
              o.dropout,
              o.norms} {
    index_t const wanted = extents_of<D>("transformer_layer", {"width", o.width}).extent(0);
    TRIAD_EXPECTS(a.width() == wanted, "transformer_layer: the attention has the width " + std::to_string(a.width()) +
                                           ", expected " + std::to_string(wanted) + ", the width of the layer");
    if constexpr (!std::same_as<Attention, self_attention<T, D, H>>)
      TRIAD_EXPECTS(!o.causal && o.reach == 0,
                    "transformer_layer: causal or reach is set, expected neither: only self_attention has them");
  }

  constexpr index_t width() const { return attention.width(); }
  constexpr norm_position norms() const { return block.norms; }

  template <class S>
  struct fields {
    fields_of<attention_type, S> attention;
    fields_of<block_type, S> block;
    template <class V>
    constexpr void each(V&& f) {
      f("attention", attention.branch);
      f("norm1", attention.norm);
      f("feed_forward", block.branch);
      f("norm2", block.norm);
    }
  };
  struct saved {
    typename attention_type::saved attention;
    output between;  // (rows, d)
    typename block_type::saved block;
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(attention, place), plan<S>(block, place)};
  }
  saved plan_saved(arena& place, planned_with const& dims, keep kept = keep::everything) const {
    return {attention.plan_saved(place, dims, kept), place.make<output>(dims.rows, width()),
            block.plan_saved(place, dims, kept)};
  }

  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output y) const {
    attention.forward(ex, c, w.attention, in, s.attention, s.between);
    block.forward(ex, c.child(2), w.block, s.between, s.block, y);
  }

  /// Overwrites dx, which must not be dy.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, const_view<output> dy,
                output dx, fields<T> gradient) const {
    auto const frame = c.scratch->open();
    auto const d = c.scratch->template make<output>(dy.extent(0), width());
    block.backward(ex, c.child(2), w.block, s.between, s.block, dy, d, gradient.block);
    attention.backward(ex, c, w.attention, in, s.attention, d, dx, gradient.attention);
  }
};

}  // namespace triad
