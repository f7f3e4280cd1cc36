// Softmax of rows, with one warp per row.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/cuda/device/rows.cuh"
#include "triad/ops/softmax.hpp"

namespace triad::cuda {

namespace detail {

template <class T, int Held>
struct softmax_rows {
  static constexpr char const* name = "softmax";
  static constexpr int threads = row_threads;

  TRIAD_DEVICE void operator()(block const& b, matrix<T const> x, matrix<T> y) const {
    warp_row const own(b, x);
    lane_values<T, Held> const v(b, x, own.r, own.d);
    softmax_total<T> const total(b, v, own.d);
    each_column<Held>(b.lane(), own.d, [&](int k, index_t c) { y(own.r, c) = total.probability(v(k, c)); });
  }
};

template <class T, int Held>
struct softmax_grad_rows {
  static constexpr char const* name = "softmax_grad";
  static constexpr int threads = row_threads;

  TRIAD_DEVICE void operator()(block const& b, matrix<T const> y, matrix<T const> dy, matrix<T> dx) const {
    warp_row const own(b, y);
    lane_values<T, Held> const p(b, y, own.r, own.d), dp(b, dy, own.r, own.d);
    T delta = 0;
    each_column<Held>(b.lane(), own.d, [&](int k, index_t c) { delta += p(k, c) * dp(k, c); });
    delta = warp_sum(b, delta);
    each_column<Held>(b.lane(), own.d, [&](int k, index_t c) { dx(own.r, c) = p(k, c) * (dp(k, c) - delta); });
  }
};

}  // namespace detail

template <class T>
void do_softmax(backend& ex, matrix<T const> x, matrix<T> y) {
  launch_rows<detail::softmax_rows, T>(ex, x.extent(0), x.extent(1), x, y);
}

template <class T>
void do_softmax_grad(backend& ex, matrix<T const> y, matrix<T const> dy, matrix<T> dx) {
  launch_rows<detail::softmax_grad_rows, T>(ex, y.extent(0), y.extent(1), y, dy, dx);
}

}  // namespace triad::cuda
