// Triangular attention: edge (i, j) attends to the pairs of edges (i, l), (l, j) for all middle nodes l.
// SPDX-License-Identifier: Apache-2.0
//
// These are equations 4 (without W^o) to 8 of the paper on the Edge Transformer.  The formulas are for one head of
// width k, over a batch of complete graphs of different sizes (rows = sum of n^2, d = h k):
//
//   s(i, l, j) = q(i, l) . k(l, j) / sqrt(k) + bias(i, l, j)  fill where the triangle is masked
//   p(i, l, j) = softmax over l;  p~ = dropout(p)
//   o(i, j)    = sum_l p~(i, l, j) v1(i, l) * v2(l, j)        * element by element
//
//   dp~ = sum_c do v1 v2;  dp = dropout'(dp~);  ds = p (dp - delta),  delta(i, j) = sum_l p dp = sum_c do o
//   dq(i, l) = sum_j ds k(l, j) / sqrt(k)          dk(l, j) = sum_i ds q(i, l) / sqrt(k)
//   dv1(i, l) = sum_j p~ do(i, j) * v2(l, j)       dv2(l, j) = sum_i p~ do(i, j) * v1(i, l)
//   dbias(i, l, j) = ds, or 0 where the triangle is masked; if the bias is shared along an axis, the sum over this axis
//
// The bias is optional.  The flat form has no bias.
//
// Causal form (options.sources): the first s nodes of a graph are sources, which are middle nodes of every edge.  A
// node l after the sources is a middle node of edge (i, j) only if l <= max(i, j).  So the sums over l above have l <
// max(s, i + 1, j + 1).  An edge does not depend on nodes after both of its ends, unless these nodes are sources.
//
// Forms:  value_ablation      o = sum_l p~ v1(i, l)                                       (section 4.5 of the paper)
//         attention_ablation  s = q(i, l) . k(i, j) / sqrt(k)
//         flat                one softmax over the 2n edges (i, z) and (z, j):
//                             s = q(i, j) . k(edge) / sqrt(k),  o = sum p~ v1(edge);  masked as triangle (i, z, j)
//
// If an operand has a NaN, or if a score is +infinity, every row and gradient that depends on this value has a NaN.
// inverse_sum is NaN, too, but `maximum` is not always NaN.  The score of a masked triangle does not depend on the
// query and the key.  But the values of a masked triangle are still terms of the sum.  A triangle that the causal form
// omits has the weight 0.  But a backend may multiply whole tiles, and 0 times NaN is NaN.  So a NaN in the operands of
// such a triangle may still give NaN.
#pragma once

#include <type_traits>

#include "triad/core/arena.hpp"
#include "triad/core/backend.hpp"
#include "triad/core/contracts.hpp"
#include "triad/core/graphs.hpp"
#include "triad/core/random.hpp"
#include "triad/core/triangle_bias.hpp"
#include "triad/core/views.hpp"

namespace triad {

/// The full formula, or one of the forms above.
enum class triangle_form { full, value_ablation, attention_ablation, both_ablations, flat };

/// Whether v2 is a factor in the sum o(i, j).
TRIAD_HOST_DEVICE constexpr bool uses_right_value(triangle_form f) {
  return f == triangle_form::full || f == triangle_form::attention_ablation;
}
/// Whether scores use the key k(i, j) of the edge itself instead of k(l, j).
TRIAD_HOST_DEVICE constexpr bool uses_own_key(triangle_form f) {
  return f == triangle_form::attention_ablation || f == triangle_form::both_ablations;
}

/// Calls f(uses_own_key, uses_right_value) with both properties of the form as compile-time constants.  Does nothing
/// for the flat form.
template <class F>
void with_triangle_form(triangle_form form, F&& f) {
  switch (form) {
    case triangle_form::full:
      return f(std::false_type(), std::true_type());
    case triangle_form::value_ablation:
      return f(std::false_type(), std::false_type());
    case triangle_form::attention_ablation:
      return f(std::true_type(), std::true_type());
    case triangle_form::both_ablations:
      return f(std::true_type(), std::false_type());
    case triangle_form::flat:
      return;
  }
}

/// Options of the operation.
struct triangle_options {
  triangle_form form = triangle_form::full;
  index_t heads = 1;
  triangle_mask mask{};
  /// For the causal form: the number of sources of each graph (b).  Otherwise empty (0), so that every node is a middle
  /// node.  The flat form cannot be causal.
  vec<index_t const> sources{nullptr, 0};
  dropout_mask dropout{};  // p(i, l, j) of head c is element h first + ((c n + l) n + i) n + j, with first =
                           // graphs.triangle_begin[g]; flat: twice as many elements, with z < 2n in place of l

