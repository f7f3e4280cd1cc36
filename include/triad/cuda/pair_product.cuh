// Dot products of the vectors of both nodes of every edge.  One warp computes the products of a node, and one warp
// computes each of the two gradients of a node.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/cuda/device/rows.cuh"
#include "triad/ops/pair_product.hpp"

namespace triad::cuda {

namespace detail {

/// The node of a warp in its graph.  A warp beyond the last node gets a graph without nodes: the warp takes part in all
/// shuffles and barriers, but writes nothing.
struct node_place {
  index_t n, first, edge, own;  // nodes, first node and first edge of the graph; number of this node in the graph

  TRIAD_DEVICE node_place(block const& b, graph_batch const& g) {
    index_t const item = b.index() * row_warps + b.row();
    bool const live = item < g.dims.nodes;
    index_t const at = live ? item : 0, graph = last_begun(b, g.node_begin, at);
    n = live ? g.size(graph) : 0;
    first = g.node_begin(graph);
    edge = g.edge_begin(graph);
    own = at - first;
  }
};

template <class T>
struct pair_product_nodes {
  static constexpr char const* name = "pair_product";
  static constexpr int threads = row_threads;

  TRIAD_DEVICE void operator()(block const& b, graph_batch g, matrix<T const> x, matrix<T const> z, vec<T> y) const {
    node_place const at(b, g);
    for (index_t j = 0; j < at.n; ++j) {
      T sum = 0;
      for (index_t f = b.lane(); f < x.extent(1); f += warp) sum += x(at.first + at.own, f) * z(at.first + j, f);
      sum = warp_sum(b, sum);
      if (b.lane() == 0) y(at.edge + at.own * at.n + j) = sum;
    }
  }
};

/// Computes the gradient of a if `of_a` is true, else of b.  `stride` is the distance between the edges of a node to
/// successive nodes.
template <class T>
struct pair_product_grad_nodes {
  static constexpr char const* name = "pair_product_grad";
  static constexpr int threads = row_threads;

  TRIAD_DEVICE void operator()(block const& b, graph_batch g, bool of_a, matrix<T const> other, vec<T const> dy,
                               matrix<T> d) const {
    node_place const at(b, g);
    index_t const edge = at.edge + (of_a ? at.own * at.n : at.own), stride = of_a ? 1 : at.n;
    if (at.n == 0) return;  // the whole warp returns; the block has no barrier below
    for (index_t f = b.lane(); f < d.extent(1); f += warp) {
      T sum = 0;
      for (index_t j = 0; j < at.n; ++j) sum += dy(edge + j * stride) * other(at.first + j, f);
      d(at.first + at.own, f) = sum;
    }
  }
};

}  // namespace detail

template <class T>
void do_pair_product(backend& ex, graph_batch const& g, matrix<T const> a, matrix<T const> b, vec<T> y) {
  launch(ex, detail::pair_product_nodes<T>{}, blocks_for(g.dims.nodes, row_warps), g, a, b, y);
}

template <class T>
void do_pair_product_grad(backend& ex, graph_batch const& g, matrix<T const> a, matrix<T const> b, vec<T const> dy,
                          matrix<T> da, matrix<T> db) {
  index_t const blocks = blocks_for(g.dims.nodes, row_warps);
  launch(ex, detail::pair_product_grad_nodes<T>{}, blocks, g, true, b, dy, da);
  launch(ex, detail::pair_product_grad_nodes<T>{}, blocks, g, false, a, dy, db);
}

}  // namespace triad::cuda
