// Cross entropy of the parent of each node: a softmax over all nodes of its graph, from one score for each edge.
// SPDX-License-Identifier: Apache-2.0
//
//   s(i, j) = score(edge (i, j))  (arcs::from_child)  or  score(edge (j, i))  (arcs::from_parent);  fill where masked
//   p(i, j) = softmax over the nodes j of i's graph;   a root's parent is the root itself
//   loss = mean over nodes with parent(i) >= 0 of -log p(i, parent(i))            score (rows), parent (nodes)
//   dscore = (p(i, j) - [j = parent(i)]) / count at the edge that s(i, j) was read from
//          = 0 where the edge is masked, or parent(i) < 0
//
// A score that is NaN or +infinity makes the loss NaN, and the gradient of its node, but where it is masked or its node
// has no parent.  best_arcs does not show it: no comparison with NaN is true, so NaN wins only in first place.
#pragma once

#include "triad/core/backend.hpp"
#include "triad/core/graphs.hpp"
#include "triad/core/mdspan.hpp"
#include "triad/core/views.hpp"

namespace triad {

/// Which edge has the score of parent j of node i: (i, j), as the released program of the Edge Transformer's parser
/// reads it, or (j, i), as its paper does.
enum class arcs { from_child, from_parent };

/// How scores of edges are read as scores of parents.
struct arc_cross_entropy_options {
  arcs readout = arcs::from_child;
  vec<std::uint8_t const> masked{nullptr, 0};  // (rows) 1: an end of the edge is padding; or (0)
  double fill = -1e3;
};

namespace detail {
inline void expect_arcs(arc_cross_entropy_options const& options, graph_batch const& g, index_t scores) {
  expect_extent("arc_cross_entropy", "scores of edges", scores, g.dims.rows);
  if (options.masked.extent(0) != 0) expect_shape("arc_cross_entropy", "masked", options.masked, {scores});
}
}  // namespace detail

/// The mean cross entropy of parents, and its gradient.  Overwrites loss (1) and dscore (rows); without any node that
/// has a parent the loss is 0.
template <backend Ex, class T>
void arc_cross_entropy(Ex& ex, arena& scratch, arc_cross_entropy_options const& options, graph_batch const& g,
                       vec<T const> score, vec<index_t const> parent, vec<T> loss, vec<T> dscore) {
  detail::expect_arcs(options, g, score.extent(0));
  expect_shape("arc_cross_entropy", "dscore", dscore, {score.extent(0)});
  expect_shape("arc_cross_entropy", "loss", loss, {1});
  expect_shape("arc_cross_entropy", "parent", parent, {g.dims.nodes});
  auto const frame = scratch.open();
  auto const losses = scratch.make<vec<T>>(g.dims.nodes);  // of each node
  if constexpr (executes<Ex>) do_arc_cross_entropy(ex, options, g, score, parent, loss, dscore, losses);
}

/// best(i) = the first node j of i's graph with the largest s(i, j).
template <backend Ex, class T>
void best_arcs(Ex& ex, arc_cross_entropy_options const& options, graph_batch const& g, vec<T const> score,
               vec<index_t> best) {
  detail::expect_arcs(options, g, score.extent(0));
  expect_shape("best_arcs", "best", best, {g.dims.nodes});
  if constexpr (executes<Ex>) do_best_arcs(ex, options, g, score, best);
}

}  // namespace triad
