// Noisy or over the tokens of a sentence.  A warp computes one row of s, one row of dp, or both roles of one cell in
// drole.  The lanes take the columns of p in turn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda/std/cmath>

#include "triad/cuda/device/rows.cuh"
#include "triad/ops/noisy_or.hpp"

namespace triad::cuda {

namespace detail {

/// The item of a warp, and the grid of this item.  A warp beyond the last item gets item 0 and no columns: the warp
/// takes part in all shuffles, but writes nothing.
template <class T>
struct noisy_or_item {
  bool live;
  index_t at, width;
  noisy_or_grid<T> grid;

  /// `begin` has the first item of each grid.  If `begin` is empty, each grid has one item.
  TRIAD_DEVICE noisy_or_item(block const& b, grid_batch const& g, vec<index_t const> begin, matrix<T const> const& role,
                             matrix<T const> const& p, index_t items)
      : live(b.index() * row_warps + b.row() < items),
        at(live ? b.index() * row_warps + b.row() : 0),
        width(live ? p.extent(1) : 0),
        grid(g, begin.extent(0) > 0 ? last_begun(b, begin, at) : at, role) {}
};

/// Returns ds kappa / (1 - x) for sum (a, c), column r of p and token t.
template <class T>
TRIAD_DEVICE T noisy_or_slope(noisy_or_grid<T> const& grid, matrix<T const> const& ds, index_t a, index_t c, index_t r,
                              T q, T p) {
  return ds(grid.first + a * grid.inner + c, r) * T(noisy_or_kappa) / (T(1) - T(noisy_or_kappa) * q * p);
}

template <class T>
struct noisy_or_rows {
  static constexpr char const* name = "noisy_or";
  static constexpr int threads = row_threads;

  TRIAD_DEVICE void operator()(block const& b, grid_batch g, vec<index_t const> begin, matrix<T const> p,
                               matrix<T const> role, matrix<T> s) const {
    noisy_or_item<T> const own(b, g, begin, role, p, s.extent(0));
    auto const& grid = own.grid;
    index_t const k = own.at - grid.first, a = k / grid.inner, c = k - a * grid.inner;
    for (index_t r = b.lane(); r < own.width; r += warp) {
      T sum = 0;
      for (index_t t = 0; t < grid.rows; ++t)
        sum += ::cuda::std::log1p(-(T(noisy_or_kappa) * grid.weight(t, a, c)) * p(grid.row + t, r));
      s(own.at, r) = sum;
    }
  }
};

template <class T>
struct noisy_or_grad_tokens {
  static constexpr char const* name = "noisy_or_grad of p";
  static constexpr int threads = row_threads;

  TRIAD_DEVICE void operator()(block const& b, grid_batch g, matrix<T const> p, matrix<T const> role,
                               matrix<T const> ds, matrix<T> dp) const {
    noisy_or_item<T> const own(b, g, g.row_begin, role, p, dp.extent(0));
    auto const& grid = own.grid;
    for (index_t r = b.lane(); r < own.width; r += warp) {
      T const mine = p(own.at, r);
      T sum = 0;
      for (index_t a = 0; a < grid.outer; ++a)
        for (index_t c = 0; c < grid.inner; ++c) {
          T const q = grid.weight(own.at - grid.row, a, c);
          sum -= q * noisy_or_slope(grid, ds, a, c, r, q, mine);
        }
      dp(own.at, r) = sum;
    }
  }
};

template <class T>
struct noisy_or_grad_cells {
  static constexpr char const* name = "noisy_or_grad of role";
  static constexpr int threads = row_threads;

  TRIAD_DEVICE void operator()(block const& b, grid_batch g, matrix<T const> p, matrix<T const> role,
                               matrix<T const> ds, matrix<T> drole) const {
    noisy_or_item<T> const own(b, g, g.cell_begin, role, p, drole.extent(0));
    auto const& grid = own.grid;
    index_t const cell = own.at - grid.cell, t = cell / grid.columns, a = cell - t * grid.columns;
    // Returns the sum over the columns of p of -h p, for sum (i, j) of the grid.
    auto const slope = [&](index_t i, index_t j) {
      T const q = grid.weight(t, i, j);
      T sum = 0;
      for (index_t r = b.lane(); r < own.width; r += warp) {
        T const mine = p(grid.row + t, r);
        sum -= noisy_or_slope(grid, ds, i, j, r, q, mine) * mine;
      }
      return sum;
    };
    for (index_t k = 0; k < role.extent(1); ++k) {
      T sum = 0;
      for (index_t other = 0; other < grid.inner; ++other)
        if (role.extent(1) == 1)
          sum += slope(a, 0);
        else if (k == 0)
          sum += slope(a, other) * role(grid.cell + t * grid.columns + other, 1);
        else
          sum += slope(other, a) * role(grid.cell + t * grid.columns + other, 0);
      sum = warp_sum(b, sum);
      if (own.live && b.lane() == 0) drole(own.at, k) = sum;
    }
  }
};

}  // namespace detail

template <class T>
void do_noisy_or(backend& ex, grid_batch const& g, matrix<T const> p, matrix<T const> role, matrix<T> s) {
  vec<index_t const> const begin = role.extent(1) > 1   ? g.pair_begin
                                   : role.extent(1) > 0 ? g.column_begin
                                                        : vec<index_t const>(nullptr, 0);
  launch(ex, detail::noisy_or_rows<T>{}, blocks_for(s.extent(0), row_warps), g, begin, p, role, s);
}

template <class T>
void do_noisy_or_grad(backend& ex, grid_batch const& g, matrix<T const> p, matrix<T const> role, matrix<T const> ds,
                      matrix<T> dp, matrix<T> drole) {
  launch(ex, detail::noisy_or_grad_tokens<T>{}, blocks_for(dp.extent(0), row_warps), g, p, role, ds, dp);
  launch(ex, detail::noisy_or_grad_cells<T>{}, blocks_for(drole.extent(0), row_warps), g, p, role, ds, drole);
}

}  // namespace triad::cuda
