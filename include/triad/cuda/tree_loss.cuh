// The loss of trees and their symbols, a warp a row.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda/std/cmath>
#include <cuda/std/limits>

#include "triad/cuda/device/rows.cuh"
#include "triad/ops/tree_loss.hpp"

namespace triad::cuda {

namespace detail {

/// Sum over the columns of a warp's row from 1 on of f(value, column), in all lanes.
template <class T, class F>
TRIAD_DEVICE T sum_of_symbols(block const& b, warp_row const& own, matrix<T const> const& x, F&& f) {
  T sum = 0;
  each_column<0>(b.lane(), own.d, [&](int, index_t v) {
    if (v > 0) sum += f(x(own.r, v), v);
  });
  return warp_sum(b, sum);
}

template <class T>
struct tree_loss_rows {
  static constexpr char const* name = "tree_loss";
  static constexpr int threads = row_threads;

  TRIAD_DEVICE void operator()(block const& b, matrix<T const> x, vec<index_t const> target, vec<T> of_rows,
                               matrix<T> dx) const {
    warp_row const own(b, x);
    T const per_row = T(1) / static_cast<T>(x.extent(0));
    index_t const right = own.live ? target(own.r) : 0;
    auto const error = [&](T value, index_t v) { return value - (v == right && right > 0 ? T(1) : T(0)); };
    T const squares =
        sum_of_symbols<T>(b, own, x, [&](T value, index_t v) { return error(value, v) * error(value, v); });
    T const norm = ::cuda::std::sqrt(squares), of_empty = norm > T(0) ? per_row / norm : T(0),
            slope = right > 0 ? 2 * per_row : of_empty;
    each_column<0>(b.lane(), own.d,
                   [&](int, index_t v) { dx(own.r, v) = v > 0 ? error(x(own.r, v), v) * slope : T(0); });
    if (!own.live || b.lane() != 0) return;
    // Nobody is there to tell of a symbol outside the scores, so its loss is NaN.
    bool const known = right >= 0 && right < own.d;
    of_rows(own.r) = !known ? ::cuda::std::numeric_limits<T>::quiet_NaN() : (right > 0 ? squares : norm) * per_row;
  }
};

template <class T>
struct decoded_rows {
  static constexpr char const* name = "decode_rows";
  static constexpr int threads = row_threads;

  TRIAD_DEVICE void operator()(block const& b, matrix<T const> x, T threshold, vec<index_t> symbols) const {
    warp_row const own(b, x);
    T const norm = ::cuda::std::sqrt(sum_of_symbols<T>(b, own, x, [](T value, index_t) { return value * value; }));
    T best = 0;
    index_t at = 0;
    each_column<0>(b.lane(), own.d, [&](int, index_t v) {
      if (v > 0 && x(own.r, v) > best) {
        best = x(own.r, v);
        at = v;
      }
    });
    warp_first_largest(b, best, at);
    if (own.live && b.lane() == 0) symbols(own.r) = norm > threshold ? at : 0;
  }
};

}  // namespace detail

template <class T>
void do_tree_loss(backend& ex, matrix<T const> x, vec<index_t const> target, vec<T> of_rows, matrix<T> dx) {
  launch(ex, detail::tree_loss_rows<T>{}, blocks_for(x.extent(0), row_warps), x, target, of_rows, dx);
}

template <class T>
void do_decode_rows(backend& ex, matrix<T const> x, double threshold, vec<index_t> symbols) {
  launch(ex, detail::decoded_rows<T>{}, blocks_for(x.extent(0), row_warps), x, static_cast<T>(threshold), symbols);
}

}  // namespace triad::cuda
