// A bias of the scores of triangular attention: its axes, and where it has the number of a triangle.
// SPDX-License-Identifier: Apache-2.0
//
// The bias has the axes (b, h, i, l, j): graph, head, source, middle node and target.  If an axis is shared, the bias
// has one number for all places along this axis.  The numbers of a graph are [h][i][l][j] without the shared axes, and
// the graphs follow one another.  So a bias with all axes has h (sum of n^3) numbers.
#pragma once

#include "triad/core/graphs.hpp"
#include "triad/core/mdspan.hpp"

namespace triad {

/// Which axes a bias has.  It is the same for all places along the other axes.
struct triangle_bias_axes {
  bool graphs = true, heads = true, i = true, l = true, j = true;

  constexpr bool operator==(triangle_bias_axes const&) const = default;
  /// Whether no axis is shared.
  constexpr bool all() const { return graphs && heads && i && l && j; }
  /// Returns the numbers of one head of a graph of n nodes.
  TRIAD_HOST_DEVICE constexpr index_t numbers_of_head(index_t n) const {
    return (i ? n : 1) * (l ? n : 1) * (j ? n : 1);
  }
  /// Returns the numbers of the whole bias.
  constexpr index_t count(graph_dims const& dims, index_t all_heads) const {
    index_t const nodes = i + l + j, of_graphs = nodes == 3   ? dims.triangles
                                                 : nodes == 2 ? dims.rows
                                                 : nodes == 1 ? dims.nodes
                                                              : dims.graphs;
    return (heads ? all_heads : 1) * (graphs ? of_graphs : numbers_of_head(dims.max_nodes));
  }
  /// Returns the first number of a graph.
  TRIAD_HOST_DEVICE constexpr index_t begin(graph_batch const& g, index_t graph, index_t all_heads) const {
    if (!graphs) return 0;
    index_t const nodes = i + l + j;
    return (heads ? all_heads : 1) * (nodes == 3   ? g.triangle_begin(graph)
                                      : nodes == 2 ? g.edge_begin(graph)
                                      : nodes == 1 ? g.node_begin(graph)
                                                   : graph);
  }
};

/// The bias of one head of one graph: number (i, l, j) is data[i step_i + l step_l + j step_j].  If there is no bias,
/// `data` is null.
template <class S>
struct triangle_bias_head {
  S* data = nullptr;
  index_t step_i = 0, step_l = 0, step_j = 0;

  triangle_bias_head() = default;
  TRIAD_HOST_DEVICE constexpr triangle_bias_head(S* numbers, triangle_bias_axes const& axes, index_t n)
      : data(numbers),
        step_i(axes.i ? (axes.l ? n : 1) * (axes.j ? n : 1) : 0),
        step_l(axes.l ? (axes.j ? n : 1) : 0),
        step_j(axes.j ? 1 : 0) {}

  TRIAD_HOST_DEVICE constexpr S& at(index_t i, index_t l, index_t j) const {
    return data[i * step_i + l * step_l + j * step_j];
  }
};

/// A bias, or the gradient of a bias.  An empty bias adds nothing to the scores, and an empty gradient is not computed.
template <class S>
struct triangle_bias {
  vec<S> values{nullptr, 0};  // (axes.count(dims, heads)), or empty (0)
  triangle_bias_axes axes{};

  TRIAD_HOST_DEVICE constexpr bool empty() const { return values.extent(0) == 0; }
  /// Returns the part of head c of a graph.
  TRIAD_HOST_DEVICE constexpr triangle_bias_head<S> of_head(graph_batch const& g, index_t graph, index_t c,
                                                            index_t all_heads) const {
    if (empty()) return {};
    auto const n = g.dims.graphs == 0 ? 0 : g.size(graph);  // a bias that graphs share has numbers without a graph
    auto const head = axes.heads ? c * axes.numbers_of_head(n) : 0;
    return {values.data_handle() + axes.begin(g, graph, all_heads) + head, axes, n};
  }
};

}  // namespace triad
