// Cross entropy and argmax over parents, directly from their definition in ops/arc_cross_entropy.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "triad/ops/arc_cross_entropy.hpp"
#include "triad/reference/backend.hpp"

namespace triad::TRIAD_REFERENCE {

namespace detail {

/// Calls f(node, n, s, edge) for every node.  n is the number of nodes in the graph.  s(j) returns the score of node j
/// as the parent of `node`.  edge(j) returns the number of the row of `score` that has this score.
template <class T, class F>
void each_child(arc_cross_entropy_options const& options, graph_batch const& g, vec<T const> score, F&& f) {
  for (index_t b = 0; b < g.dims.graphs; ++b) {
    index_t const n = g.size(b);
    for (index_t i = 0; i < n; ++i) {
      auto const edge = [&, i](index_t j) {
        return g.edge_begin(b) + (options.readout == arcs::from_child ? i * n + j : j * n + i);
      };
      auto const s = [&](index_t j) {
        return options.masked.extent(0) != 0 && options.masked(edge(j)) ? T(options.fill) : score(edge(j));
      };
      f(g.node_begin(b) + i, n, s, edge);
    }
  }
}

}  // namespace detail

template <class T>
void do_arc_cross_entropy(backend&, arc_cross_entropy_options const& options, graph_batch const& g, vec<T const> score,
                          vec<index_t const> parent, vec<T> loss, vec<T> dscore, vec<T>) {
  index_t count = 0;
  for (index_t i = 0; i < parent.extent(0); ++i) count += parent(i) >= 0 ? 1 : 0;
  T total = 0;
  detail::each_child(options, g, score, [&](index_t i, index_t n, auto const& s, auto const& edge) {
    TRIAD_EXPECTS(parent(i) < n, "arc_cross_entropy: the parent of node " + std::to_string(i) + " is " +
                                     std::to_string(parent(i)) + ", expected a node of its graph, below " +
                                     std::to_string(n));
    T maximum = s(0), sum = 0;
    for (index_t j = 1; j < n; ++j) maximum = s(j) > maximum ? s(j) : maximum;
    for (index_t j = 0; j < n; ++j) sum += std::exp(s(j) - maximum);
    if (parent(i) >= 0) total += std::log(sum) + maximum - s(parent(i));
    for (index_t j = 0; j < n; ++j) {
      bool const masked = parent(i) < 0 || (options.masked.extent(0) != 0 && options.masked(edge(j)));
      dscore(edge(j)) = masked ? T(0) : (std::exp(s(j) - maximum) / sum - (j == parent(i) ? T(1) : T(0))) / T(count);
    }
  });
  loss(0) = count > 0 ? total / T(count) : T(0);
}

template <class T>
void do_best_arcs(backend&, arc_cross_entropy_options const& options, graph_batch const& g, vec<T const> score,
                  vec<index_t> best) {
  detail::each_child(options, g, score, [&](index_t i, index_t n, auto const& s, auto const&) {
    best(i) = 0;
    for (index_t j = 1; j < n; ++j)
      if (s(j) > s(best(i))) best(i) = j;
  });
}

}  // namespace triad::TRIAD_REFERENCE
