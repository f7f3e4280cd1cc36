// Mixtures of the columns of each grid.  Grids are computed in parallel.  The few values of a cell stay in registers,
// because the compiler knows their number.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <type_traits>

#include "triad/cpu/backend.hpp"
#include "triad/cpu/kernels/constant.hpp"
#include "triad/cpu/kernels/parallel.hpp"
#include "triad/reference/mix_columns.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

namespace detail {

/// The number of values of a cell up to which loops over them have a compile-time length.
inline constexpr int most_values_of_cell = 4;

/// Calls f(width, begin) for blocks of the values of a cell.  `width` is a compile-time constant.
template <class F>
void each_block_of_values(index_t values, F&& f) {
  for (index_t begin = 0; begin < values; begin += most_values_of_cell)
    with_constant<most_values_of_cell>(values - begin, [&](auto width) { f(width, begin); });
}

}  // namespace detail

template <class T>
void do_mix_columns(backend& ex, grid_batch const& from, grid_batch const& to, vec<index_t const> mix_begin,
                    vec<T const> mix, matrix<T const> x, matrix<T> y) {
  if (x.stride(1) != 1 || y.stride(1) != 1) return reference::do_mix_columns(ex, from, to, mix_begin, mix, x, y);
  triad::detail::expect_mixed_grids(from, to, mix_begin, mix.extent(0));
  parallel_for(ex, from.dims.graphs, [&](index_t graph, int) {
    triad::detail::mixed_grid const g(from, to, mix_begin, graph);
    T const* const weights = mix.data_handle() + g.weight;
    detail::each_block_of_values(x.extent(1), [&](auto width, index_t begin) {
      constexpr int K = decltype(width)::value;
      constexpr std::size_t values = K;
      for (index_t t = 0; t < g.n; ++t)
        for (index_t a = 0; a < g.to; ++a) {
          T const *at = x.data_handle() + (g.from_cell + t * g.from) * x.stride(0) + begin, *const row =
                                                                                                weights + a * g.from;
          T sum[values] = {};
          for (index_t c = 0; c < g.from; ++c, at += x.stride(0))
            for (int k = 0; k < K; ++k) sum[k] += row[c] * at[k];
          std::copy_n(sum, K, y.data_handle() + (g.to_cell + t * g.to + a) * y.stride(0) + begin);
        }
    });
  });
}

template <class T>
void do_mix_columns_grad(backend& ex, grid_batch const& from, grid_batch const& to, vec<index_t const> mix_begin,
                         vec<T const> mix, matrix<T const> x, matrix<T const> dy, vec<T> dmix, matrix<T> dx) {
  if (x.stride(1) != 1 || dy.stride(1) != 1 || dx.stride(1) != 1)
    return reference::do_mix_columns_grad(ex, from, to, mix_begin, mix, x, dy, dmix, dx);
  triad::detail::expect_mixed_grids(from, to, mix_begin, mix.extent(0));
  parallel_for(ex, from.dims.graphs, [&](index_t graph, int) {
    triad::detail::mixed_grid const g(from, to, mix_begin, graph);
    T const* const weights = mix.data_handle() + g.weight;
    T* const d_weights = dmix.data_handle() + g.weight;
    std::fill_n(d_weights, g.to * g.from, T(0));
    detail::each_block_of_values(x.extent(1), [&](auto width, index_t begin) {
      constexpr int K = decltype(width)::value;
      constexpr std::size_t values = K;
      for (index_t t = 0; t < g.n; ++t)
        for (index_t c = 0; c < g.from; ++c) {
          index_t const cell = g.from_cell + t * g.from + c;
          T const *const at = x.data_handle() + cell * x.stride(0) + begin,
                         *d = dy.data_handle() + g.to_cell * dy.stride(0) + t * g.to * dy.stride(0) + begin;
          T sum[values] = {};
          for (index_t a = 0; a < g.to; ++a, d += dy.stride(0)) {
            T dot = 0;
            for (int k = 0; k < K; ++k) {
              sum[k] += weights[a * g.from + c] * d[k];
              dot += d[k] * at[k];
            }
            d_weights[a * g.from + c] += dot;
          }
          std::copy_n(sum, K, dx.data_handle() + cell * dx.stride(0) + begin);
        }
    });
  });
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
