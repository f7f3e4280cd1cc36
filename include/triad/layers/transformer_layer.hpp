// One layer of a Transformer, with its norms behind the sums or before the branches.
// SPDX-License-Identifier: Apache-2.0
//
//   norm_place::after    t = x + drop(attention(x));         u = norm1(t);  v = u + drop(feed_forward(u));  y =
//                                                            norm2(v)
//   norm_place::before   u = norm1(x);  t = x + drop(attention(u));  v = norm2(t);  y = t + drop(feed_forward(v))
//                                                            all (rows, d)
// Both have the same parameters and memory: those of a post_norm_block behind an attention.
#pragma once

#include "triad/layers/attention.hpp"
#include "triad/layers/post_norm_block.hpp"
#include "triad/layers/sublayer.hpp"

namespace triad {

/// Sizes and rates of a Transformer layer.
struct transformer_options {
  // d, h, width of the feed-forward block; left out: the type's, or one head
  index_t width = not_given, heads = not_given, hidden = not_given;
  double dropout = 0;  // of the weights, of both branches, and of the feed-forward block's hidden states
  norm_place norms = norm_place::after;
  activation between = activation::relu;
  bool causal = false;
  double epsilon = 1e-5;  // of every norm
  index_t reach = 0;      // of relative positions in self-attention (ops/attention.hpp); 0: none
};

template <class T, index_t D = dyn, index_t H = dyn, index_t F = dyn>
struct transformer_layer {
  using input = sequence_input<T, D>;
  using output = tensor<T, dyn, D>;  // (rows, d)
  using planned_with = row_dims;

  self_attention<T, D, H> attention;
  post_norm_block<T, D, F> block;
  double dropout = 0;  // of the attention's result
  norm_place norms = norm_place::after;

  explicit transformer_layer(transformer_options const& o)
      : attention{width_and_heads<D, H>("transformer_layer", o.width, o.heads),
                  dropout_rate("transformer_layer", o.dropout), o.causal, o.reach},
        block(o.width, o.hidden, o.dropout, o.between),
        dropout(o.dropout),
        norms(o.norms) {
    block.norm.epsilon = o.epsilon;
    if (o.reach != 0) (void)checked_size("transformer_layer", {"reach of relative positions", o.reach});
  }

  constexpr index_t width() const { return attention.width(); }

  template <class S>
  struct fields {
    fields_of<self_attention<T, D, H>, S> attention;
    fields_of<post_norm_block<T, D, F>, S> block;
    template <class V>
    constexpr void each(V&& f) {
      f("attention", attention);
      block.each(f);
    }
  };
  struct saved {
    typename self_attention<T, D, H>::saved attention;
    tensor<T, dyn, D> t;  // (rows, d)
    typename post_norm_block<T, D, F>::saved block;
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(attention, place), plan<S>(block, place)};
  }
  saved plan_saved(arena& place, row_dims dims, keep kept = keep::everything) const {
    return {attention.plan_saved(place, dims, kept), place.make<output>(dims.rows, width()),
            block.plan_saved(place, dims, kept)};
  }

  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output y) const {
    epilogue<T> add;
    add.dropout = c.child(1).dropout(dropout);
    add.residual = as_matrix(in.x);
    if (norms == norm_place::after) {
      attention.forward(ex, c.child(0), w.attention, in, s.attention, s.t, add);
      block.forward(ex, c.child(2), w.block, s.t, s.block, y);
      return;
    }
    block.norm.forward(ex, c, w.block.norm1, in.x, s.block.norm1, s.block.u);
    attention.forward(ex, c.child(0), w.attention, with_state(in, s.block.u), s.attention, s.t, add);
    block.norm.forward(ex, c, w.block.norm2, s.t, s.block.norm2, s.block.v);
    add.dropout = c.child(2).child(1).dropout(block.dropout);
    add.residual = as_matrix(read_only(s.t));
    block.block.forward(ex, c.child(2).child(0), w.block.feed_forward, s.block.v, s.block.block, y, add);
  }

  /// Overwrites dx, which may not be dy.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, const_view<output> dy,
                output dx, fields<T> gradient) const {
    auto const frame = c.scratch->open();
    auto const state = [&] { return c.scratch->template make<output>(dy.extent(0), width()); };
    auto const dt = state(), dropped = state();
    auto const branch = [&](const_view<output> d) { return undropped(ex, c.child(1).dropout(dropout), d, dropped); };
    if (norms == norm_place::after) {
      block.backward(ex, c.child(2), w.block, s.t, s.block, dy, dt, gradient.block);
      epilogue<T> add;
      add.residual = as_matrix(read_only(dt));
      attention.backward(ex, c.child(0), w.attention, in, s.attention, branch(dt), dx, gradient.attention, add);
      return;
    }
    auto const inner = c.child(2);
    block.block.backward(ex, inner.child(0), w.block.feed_forward, s.block.v, s.block.block,
                         undropped(ex, inner.child(1).dropout(block.dropout), dy, dropped), dt,
                         gradient.block.feed_forward);
    block.norm.backward(ex, c, w.block.norm2, s.t, s.block.norm2, dt, dt, gradient.block.norm2, as_matrix(dy));
    attention.backward(ex, c.child(0), w.attention, with_state(in, s.block.u), s.attention, branch(dt), dx,
                       gradient.attention);
    block.norm.backward(ex, c, w.block.norm1, in.x, s.block.norm1, dx, dx, gradient.block.norm1,
                        as_matrix(read_only(dt)));
  }
};

}  // namespace triad
