// Relation-aware attention with its projections.  The mathematics of the attention is in ops/relation_attention.hpp.
// SPDX-License-Identifier: Apache-2.0
//
//   [q k v] = x w' + b                       x (nodes, d); one matrix product
//   context = attention(q, k, v, gk, gv)     (nodes, d); gk and gv side by side in relations (rows, 2 d)
// The output projection is part of the layer that contains this one, because that layer may need only the results of a
// few nodes.
#pragma once

#include "triad/core/views.hpp"
#include "triad/layers/stacked_linear.hpp"
#include "triad/ops/elementwise.hpp"
#include "triad/ops/gather.hpp"
#include "triad/ops/relation_attention.hpp"

namespace triad {

/// Pairs of nodes.  The member `wanted` of an input lists the nodes for which results are computed.  An empty list
/// means all nodes.
struct node_pairs {
  vec<index_t const> first{nullptr, 0}, second{nullptr, 0};  // (b) each: the index among all nodes

  constexpr index_t count() const { return first.extent(0); }
};

/// Sets y(2 r) = x(first(r)) and y(2 r + 1) = x(second(r)).  So the memory of y is also a matrix (b, 2 d).  Each row of
/// this matrix has both nodes of a pair side by side.
template <backend Ex, class X, class Y>
void gather_rows(Ex& ex, X x, node_pairs const& pairs, Y y) {
  expect_extent("gather_rows", "rows of y", y.extent(0), 2 * pairs.count());
  index_t const d = y.extent(1);
  auto const both = make_matrix(y.data_handle(), pairs.count(), 2 * d, 2 * d);
  gather_rows(ex, x, pairs.first, column_block(both, 0, d));
  gather_rows(ex, x, pairs.second, column_block(both, d, d));
}

/// Overwrites dx with the gradient of gather_rows() for `pairs`.  Returns dx.
template <backend Ex, class Dy, class Dx>
const_view<Dx> scatter_rows(Ex& ex, scratch_place scratch, Dy dy, node_pairs const& pairs, Dx dx) {
  index_t const d = dy.extent(1);
  auto const both = make_matrix(dy.data_handle(), pairs.count(), 2 * d, 2 * d);
  fill(ex, element_t<Dx>(0), dx);
  scatter_add_rows(ex, scratch, column_block(both, 0, d), pairs.first, dx);
  scatter_add_rows(ex, scratch, column_block(both, d, d), pairs.second, dx);
  return dx;
}

/// Returns an empty view (0, d).
template <class T, index_t D>
constexpr tensor<T, dyn, D> no_rows() {
  return tensor<T, dyn, D>(nullptr, extents<dyn, D>(0, D == dyn ? 0 : D));
}

/// The states of the nodes of a batch of graphs, and the keys and values of their edges.
template <class T, index_t D>
struct relation_input {
  tensor<T const, dyn, D> x;            // (nodes, d); has a gradient
  tensor<T const, dyn, dyn> relations;  // (rows, 2 d): gk and gv side by side; has a gradient
  graph_batch graphs;
  edge_mask mask{};
  node_pairs wanted{};
};

template <class T, index_t D = dyn, index_t H = dyn>
struct relation_attention_layer {
  using input = relation_input<T, D>;
  using output = tensor<T, dyn, D>;  // (nodes, d)
  using projections = stacked_linear<T, query_key_value, D>;

  [[no_unique_address]] extents<D, H> shape;  // d, h
  double dropout = 0;                         // the dropout rate of the attention weights, after the softmax

  constexpr index_t width() const { return shape.extent(0); }
  constexpr index_t heads() const { return shape.extent(1); }
  constexpr projections stacked() const { return {extents<D>(width())}; }

  template <class S>
  using fields = fields_of<projections, S>;
  struct saved {
    tensor<T, dyn, dyn> projected;  // (nodes, 3 d)
    vec<T> weights;                 // (h rows)
    tensor<T, dyn, D> context;      // (nodes, d)
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return plan<S>(stacked(), place);
  }
  saved plan_saved(arena& place, graph_dims dims, keep = keep::everything) const {
    return {place.make<tensor<T, dyn, dyn>>(dims.nodes, 3 * width()), place.make<vec<T>>(heads() * dims.rows),
            place.make<output>(dims.nodes, width())};
  }

  relation_attention_options options(call const& c, input const& in) const {
    return {heads(), in.mask, c.child(0).dropout(dropout)};
  }

  /// Splits projected (nodes, 3 d) and relations (rows, 2 d) into q, k, v, gk and gv.
  template <class S>
  relation_operands<S> split(tensor<S, dyn, dyn> projected, tensor<S, dyn, dyn> relations) const {
    index_t const d = width();
    return {column_block(projected, 0, d), column_block(projected, d, d), column_block(projected, 2 * d, d),
            column_block(relations, 0, d), column_block(relations, d, d)};
  }

  /// Overwrites s.context with the result of the attention for every node.
  template <backend Ex>
  void attend(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s) const {
    stacked().forward(ex, c, w, in.x, {}, s.projected);
    relation_attention(ex, options(c, in), split(read_only(s.projected), in.relations), in.graphs, s.weights,
                       as_matrix(s.context));
  }
  /// Computes the gradients from d_context.  Overwrites dx, unless dx is empty, then applies `after` to dx.  `edges`
  /// says whether d_relations is overwritten or added to.
  template <backend Ex>
  void attend_backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s,
                       const_view<output> d_context, tensor<T, dyn, D> dx, tensor<T, dyn, dyn> d_relations,
                       edge_gradients edges, fields<T> gradient, epilogue<T> const& after = {}) const {
    auto const frame = c.scratch->open();
    auto const d_projected = c.scratch->template make<tensor<T, dyn, dyn>>(in.graphs.dims.nodes, 3 * width());
    relation_attention_grad(ex, options(c, in), split(read_only(s.projected), in.relations), in.graphs,
                            vec<T const>(s.weights), as_matrix(read_only(s.context)), as_matrix(d_context),
                            split(d_projected, d_relations), edges);
    stacked().backward(ex, c, w, in.x, {}, d_projected, dx, gradient, after);
  }
};

}  // namespace triad
