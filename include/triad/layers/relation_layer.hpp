// One post-norm layer of a relation-aware Transformer with fixed relations (RAT).
// SPDX-License-Identifier: Apache-2.0
//
//   c = attention(x, relations);  t = x + drop(c w_o' + b_o);  y = post_norm_block(t)         x, c, t, y (nodes, d)
//
// If in.wanted lists pairs of nodes, the steps after the attention are computed only for these nodes.  In this case y
// is (2 b, d): row 2 r is the first node of pair r, and row 2 r + 1 is the second node.
#pragma once

#include "triad/core/sizes.hpp"
#include "triad/layers/post_norm_block.hpp"
#include "triad/layers/relation_attention.hpp"
#include "triad/ops/dropout.hpp"

namespace triad {

/// Sizes and dropout rate of a relation-aware layer.
struct relation_layer_options {
  // d, h and the width of the feed-forward block.  not_given means the size that the type has, or one head.
  index_t width = not_given, heads = not_given, hidden = not_given;
  double dropout = 0;
};

/// The gradient of the relations.  All layers add to this gradient.
template <class T>
struct relations_gradient {
  tensor<T, dyn, dyn> d;  // (rows, 2 d)
  edge_gradients how;
};

template <class T, index_t D = dyn, index_t H = dyn, index_t F = dyn>
struct relation_layer {
  using input = relation_input<T, D>;
  using output = tensor<T, dyn, D>;  // (nodes, d) or (2 b, d)

  relation_attention_layer<T, D, H> attention;
  post_norm_block<T, D, F> block;
  double dropout = 0;  // the dropout rate of the attention's result

  explicit relation_layer(relation_layer_options const& o)
      : attention{width_and_heads<D, H>("relation_layer", o.width, o.heads), dropout_rate("relation_layer", o.dropout)},
        block(o.width, o.hidden, o.dropout),
        dropout(o.dropout) {}

  constexpr index_t width() const { return attention.width(); }
  constexpr linear<T, D, D> mixer() const { return {extents<D, D>(width(), width()), true}; }

  template <class S>
  struct attention_fields {
    fields_of<relation_attention_layer<T, D, H>, S> projections;
    fields_of<linear<T, D, D>, S> output;
    template <class V>
    constexpr void each(V&& f) {
      projections.each(f);
      f("output", output);
    }
  };
  template <class S>
  struct fields {
    attention_fields<S> attention;
    fields_of<post_norm_block<T, D, F>, S> block;
    template <class V>
    constexpr void each(V&& f) {
      f("attention", attention);
      block.each(f);
    }
  };
  struct saved {
    typename relation_attention_layer<T, D, H>::saved attention;
    tensor<T, dyn, D> kept_context, kept_x;  // (2 b, d): the wanted rows of context and x, or (0, d)
    tensor<T, dyn, D> t;                     // (nodes or 2 b, d)
    typename post_norm_block<T, D, F>::saved block;
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {{plan<S>(attention, place), plan<S>(mixer(), place)}, plan<S>(block, place)};
  }

  output plan_state(arena& place, graph_dims const& dims) const { return place.make<output>(dims.nodes, width()); }
  /// `wanted` is the number of nodes for which y is computed.  0 means all nodes.
  saved plan_saved(arena& place, graph_dims dims, keep kept = keep::everything, index_t wanted = 0) const {
    index_t const out = rows_wanted(dims.nodes, wanted);
    auto const state = [&](index_t rows) { return place.make<tensor<T, dyn, D>>(rows, width()); };
    auto const a = attention.plan_saved(place, dims, kept);
    auto const kept_context = state(wanted), kept_x = state(wanted), t = state(out);
    return {a, kept_context, kept_x, t, block.plan_saved(place, row_dims(out), kept)};
  }

  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output y) const {
    attention.attend(ex, c.child(0), w.attention.projections, in, s.attention);
    auto context = s.attention.context;
    auto x = in.x;
    if (in.wanted.count() != 0) {
      gather_rows(ex, context, in.wanted, s.kept_context);
      gather_rows(ex, x, in.wanted, s.kept_x);
      context = s.kept_context;
      x = s.kept_x;
    }
    transform_nodes(ex, c, w, context, x, s, y);
  }

  /// Overwrites dx, unless dx is empty.  relations.how says whether relations.d is overwritten or added to.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, const_view<output> dy,
                output dx, fields<T> gradient, relations_gradient<T> relations) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    bool const pruned = in.wanted.count() != 0;
    index_t const nodes = in.graphs.dims.nodes, out = dy.extent(0);
    auto const state = [&](index_t n) { return scratch.make<tensor<T, dyn, D>>(n, width()); };
    auto const dt = state(out), d_kept = state(out);
    transform_nodes_backward(ex, c, w, pruned ? s.kept_context : s.attention.context, s, dy, dt, d_kept, gradient);
    auto d_context = d_kept, d_residual = dt;
    if (pruned) {
      d_context = state(nodes);
      d_residual = state(nodes);
      scatter_rows(ex, c.scratch, d_kept, in.wanted, d_context);
      scatter_rows(ex, c.scratch, dt, in.wanted, d_residual);
    }
    attention.attend_backward(ex, c.child(0), w.attention.projections, in, s.attention, d_context, dx, relations.d,
                              relations.how, gradient.attention.projections, {.residual = as_matrix(d_residual)});
  }

  /// Overwrites y with the new states of some nodes.  `context` and `x` have the contexts and the states of these
  /// nodes.
  template <backend Ex>
  void transform_nodes(Ex& ex, call const& c, fields<T const> w, tensor<T const, dyn, D> context,
                       tensor<T const, dyn, D> x, saved const& s, output y) const {
    mixer().forward(ex, c, w.attention.output, context, {}, s.t,
                    {.dropout = c.child(1).dropout(dropout), .residual = as_matrix(x)});
    block.forward(ex, c.child(2), w.block, s.t, s.block, y);
  }
  /// Computes the gradient of transform_nodes().  Overwrites dt, the gradient of t.  dt is also the gradient of x.
  /// Overwrites d_context, then applies `after` to d_context.
  template <backend Ex>
  void transform_nodes_backward(Ex& ex, call const& c, fields<T const> w, tensor<T const, dyn, D> context,
                                saved const& s, const_view<output> dy, output dt, output d_context, fields<T> gradient,
                                epilogue<T> const& after = {}) const {
    auto const frame = c.scratch->open();
    auto const dropped = c.scratch->template make<output>(dy.extent(0), width());
    block.backward(ex, c.child(2), w.block, s.t, s.block, dy, dt, gradient.block);
    mixer().backward(ex, c, w.attention.output, context, {},
                     undropped(ex, c.child(1).dropout(dropout), read_only(dt), dropped), d_context,
                     gradient.attention.output, after);
  }
};

}  // namespace triad
