// A batch of complete directed graphs of different sizes.  The nodes, edges and triangles of all graphs are numbered,
// and the batch holds the first number of each graph.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "triad/core/mdspan.hpp"

namespace triad {

/// The sizes of a batch.  The host knows these sizes and plans memory with them.
struct graph_dims {
  index_t graphs = 0;     // b
  index_t rows = 0;       // sum of n^2: edges
  index_t nodes = 0;      // sum of n
  index_t triangles = 0;  // sum of n^3
  index_t max_nodes = 0;  // largest n
  index_t further = 0;    // questions beyond the first one of each graph

  constexpr index_t questions() const { return graphs + further; }
};

/// Returns the sizes of a batch of one graph with n nodes.
constexpr graph_dims dims_of(index_t n) { return {1, n * n, n, n * n * n, n}; }

/// Returns the sizes of both batches together.
constexpr graph_dims operator+(graph_dims a, graph_dims const& b) {
  return {.graphs = a.graphs + b.graphs,
          .rows = a.rows + b.rows,
          .nodes = a.nodes + b.nodes,
          .triangles = a.triangles + b.triangles,
          .max_nodes = std::max(a.max_nodes, b.max_nodes),
          .further = a.further + b.further};
}

/// Returns the larger of both values of each size.  A batch of sizes `a` and a batch of sizes `b` both fit into the
/// result.
constexpr graph_dims larger(graph_dims a, graph_dims const& b) {
  return {.graphs = std::max(a.graphs, b.graphs),
          .rows = std::max(a.rows, b.rows),
          .nodes = std::max(a.nodes, b.nodes),
          .triangles = std::max(a.triangles, b.triangles),
          .max_nodes = std::max(a.max_nodes, b.max_nodes),
          .further = std::max(a.further, b.further)};
}

/// Lists the sizes for core/batch_sizes.hpp.
template <class F>
constexpr void each_count(graph_dims& d, F&& f) {
  f.sum(d.graphs, "graphs");
  f.sum(d.rows, "edges");
  f.sum(d.nodes, "nodes");
  f.sum(d.triangles, "triangles");
  f.largest(d.max_nodes, "nodes in the largest");
  f.maybe(d.further, "further questions");
}

/// Returns true if a batch of sizes `d` fits into `capacity`.
constexpr bool fits(graph_dims const& d, graph_dims const& capacity) {
  return d.graphs <= capacity.graphs && d.rows <= capacity.rows && d.nodes <= capacity.nodes &&
         d.triangles <= capacity.triangles && d.max_nodes <= capacity.max_nodes && d.further <= capacity.further;
}

/// A batch of graphs.  Node i of graph g is row node_begin[g] + i.  Edge (i, j) is row edge_begin[g] + i n + j.
/// Triangle (i, l, j) is row triangle_begin[g] + (i n + l) n + j.
struct graph_batch {
  graph_dims dims;
  vec<index_t const> size;            // (b) number of nodes of each graph
  vec<index_t const> node_begin;      // (b) first node
  vec<index_t const> edge_begin;      // (b) first edge
  vec<index_t const> triangle_begin;  // (b) first triangle

  /// Lists the views of the batch, for core/batch_views.hpp.
  template <class F>
  void each(F&& f) {
    f.value(dims.graphs, dims.rows, dims.nodes, dims.triangles, dims.max_nodes, dims.further);
    for (auto* view : {&size, &node_begin, &edge_begin, &triangle_begin}) f(*view, dims.graphs);
  }
};

/// The mask of triangles: if masked[t] is 1, the score of triangle t becomes `fill`.  An empty mask masks no triangle.
struct triangle_mask {
  vec<std::uint8_t const> masked{nullptr, 0};  // (triangles) or (0)
  double fill = -1e9;                          // the paper's programs use -1e9 (CLUTRR) and -1e3 (COGS, CFQ)

  constexpr bool empty() const { return masked.extent(0) == 0; }
  template <class F>
  void each(F&& f) {
    f.maybe(masked);
    f.value(fill);
  }
};

}  // namespace triad
