// Sums for all pairs of nodes of each graph.  Graphs are computed in parallel, a block of columns at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "triad/cpu/backend.hpp"
#include "triad/cpu/kernels/random.hpp"
#include "triad/reference/pair_sum.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

namespace detail {
/// Calls f(r, i, j, begin, end, kept) for every edge of a graph and every block of columns.  r is the row of the edge,
/// and i and j are the rows of its nodes.  The block has the columns [begin, end).  Bit c of `kept` is set if dropout
/// keeps column begin + c.
template <class F>
void each_pair_block(graph_batch const& g, index_t graph, index_t d, dropout_mask const& dropout,
                     keep_source const& source, F&& f) {
  index_t const n = g.size(graph), blocks = (d + dropout_block - 1) / dropout_block;
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < n; ++j)
      for (index_t b = 0; b < blocks; ++b) {
        index_t const r = g.edge_begin(graph) + i * n + j, begin = b * dropout_block;
        auto const kept =
            dropout.active() ? source.bits(static_cast<std::uint64_t>(r * blocks + b)) : ~std::uint64_t{0};
        f(r, g.node_begin(graph) + i, g.node_begin(graph) + j, begin, std::min(begin + dropout_block, d), kept);
      }
}
}  // namespace detail

template <class T>
void do_pair_sum(backend& ex, graph_batch const& g, matrix<T const> a, matrix<T const> b, dropout_mask dropout,
                 matrix<T const> residual, matrix<T> y) {
  if (a.stride(1) != 1 || b.stride(1) != 1 || y.stride(1) != 1 || (residual.extent(0) != 0 && residual.stride(1) != 1))
    return reference::do_pair_sum(ex, g, a, b, dropout, residual, y);
  keep_source const source(dropout);
  T const scale = dropout.active() ? T(dropout.scale()) : T(1);
  parallel_for(ex, g.dims.graphs, [&](index_t graph, int) {
    detail::each_pair_block(g, graph, y.extent(1), dropout, source,
                            [&](index_t r, index_t i, index_t j, index_t begin, index_t end, std::uint64_t kept) {
                              T const *const left = &a(i, 0), *const right = &b(j, 0);
                              T* const to = &y(r, 0);
                              if (residual.extent(0) != 0) {
                                T const* const from = &residual(r, 0);
#pragma omp simd
                                for (index_t f = begin; f < end; ++f)
                                  to[f] =
                                      from[f] + ((kept >> (f - begin) & 1) != 0 ? scale * (left[f] + right[f]) : T(0));
                              } else {
#pragma omp simd
                                for (index_t f = begin; f < end; ++f)
                                  to[f] = (kept >> (f - begin) & 1) != 0 ? scale * (left[f] + right[f]) : T(0);
                              }
                            });
  });
}

template <class T>
void do_pair_sum_grad(backend& ex, graph_batch const& g, dropout_mask dropout, matrix<T const> dy, matrix<T> da,
                      matrix<T> db) {
  if (dy.stride(1) != 1 || da.stride(1) != 1 || db.stride(1) != 1)
    return reference::do_pair_sum_grad(ex, g, dropout, dy, da, db);
  keep_source const source(dropout);
  index_t const d = dy.extent(1);
  T const scale = dropout.active() ? T(dropout.scale()) : T(1);
  parallel_for(ex, g.dims.graphs, [&](index_t graph, int) {
    for (index_t i = g.node_begin(graph); i < g.node_begin(graph) + g.size(graph); ++i) {
      std::fill_n(&da(i, 0), d, T(0));
      std::fill_n(&db(i, 0), d, T(0));
    }
    detail::each_pair_block(g, graph, d, dropout, source,
                            [&](index_t r, index_t i, index_t j, index_t begin, index_t end, std::uint64_t kept) {
                              T const* const from = &dy(r, 0);
                              T *const left = &da(i, 0), *const right = &db(j, 0);
#pragma omp simd
                              for (index_t f = begin; f < end; ++f) {
                                T const dz = (kept >> (f - begin) & 1) != 0 ? scale * from[f] : T(0);
                                left[f] += dz;
                                right[f] += dz;
                              }
                            });
  });
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
