// Relation-aware attention: node x attends to all nodes y of its graph.  Edge (x, y) has two vectors, which are added
// to the key and to the value of y.
// SPDX-License-Identifier: Apache-2.0
//
// This is the attention of Shaw et al. 2018.  The models RAT and RRAT, with which the paper on the Edge Transformer
// compares, use it too.  The formulas are for one head of width k, over a batch of complete graphs of different sizes
// (nodes = sum of n, rows = sum of n^2, d = h k):
//
//   s(x, y) = q(x) . (k(y) + gk(x, y)) / sqrt(k)              fill where the edge is masked
//   p(x, y) = softmax over y;  p~ = dropout(p)
//   c(x)    = sum_y p~(x, y) (v(y) + gv(x, y))
//
//   dp~ = dc(x) . (v(y) + gv(x, y));  dp = dropout'(dp~);  ds = p (dp - delta) / sqrt(k),  delta(x) = dc(x) . c(x)
//   dq(x) = sum_y ds (k(y) + gk(x, y))     dk(y) = sum_x ds q(x)        dgk(x, y) = ds q(x)
//                                          dv(y) = sum_x p~ dc(x)       dgv(x, y) = p~ dc(x)
//
// If an operand has a NaN, or if a score is +infinity, every row and gradient that depends on this value has a NaN.
// The score of a masked edge does not depend on the key of the edge, but the value of the edge is still a term of the
// sum.
#pragma once

#include "triad/core/backend.hpp"
#include "triad/core/graphs.hpp"
#include "triad/core/random.hpp"
#include "triad/core/views.hpp"

namespace triad {

/// Masks edges: masked(r) = 1 sets the score of edge r to `fill`.  If `masked` is empty, no edge is masked.
struct edge_mask {
  vec<std::uint8_t const> masked{nullptr, 0};  // (rows) or (0)
  double fill = -1e9;                          // as in the paper's program

  constexpr bool empty() const { return masked.extent(0) == 0; }
};

/// Options of the operation.
struct relation_attention_options {
  index_t heads = 1;
  edge_mask mask{};
  dropout_mask dropout{};  // relation_weight() numbers the elements of p
};

/// Returns the index of p(x, y) of head c in the weights (h rows) of a batch.  In dropout, p(x, y) has the same number.
TRIAD_HOST_DEVICE constexpr index_t relation_weight(index_t heads, index_t first_edge, index_t n, index_t c, index_t x,
                                                    index_t y) {
  return heads * first_edge + (c * n + x) * n + y;
}

/// Queries, keys and values.  If S is T const, they are inputs.  If S is T, they are the gradients of the inputs.
template <class S>
struct relation_operands {
  matrix<S> query, key, value;     // (nodes, d) each, heads side by side
  matrix<S> edge_key, edge_value;  // (rows, d) each
};

/// Whether the gradients of edge_key and edge_value are overwritten or added to.  Layers that share the relations of
/// edges add to the gradients.
enum class edge_gradients { overwritten, added };

namespace detail {
template <class S>
void expect_relations(relation_attention_options const& options, relation_operands<S> const& x, graph_batch const& g) {
  auto const d = x.query.extent(1);
  expect_heads("relation_attention", d, options.heads);
  expect_shape("relation_attention", "query", x.query, {g.dims.nodes, d});
  expect_shape("relation_attention", "key", x.key, {g.dims.nodes, d});
  expect_shape("relation_attention", "value", x.value, {g.dims.nodes, d});
  expect_shape("relation_attention", "edge_key", x.edge_key, {g.dims.rows, d});
  expect_shape("relation_attention", "edge_value", x.edge_value, {g.dims.rows, d});
  if (!options.mask.empty()) expect_shape("relation_attention", "mask", options.mask.masked, {g.dims.rows});
  expect_rate("relation_attention", options.dropout);
}
}  // namespace detail

/// Computes the attention of each node over the nodes of its graph.  Overwrites c (nodes, d).  Writes p before dropout
/// to `weights` (h rows), which the backward pass needs.  A weight that dropout sets to zero is stored as -p.
template <backend Ex, class T>
void relation_attention(Ex& ex, relation_attention_options const& options, relation_operands<T const> const& x,
                        graph_batch const& g, vec<T> weights, matrix<T> c) {
  detail::expect_relations(options, x, g);
  expect_same_shape("relation_attention", "c", c, x.query);
  expect_shape("relation_attention", "weights", weights, {options.heads * g.dims.rows});
  if constexpr (executes<Ex>) do_relation_attention(ex, options, x, g, weights, c);
}

/// Computes the gradients.  Overwrites the gradients of query, key and value.  `edges` says whether the gradients of
/// edge_key and edge_value are overwritten or added to.
template <backend Ex, class T>
void relation_attention_grad(Ex& ex, relation_attention_options const& options, relation_operands<T const> const& x,
                             graph_batch const& g, vec<T const> weights, matrix<T const> c, matrix<T const> dc,
                             relation_operands<T> const& dx, edge_gradients edges = edge_gradients::overwritten) {
  detail::expect_relations(options, x, g);
  detail::expect_relations(options, dx, g);
  expect_same_shape("relation_attention_grad", "dx.query", dx.query, x.query);
  expect_same_shape("relation_attention_grad", "c", c, x.query);
  expect_same_shape("relation_attention_grad", "dc", dc, x.query);
  expect_shape("relation_attention_grad", "weights", weights, {options.heads * g.dims.rows});
  if constexpr (executes<Ex>) do_relation_attention_grad(ex, options, x, g, weights, c, dc, dx, edges);
}

}  // namespace triad
