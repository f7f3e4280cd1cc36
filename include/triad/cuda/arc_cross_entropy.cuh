// Cross entropy and argmax over parents.  A warp computes one node, with lanes along the nodes of its graph.
// SPDX-License-Identifier: Apache-2.0
//
// Three kernels compute the loss of each node, the mean loss, and the gradient.  `losses` first holds the loss of each
// node.  The second kernel overwrites all its elements with the number of nodes that have a parent.
#pragma once

#include <cuda/std/cmath>
#include <cuda/std/limits>

#include "triad/core/views.hpp"
#include "triad/cuda/cross_entropy.cuh"
#include "triad/ops/arc_cross_entropy.hpp"

namespace triad::cuda {

namespace detail {

/// The scores of all nodes as the parent of one node.  A warp beyond the last node gets a graph without nodes: the warp
/// takes part in all shuffles and barriers, but writes nothing.
template <class T>
struct arc_row {
  arc_cross_entropy_options const& options;
  vec<T const> const& score;
  bool live;
  index_t node, n, first, step;  // the edge of parent j is first + j step

  TRIAD_DEVICE arc_row(block const& b, arc_cross_entropy_options const& o, graph_batch const& g, vec<T const> const& s)
      : options(o), score(s) {
    index_t const item = b.index() * row_warps + b.row();
    live = item < g.dims.nodes;
    node = live ? item : 0;
    index_t const graph = last_begun(b, g.node_begin, node), own = node - g.node_begin(graph);
    n = live ? g.size(graph) : 0;
    bool const along = o.readout == arcs::from_child;
    first = g.edge_begin(graph) + (along ? own * n : own);
    step = along ? 1 : n;
  }
  TRIAD_DEVICE index_t edge(index_t j) const { return first + j * step; }
  TRIAD_DEVICE bool masked(index_t j) const { return options.masked.extent(0) != 0 && options.masked(edge(j)) != 0; }
  TRIAD_DEVICE T operator()(index_t j) const { return masked(j) ? T(options.fill) : score(edge(j)); }

  // softmax_total reads a row through these members.  No values are kept in registers.
  static constexpr int held = 0;
  TRIAD_DEVICE T operator()(int, index_t j) const { return (*this)(j); }
};

template <class T>
struct arc_losses {
  static constexpr char const* name = "losses of arc_cross_entropy";
  static constexpr int threads = row_threads;

  TRIAD_DEVICE void operator()(block const& b, arc_cross_entropy_options options, graph_batch g, vec<T const> score,
                               vec<index_t const> parent, vec<T> losses) const {
    arc_row<T> const row(b, options, g, score);
    softmax_total<T> const total(b, row, row.n);
    if (!row.live || b.lane() != 0) return;
    index_t const p = parent(row.node);
    // A kernel cannot report a parent outside of the graph, so the loss of the node is NaN.
    losses(row.node) = p < 0       ? T(0)
                       : p < row.n ? ::cuda::std::log(total.sum) + total.maximum - row(p)
                                   : ::cuda::std::numeric_limits<T>::quiet_NaN();
  }
};

template <class T>
struct arc_gradient {
  static constexpr char const* name = "gradient of arc_cross_entropy";
  static constexpr int threads = row_threads;

  TRIAD_DEVICE void operator()(block const& b, arc_cross_entropy_options options, graph_batch g, vec<T const> score,
                               vec<index_t const> parent, vec<T const> counts, vec<T> dscore) const {
    arc_row<T> const row(b, options, g, score);
    softmax_total<T> const total(b, row, row.n);
    index_t const p = row.live ? parent(row.node) : -1;
    T const count = row.live ? counts(row.node) : T(1);
    for (index_t j = b.lane(); j < row.n; j += warp) {
      bool const masked = p < 0 || row.masked(j);
      dscore(row.edge(j)) = masked ? T(0) : (total.probability(row(j)) - (j == p ? T(1) : T(0))) / count;
    }
  }
};

/// Each lane begins with the score of node 0, and replaces this score only by larger scores.  So a NaN has the same
/// effect as in a loop over the nodes.
template <class T>
struct arc_argmax {
  static constexpr char const* name = "best_arcs";
  static constexpr int threads = row_threads;

  TRIAD_DEVICE void operator()(block const& b, arc_cross_entropy_options options, graph_batch g, vec<T const> score,
                               vec<index_t> best) const {
    arc_row<T> const row(b, options, g, score);
    T value = row.n > 0 ? row(0) : T(0);
    index_t at = 0;
    for (index_t j = b.lane(); j < row.n; j += warp)
      if (row(j) > value) {
        value = row(j);
        at = j;
      }
    warp_first_largest(b, value, at);
    if (row.live && b.lane() == 0) best(row.node) = at;
  }
};

}  // namespace detail

template <class T>
void do_arc_cross_entropy(backend& ex, arc_cross_entropy_options const& options, graph_batch const& g,
                          vec<T const> score, vec<index_t const> parent, vec<T> loss, vec<T> dscore, vec<T> losses) {
  index_t const blocks = blocks_for(g.dims.nodes, row_warps);
  launch(ex, detail::arc_losses<T>{}, blocks, options, g, score, parent, losses);
  launch(ex, detail::cross_entropy_mean<T>{}, 1, parent, loss,
         make_matrix(losses.data_handle(), losses.extent(0), index_t{1}, index_t{1}));
  launch(ex, detail::arc_gradient<T>{}, blocks, options, g, score, parent, vec<T const>(losses), dscore);
}

template <class T>
void do_best_arcs(backend& ex, arc_cross_entropy_options const& options, graph_batch const& g, vec<T const> score,
                  vec<index_t> best) {
  launch(ex, detail::arc_argmax<T>{}, blocks_for(g.dims.nodes, row_warps), options, g, score, best);
}

}  // namespace triad::cuda
