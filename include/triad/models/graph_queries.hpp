// What the models of labelled graphs are asked: the graphs, their edge labels, and one pair of nodes each.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

#include "triad/core/graphs.hpp"

namespace triad {

/// A batch of b labelled graphs with one question each: how are `source` and `target` related?
struct graph_queries {
  graph_batch graphs;
  vec<index_t const> label;          // (rows) of every edge; 0: no edge
  vec<index_t const> query_edge;     // (b) row of edge (source, target)
  vec<index_t const> query_source;   // (b) row among all nodes
  vec<index_t const> query_target;   // (b)
  triangle_mask mask{};              // padded forms only
  vec<std::uint8_t const> edge_mask{nullptr, 0};  // (rows) 1: an end of the edge is padding; or (0)

  /// mix(number) for everything that a pass over this batch depends on besides the values in its views: sizes, addresses, the fill.
  template <class F>
  void identify(F&& mix) const {
    auto const& d = graphs.dims;
    for (index_t const v : {d.graphs, d.rows, d.nodes, d.triangles, d.max_nodes}) mix(static_cast<std::uint64_t>(v));
    auto const view = [&](auto const& v) {
      mix(reinterpret_cast<std::uintptr_t>(v.data_handle()));
      mix(static_cast<std::uint64_t>(v.size()));
    };
    view(graphs.size), view(graphs.node), view(graphs.edge), view(graphs.triangle);
    view(label), view(query_edge), view(query_source), view(query_target), view(mask.masked), view(edge_mask);
    mix(std::bit_cast<std::uint64_t>(mask.fill));
  }

  /// A batch of these sizes without memory, to measure with.
  static graph_queries measured(graph_dims dims, index_t b) {
    vec<index_t const> const rows(nullptr, dims.rows), queries(nullptr, b), graphs(nullptr, dims.graphs);
    return {{dims, graphs, graphs, graphs, graphs}, rows, queries, queries, queries};
  }
};

}  // namespace triad
