// Graph attention: a node attends to its neighbours.  The score of a pair of nodes is the sum of three numbers: one
// number for each of the two nodes, and one number for the edge between the nodes.
// SPDX-License-Identifier: Apache-2.0
//
// This is the attention of Velickovic et al. 2018, with one addition: the label of an edge contributes to the score and
// to the message of the edge.  The baseline of the CLUTRR data set has such labels too, but there a node attends only
// along its outgoing edges.  Here node x attends to the nodes N(x).  These are node x itself, and every node y of the
// graph with an edge from or to x: label(x, y) != 0 or label(y, x) != 0.  If there is no edge from x to y, or if y = x,
// then es(x, y) and ev(x, y) belong to label 0.  The formulas are for one head of width k, over a batch of graphs of
// different sizes (nodes = sum of n, rows = sum of n^2, d = h k):
//
//   z(x, y) = qs(x) + ks(y) + es(x, y);  s = leaky_relu(z) = z where z > 0, else slope z
//   p(x, y) = softmax of s over y in N(x), 0 elsewhere;  p~ = dropout(p)
//   c(x)    = sum_y p~(x, y) (v(y) + ev(x, y))
//
//   dp~ = dc(x) . (v(y) + ev(x, y));  dp = dropout'(dp~);  ds = p (dp - delta),  delta(x) = dc(x) . c(x)
//   dz  = ds where z > 0, else slope ds;  dqs(x) = sum_y dz,  dks(y) = sum_x dz,  des(x, y) = dz
//   dv(y) = sum_x p~ dc(x),  dev(x, y) = p~ dc(x)
//
// If an operand has a NaN, or if a score is +infinity, every row and gradient that depends on this value has a NaN.
// Operands of pairs of nodes that are not neighbours are not read.
#pragma once

#include "triad/core/math.hpp"
#include "triad/ops/relation_attention.hpp"

namespace triad {

/// Options of the operation.
struct graph_attention_options {
  index_t heads = 1;
  double slope = 0.2;      // of leaky_relu for z < 0; Velickovic et al. 2018, section 2.1
  dropout_mask dropout{};  // relation_weight() numbers the elements of p
};

/// Scores and values of nodes and edges.  If S is T const, they are inputs.  If S is T, they are the gradients of the
/// inputs.
template <class S>
struct graph_attention_operands {
  matrix<S> query_score, key_score;  // (nodes, h) each: qs and ks
  matrix<S> edge_score;              // (rows, h): es
  matrix<S> value;                   // (nodes, d), heads side by side: v
  matrix<S> edge_value;              // (rows, d): ev
};

/// Whether node y is in N(x).  The graph has n nodes, and the first edge of the graph is row `first_edge`.
TRIAD_HOST_DEVICE constexpr bool are_neighbours(vec<index_t const> label, index_t first_edge, index_t n, index_t x,
                                                index_t y) {
  return x == y || label(first_edge + x * n + y) != 0 || label(first_edge + y * n + x) != 0;
}

namespace detail {
template <class S>
void expect_graph_attention(graph_attention_options const& options, graph_attention_operands<S> const& x,
                            graph_batch const& g, vec<index_t const> label) {
  auto const d = x.value.extent(1);
  expect_heads("graph_attention", d, options.heads);
  expect_shape("graph_attention", "value", x.value, {g.dims.nodes, d});
  expect_shape("graph_attention", "query_score", x.query_score, {g.dims.nodes, options.heads});
  expect_shape("graph_attention", "key_score", x.key_score, {g.dims.nodes, options.heads});
  expect_shape("graph_attention", "edge_score", x.edge_score, {g.dims.rows, options.heads});
  expect_shape("graph_attention", "edge_value", x.edge_value, {g.dims.rows, d});
  expect_shape("graph_attention", "label", label, {g.dims.rows});
  expect_rate("graph_attention", options.dropout);
}
}  // namespace detail

/// Computes the attention of each node over its neighbours.  Overwrites c (nodes, d).  Writes p before dropout to
/// `weights` (h rows), which the backward pass needs.  A weight that dropout sets to zero is stored as -p.
template <backend Ex, class T>
void graph_attention(Ex& ex, graph_attention_options const& options, graph_attention_operands<T const> const& x,
                     graph_batch const& g, vec<index_t const> label, vec<T> weights, matrix<T> c) {
  detail::expect_graph_attention(options, x, g, label);
  expect_same_shape("graph_attention", "c", c, x.value);
  expect_shape("graph_attention", "weights", weights, {options.heads * g.dims.rows});
  if constexpr (executes<Ex>) do_graph_attention(ex, options, x, g, label, weights, c);
}

/// Computes the gradients.  Overwrites the gradients of nodes.  `edges` says whether the gradients of edges are
/// overwritten or added to.
template <backend Ex, class T>
void graph_attention_grad(Ex& ex, graph_attention_options const& options, graph_attention_operands<T const> const& x,
                          graph_batch const& g, vec<index_t const> label, vec<T const> weights, matrix<T const> c,
                          matrix<T const> dc, graph_attention_operands<T> const& dx,
                          edge_gradients edges = edge_gradients::overwritten) {
  detail::expect_graph_attention(options, x, g, label);
  detail::expect_graph_attention(options, dx, g, label);
  expect_same_shape("graph_attention_grad", "c", c, x.value);
  expect_same_shape("graph_attention_grad", "dc", dc, x.value);
  expect_same_shape("graph_attention_grad", "dx.value", dx.value, x.value);
  expect_shape("graph_attention_grad", "weights", weights, {options.heads * g.dims.rows});
  if constexpr (executes<Ex>) do_graph_attention_grad(ex, options, x, g, label, weights, c, dc, dx, edges);
}

}  // namespace triad
