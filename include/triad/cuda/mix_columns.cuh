// Mixtures of the columns of each grid.  A block computes one grid.  A thread computes an element of y or of dx, and a
// warp computes the gradient of a weight.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/cuda/device/rows.cuh"
#include "triad/ops/mix_columns.hpp"

namespace triad::cuda {

namespace detail {

template <class T>
struct mix_columns_grid {
  static constexpr char const* name = "mix_columns";
  static constexpr int threads = row_threads;

  TRIAD_DEVICE void operator()(block const& b, grid_batch from, grid_batch to, vec<index_t const> mix_begin,
                               vec<T const> mix, matrix<T const> x, matrix<T> y) const {
    triad::detail::mixed_grid const g(from, to, mix_begin, b.index());
    index_t const values = x.extent(1);
    for (index_t q = b.thread(); q < g.n * g.to * values; q += threads) {
      index_t const k = q % values, cell = q / values, a = cell % g.to, first = g.from_cell + cell / g.to * g.from;
      T sum = 0;
      for (index_t c = 0; c < g.from; ++c) sum += mix(g.weight + a * g.from + c) * x(first + c, k);
      y(g.to_cell + cell, k) = sum;
    }
  }
};

template <class T>
struct mix_columns_grad_grid {
  static constexpr char const* name = "mix_columns_grad";
  static constexpr int threads = row_threads;

  TRIAD_DEVICE void operator()(block const& b, grid_batch from, grid_batch to, vec<index_t const> mix_begin,
                               vec<T const> mix, matrix<T const> x, matrix<T const> dy, vec<T> dmix,
                               matrix<T> dx) const {
    triad::detail::mixed_grid const g(from, to, mix_begin, b.index());
    index_t const values = x.extent(1);
    for (index_t q = b.thread(); q < g.n * g.from * values; q += threads) {
      index_t const k = q % values, cell = q / values, c = cell % g.from, first = g.to_cell + cell / g.from * g.to;
      T sum = 0;
      for (index_t a = 0; a < g.to; ++a) sum += mix(g.weight + a * g.from + c) * dy(first + a, k);
      dx(g.from_cell + cell, k) = sum;
    }
    for (index_t p = b.row(); p < g.to * g.from; p += row_warps) {
      index_t const a = p / g.from, c = p % g.from;
      T sum = 0;
      for (index_t q = b.lane(); q < g.n * values; q += warp)
        sum += dy(g.to_cell + q / values * g.to + a, q % values) * x(g.from_cell + q / values * g.from + c, q % values);
      sum = warp_sum(b, sum);
      if (b.lane() == 0) dmix(g.weight + p) = sum;
    }
  }
};

}  // namespace detail

template <class T>
void do_mix_columns(backend& ex, grid_batch const& from, grid_batch const& to, vec<index_t const> mix_begin,
                    vec<T const> mix, matrix<T const> x, matrix<T> y) {
  launch(ex, detail::mix_columns_grid<T>{}, from.dims.graphs, from, to, mix_begin, mix, x, y);
}

template <class T>
void do_mix_columns_grad(backend& ex, grid_batch const& from, grid_batch const& to, vec<index_t const> mix_begin,
                         vec<T const> mix, matrix<T const> x, matrix<T const> dy, vec<T> dmix, matrix<T> dx) {
  launch(ex, detail::mix_columns_grad_grid<T>{}, from.dims.graphs, from, to, mix_begin, mix, x, dy, dmix, dx);
}

}  // namespace triad::cuda