  TRIAD_HOST_DEVICE constexpr bool causal() const { return sources.extent(0) != 0; }
};

/// Returns the number of middle nodes of edge (i, j) in a causal graph of n nodes, of which the first `sources` nodes
/// are sources.  The middle nodes are nodes 0 .. causal_end - 1.
TRIAD_HOST_DEVICE constexpr index_t causal_end(index_t sources, index_t n, index_t i, index_t j) {
  index_t const last = (i > j ? i : j) + 1, end = last > sources ? last : sources;
  return end < n ? end : n;
}

/// Queries, keys and values of every edge, and a bias of the scores.  If S is T const, they are inputs.  If S is T,
/// they are the gradients of the inputs.
template <class S>
struct triangle_projections {
  matrix<S> query, key, left_value;  // (rows, d) each, heads side by side
  matrix<S> right_value;             // (rows, d); (0, 0) if the form does not use right values
  triangle_bias<S> bias{};           // added to <q, k> / sqrt(k); empty: no bias, or as a gradient: not computed
};

/// The statistics of the softmax that the backward pass needs: maximum m = max_l s, and inverse_sum = 1 / sum_l exp(s -
/// m).
template <class S>
struct triangle_statistics {
  matrix<S> maximum, inverse_sum;  // (rows, h) each
};

namespace detail {
/// Returns the axes as a shape, such as (1, h, n, n, n): axes of one number are shared.
inline std::string axes_text(triangle_bias_axes const& axes) {
  auto const axis = [](bool has, char const* name) { return has ? name : "1"; };
  return std::string("(") + axis(axes.graphs, "b") + ", " + axis(axes.heads, "h") + ", " + axis(axes.i, "n") + ", " +
         axis(axes.l, "n") + ", " + axis(axes.j, "n") + ")";
}
template <class S>
void expect_triangle(triangle_options const& options, triangle_projections<S> const& x, graph_batch const& g) {
  auto const rows = g.dims.rows, d = x.query.extent(1);
  expect_heads("triangle", d, options.heads);
  expect_shape("triangle", "query", x.query, {rows, d});
  expect_shape("triangle", "key", x.key, {rows, d});
  expect_shape("triangle", "left_value", x.left_value, {rows, d});
  if (uses_right_value(options.form)) expect_same_shape("triangle", "right_value", x.right_value, x.query);
  TRIAD_EXPECTS(
      !options.causal() || options.form != triangle_form::flat,
      "triangle: the flat form with `sources`, expected another form: it is not causal; leave `sources` empty");
  if (options.causal()) expect_shape("triangle", "sources", options.sources, {g.dims.graphs});
  if (!options.mask.empty()) expect_shape("triangle", "mask", options.mask.masked, {g.dims.triangles});
  expect_rate("triangle", options.dropout);
  if (x.bias.empty()) return;
  TRIAD_EXPECTS(options.form != triangle_form::flat,
                "triangle: the flat form with a bias, expected another form: its scores have no bias; leave `bias` "
                "empty");
  TRIAD_EXPECTS(x.bias.axes.graphs || g.dims.nodes == g.dims.graphs * g.dims.max_nodes,
                "triangle: a bias that all graphs share and graphs of different sizes, expected graphs of the same "
                "size; give each graph its own part of the bias");
  expect_shape("triangle", "bias", x.bias.values, {x.bias.axes.count(g.dims, options.heads)});
}
template <class S>
void expect_statistics(triangle_options const& options, graph_batch const& g, triangle_statistics<S> const& s) {
  expect_shape("triangle", "maximum", s.maximum, {g.dims.rows, options.heads});
  expect_shape("triangle", "inverse_sum", s.inverse_sum, {g.dims.rows, options.heads});
}
}  // namespace detail

/// Computes triangular attention of every edge.  Overwrites o (rows, d) and the statistics.  Kernels load whole
/// vectors, so every operand needs `arena_slack` readable bytes after its last row.  Views from an arena have these
/// bytes.
template <backend Ex, class T>
void triangle(Ex& ex, arena& scratch, triangle_options const& options, triangle_projections<T const> const& x,
              graph_batch const& g, triangle_statistics<T> const& statistics, matrix<T> o) {
  detail::expect_triangle(options, x, g);
  detail::expect_statistics(options, g, statistics);
  expect_same_shape("triangle", "o", o, x.query);
  with_workspace(ex, scratch, do_triangle_workspace(planning(ex), options, x, g.dims),
                 [&](auto ws) { do_triangle(ex, options, x, g, statistics, o, ws); });
}

/// Computes the gradients.  Overwrites every gradient in dx, also that of a bias.  The gradient of the bias is computed
/// if dx.bias is not empty, and dx.bias then has the axes of x.bias.  If axes are shared, the scratch memory has the
/// gradients of the scores: on cuda h (sum of n^3) numbers for any shared axis, and on cpu the same without the axes i
/// and j where they are shared, for shared graphs, heads or middle nodes.  On cuda, a batch with a bias is computed by
/// the general kernels, which are slower.    Kernels load whole vectors, so every operand needs `arena_slack`
/// readable bytes after its last row.  Views from an arena have these bytes.
template <backend Ex, class T>
void triangle_grad(Ex& ex, arena& scratch, triangle_options const& options, triangle_projections<T const> const& x,
                   graph_batch const& g, triangle_statistics<T const> const& statistics, matrix<T const> o,
                   matrix<T const> d_o, triangle_projections<T> const& dx) {
  detail::expect_triangle(options, x, g);
  detail::expect_triangle(options, dx, g);
  detail::expect_statistics(options, g, statistics);
  expect_same_shape("triangle_grad", "dx.query", dx.query, x.query);
  TRIAD_EXPECTS(dx.bias.empty() || !x.bias.empty(),
                "triangle_grad: dx.bias without x.bias, expected both; leave dx.bias empty if there is no bias");
  TRIAD_EXPECTS(dx.bias.empty() || dx.bias.axes == x.bias.axes,
                "triangle_grad: dx.bias has the axes " + detail::axes_text(dx.bias.axes) + ", expected " +
                    detail::axes_text(x.bias.axes) +
                    ", those of x.bias; leave dx.bias empty if its gradient is not needed");
  expect_same_shape("triangle_grad", "o", o, x.query);
  expect_same_shape("triangle_grad", "d_o", d_o, x.query);
  with_workspace(ex, scratch, do_triangle_grad_workspace(planning(ex), options, x, dx, g.dims),
                 [&](auto ws) { do_triangle_grad(ex, options, x, g, statistics, o, d_o, dx, ws); });
}

/// Computes the weights of one edge (i, j) of graph `graph`: sets weights(c, l) to p(i, l, j) of head c, before
/// dropout.  In the causal form, the weight is 0 if node l is not a middle node of the edge.  The flat form has n
/// weights of the edges (i, z), followed by n weights of the edges (z, j).
template <backend Ex, class T>
void triangle_weights(Ex& ex, triangle_options const& options, triangle_projections<T const> const& x,
                      graph_batch const& g, index_t graph, index_t i, index_t j, matrix<T> weights) {
  detail::expect_triangle(options, x, g);
  TRIAD_EXPECTS(graph >= 0 && graph < g.dims.graphs, "triangle_weights: graph " + std::to_string(graph) +
                                                         ", expected 0 to " + std::to_string(g.dims.graphs - 1));
  expect_extent("triangle_weights", "rows of weights", weights.extent(0), options.heads);
  if constexpr (executes<Ex>) do_triangle_weights(ex, options, x, g, graph, i, j, weights);
}

}  // namespace triad
