// Sums for all pairs of nodes of each graph.  In forward, a warp computes 128 columns of one edge.  In backward, a
// block computes 64 columns of the gradient of one node.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/cuda/device/rows.cuh"
#include "triad/cuda/dropout.cuh"
#include "triad/ops/pair_sum.hpp"

namespace triad::cuda {

namespace detail {

template <class T>
struct pair_sum_rows {
  static constexpr char const* name = "pair_sum";
  static constexpr int threads = row_threads;

  TRIAD_DEVICE void operator()(block const& b, graph_batch g, matrix<T const> x, matrix<T const> z, drop_rule<T> drop,
                               matrix<T const> residual, matrix<T> y) const {
    row_span const span(b, y.extent(0), y.extent(1), drop);
    index_t const r = span.row(), graph = last_begun(b, g.edge_begin, r), n = g.size(graph),
                  e = r - g.edge_begin(graph);
    index_t const i = g.node_begin(graph) + e / n, j = g.node_begin(graph) + e % n;
    T v[4] = {}, before[4] = {};
    span.each([&](int w, index_t c) {
      v[w] = x(i, c) + z(j, c);
      if (residual.extent(0) != 0) before[w] = residual(r, c);
    });
    span.each([&](int w, index_t c) { y(r, c) = before[w] + drop(v[w], span.keeps(w)); });
  }
};

/// Computes da and db.  A block computes 64 columns of one node, in da or in db.  The half warps of the block take the
/// edges of the node in turn, and the sums of the half warps are added in order.
template <class T>
struct pair_sum_grad_nodes {
  static constexpr char const* name = "pair_sum_grad";
  static constexpr int threads = 128, halves = threads / 16;
  struct shared {
    T part[halves][dropout_block];
  };

  TRIAD_DEVICE void operator()(block const& b, graph_batch g, drop_rule<T> drop, matrix<T const> dy, matrix<T> da,
                               matrix<T> db) const {
    auto& s = b.shared<shared>();
    index_t const d = dy.extent(1), blocks = (d + dropout_block - 1) / dropout_block;
    index_t const at = b.index() % blocks, node = b.index() / blocks / 2, graph = last_begun(b, g.node_begin, node),
                  n = g.size(graph);
    bool const to_a = b.index() / blocks % 2 == 0;  // da sums over row i of the pairs, and db over column j
    index_t const own = node - g.node_begin(graph), first = g.edge_begin(graph) + (to_a ? own * n : own),
                  stride = to_a ? 1 : n;
    int const half = b.thread() / 16, q = b.thread() % 16;
    T sum[4] = {};
    for (index_t k = half; k < n; k += halves) {
      index_t const r = first + k * stride;
      philox_words words{};
      if (drop.active)
        words = philox(drop.mask.counter(static_cast<std::uint64_t>((r * blocks + at) * 16 + q)), drop.mask.key);
      TRIAD_UNROLL
      for (int w = 0; w < 4; ++w)
        if (index_t const c = at * dropout_block + 16 * w + q; c < d)
          sum[w] += drop(dy(r, c), !drop.active || words[static_cast<unsigned>(w)] >= drop.threshold);
    }
    TRIAD_UNROLL
    for (int w = 0; w < 4; ++w) s.part[half][16 * w + q] = sum[w];
    b.sync();
    index_t const c = at * dropout_block + b.thread();
    if (b.thread() >= dropout_block || c >= d) return;
    T total = 0;
    for (int h = 0; h < halves; ++h) total += s.part[h][b.thread()];
    (to_a ? da : db)(node, c) = total;
  }
};

}  // namespace detail

template <class T>
void do_pair_sum(backend& ex, graph_batch const& g, matrix<T const> a, matrix<T const> b, dropout_mask dropout,
                 matrix<T const> residual, matrix<T> y) {
  launch(ex, detail::pair_sum_rows<T>{}, blocks_for(spans_of(y.extent(0), y.extent(1)), row_warps), g, a, b,
         drop_rule<T>(dropout), residual, y);
}

template <class T>
void do_pair_sum_grad(backend& ex, graph_batch const& g, dropout_mask dropout, matrix<T const> dy, matrix<T> da,
                      matrix<T> db) {
  launch(ex, detail::pair_sum_grad_nodes<T>{}, da.extent(0) * 2 * blocks_for(dy.extent(1), dropout_block), g,
         drop_rule<T>(dropout), dy, da, db);
}

}  // namespace triad::cuda
