// Cross entropy of each node's parent.  The probabilities of the parents of a node are the softmax of the scores of its
// edges, over all nodes of its graph.
// SPDX-License-Identifier: Apache-2.0
//
//   s(i, j) = score(edge (i, j))  (arcs::from_child)  or  score(edge (j, i))  (arcs::from_parent);  fill where masked
//   p(i, j) = softmax over the nodes j of i's graph;   a root's parent is the root itself
//   loss = mean over nodes with parent(i) >= 0 of -log p(i, parent(i))            score (rows), parent (nodes)
//   dscore = (p(i, j) - [j = parent(i)]) / count at the edge that s(i, j) was read from
//          = 0 where the edge is masked, or parent(i) < 0
//
// A score that is NaN or +infinity gives NaN in the loss and in the gradient of its node, unless the edge is masked or
// the node has no parent.  best_arcs chooses a score of NaN only if it is the first score of a node.  Otherwise
// best_arcs ignores the NaN, because no comparison with NaN is true.
#pragma once

#include "triad/core/backend.hpp"
#include "triad/core/graphs.hpp"
#include "triad/core/mdspan.hpp"
#include "triad/core/views.hpp"

namespace triad {

/// Says which edge has the score of node j as the parent of node i.  from_child: edge (i, j), as in the released
/// program of the Edge Transformer's parser.  from_parent: edge (j, i), as in the paper on the Edge Transformer.
enum class arcs { from_child, from_parent };

/// Options, which say how the scores of parents are read from the scores of edges.
struct arc_cross_entropy_options {
  arcs readout = arcs::from_child;
  vec<std::uint8_t const> masked{nullptr, 0};  // (rows) 1: an end of the edge is padding; (0): no edge is masked
  double fill = -1e3;
};

namespace detail {
inline void expect_arcs(arc_cross_entropy_options const& options, graph_batch const& g, index_t scores) {
  expect_extent("arc_cross_entropy", "scores of edges", scores, g.dims.rows);
  if (options.masked.extent(0) != 0) expect_shape("arc_cross_entropy", "masked", options.masked, {scores});
}
}  // namespace detail

/// Computes the mean cross entropy of parents and its gradient.  Overwrites loss (1) and dscore (rows).  The loss is 0
/// if no node has a parent.
template <backend Ex, class T>
void arc_cross_entropy(Ex& ex, arena& scratch, arc_cross_entropy_options const& options, graph_batch const& g,
                       vec<T const> score, vec<index_t const> parent, vec<T> loss, vec<T> dscore) {
  detail::expect_arcs(options, g, score.extent(0));
  expect_shape("arc_cross_entropy", "dscore", dscore, {score.extent(0)});
  expect_shape("arc_cross_entropy", "loss", loss, {1});
  expect_shape("arc_cross_entropy", "parent", parent, {g.dims.nodes});
  auto const frame = scratch.open();
  auto const losses = scratch.make<vec<T>>(g.dims.nodes);  // the loss of each node
  if constexpr (executes<Ex>) do_arc_cross_entropy(ex, options, g, score, parent, loss, dscore, losses);
}

/// Sets best(i) to the node j with the largest s(i, j) in the graph of node i.  If several nodes have this score, takes
/// the first of these nodes.
template <backend Ex, class T>
void best_arcs(Ex& ex, arc_cross_entropy_options const& options, graph_batch const& g, vec<T const> score,
               vec<index_t> best) {
  detail::expect_arcs(options, g, score.extent(0));
  expect_shape("best_arcs", "best", best, {g.dims.nodes});
  if constexpr (executes<Ex>) do_best_arcs(ex, options, g, score, best);
}

}  // namespace triad
