// The loss of trees, and the symbols of trees, with one warp per row.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda/std/cmath>
#include <cuda/std/limits>

#include "triad/cuda/device/rows.cuh"
#include "triad/ops/tree_loss.hpp"

namespace triad::cuda {

namespace detail {

/// Returns the sum of f(value, column) over the columns of a warp's row from column 1 on.  All lanes get the same sum.
template <class T, class F>
TRIAD_DEVICE T sum_of_symbols(block const& b, warp_row const& own, matrix<T const> const& x, F&& f) {
  T sum = 0;
  each_column<0>(b.lane(), own.d, [&](int, index_t v) {
    if (v > 0) sum += f(x(own.r, v), v);
  });
  return warp_sum(b, sum);
}

/// h(x) of ops/tree_loss.hpp, and its slope.
template <class T>
struct distance_from_one {
  T value, slope;

  TRIAD_DEVICE distance_from_one(tree_distance distance, T floor, T x) {
    T const at = x <= floor ? floor : x;  // a NaN stays a NaN
    bool const squared = distance == tree_distance::squared;
    slope = squared ? 2 * (x - T(1)) : T(1) - T(1) / at;
    // log1p(at - 1) is precise if `at` is near 1, and log(at) is precise if `at` is near 0.
    T const log = at < T(0.5) ? ::cuda::std::log(at) : ::cuda::std::log1p(at - T(1));
    value = squared ? (x - T(1)) * (x - T(1)) : (at - T(1)) - log + (x - at) * slope;
  }
};

template <class T>
struct tree_loss_rows {
  static constexpr char const* name = "tree_loss";
  static constexpr int threads = row_threads;

  TRIAD_DEVICE void operator()(block const& b, matrix<T const> x, vec<index_t const> target, vec<T> of_rows,
                               matrix<T> dx, tree_distance distance, T floor, T empty_weight) const {
    warp_row const own(b, x);
    T const per_row = T(1) / static_cast<T>(x.extent(0)), per_empty = per_row * empty_weight;
    index_t const symbol = own.live ? target(own.r) : 0;
    auto const is_target = [&](index_t v) { return v == symbol && symbol > 0; };
    // of() is called only for a target symbol.  A row whose target is <empty> does not need of().
    auto const of = [&](T value) { return distance_from_one<T>(distance, floor, value); };
    T const sum = sum_of_symbols<T>(b, own, x,
                                    [&](T value, index_t v) { return is_target(v) ? of(value).value : value * value; });
    T const norm = ::cuda::std::sqrt(sum), of_empty = norm == T(0) ? T(0) : per_empty / norm,
            slope = symbol > 0 ? 2 * per_row : of_empty;
    each_column<0>(b.lane(), own.d, [&](int, index_t v) {
      T const value = x(own.r, v);
      dx(own.r, v) = v == 0 ? T(0) : is_target(v) ? per_row * of(value).slope : value * slope;
    });
    if (!own.live || b.lane() != 0) return;
    // A kernel cannot report a symbol outside the scores, so the loss of the row is NaN.
    bool const known = symbol >= 0 && symbol < own.d;
    of_rows(own.r) = !known       ? ::cuda::std::numeric_limits<T>::quiet_NaN()
                     : symbol > 0 ? sum * per_row
                                  : norm * per_empty;
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
void do_tree_loss(backend& ex, matrix<T const> x, vec<index_t const> target, vec<T> of_rows, matrix<T> dx,
                  tree_loss_options const& o) {
  launch(ex, detail::tree_loss_rows<T>{}, blocks_for(x.extent(0), row_warps), x, target, of_rows, dx, o.distance,
         static_cast<T>(o.floor), static_cast<T>(o.empty_weight));
}

template <class T>
void do_decode_rows(backend& ex, matrix<T const> x, double threshold, vec<index_t> symbols) {
  launch(ex, detail::decoded_rows<T>{}, blocks_for(x.extent(0), row_warps), x, static_cast<T>(threshold), symbols);
}

}  // namespace triad::cuda
