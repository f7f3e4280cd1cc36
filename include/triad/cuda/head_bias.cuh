// Biases of heads, with one warp for each row and head.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/cuda/device/rows.cuh"
#include "triad/ops/head_bias.hpp"

namespace triad::cuda {

namespace detail {

/// The row and head of a warp.  A warp beyond the last head has no columns.
struct head_of_row {
  index_t r, h, first, k;
  bool live;
  TRIAD_DEVICE head_of_row(block const& b, index_t rows, index_t heads, index_t d) {
    index_t const item = b.index() * row_warps + b.row();
    live = item < rows * heads;
    r = live ? item / heads : 0;
    h = live ? item % heads : 0;
    k = live ? d / heads : 0;
    first = h * (d / heads);
  }
};

template <class T>
struct head_bias_rows {
  static constexpr char const* name = "head_bias_add";
  static constexpr int threads = row_threads;
  TRIAD_DEVICE void operator()(block const& b, tensor<T const, dyn, dyn> s, vec<T const> bias,
                               tensor<T, dyn, dyn> y) const {
    head_of_row const own(b, y.extent(0), s.extent(1), y.extent(1));
    each_column<0>(b.lane(), own.k,
                   [&](int, index_t e) { y(own.r, own.first + e) += s(own.r, own.h) * bias(own.first + e); });
  }
};

template <class T>
struct head_bias_grad_rows {
  static constexpr char const* name = "head_bias_grad";
  static constexpr int threads = row_threads;
  TRIAD_DEVICE void operator()(block const& b, tensor<T const, dyn, dyn> s, vec<T const> bias,
                               tensor<T const, dyn, dyn> dy, tensor<T, dyn, dyn> ds,
                               tensor<T, dyn, dyn> measured) const {
    head_of_row const own(b, dy.extent(0), s.extent(1), dy.extent(1));
    T sum = 0;
    each_column<0>(b.lane(), own.k, [&](int, index_t e) {
      index_t const c = own.first + e;
      sum += dy(own.r, c) * bias(c);
      measured(own.r, c) = s(own.r, own.h) * dy(own.r, c);
    });
    sum = warp_sum(b, sum);
    if (own.live && b.lane() == 0) ds(own.r, own.h) = sum;
  }
};

}  // namespace detail

template <class T>
void do_head_bias_add(backend& ex, tensor<T const, dyn, dyn> s, vec<T const> b, tensor<T, dyn, dyn> y) {
  launch(ex, detail::head_bias_rows<T>{}, blocks_for(y.extent(0) * s.extent(1), row_warps), s, b, y);
}

template <class T>
void do_head_bias_grad(backend& ex, tensor<T const, dyn, dyn> s, vec<T const> b, tensor<T const, dyn, dyn> dy,
                       tensor<T, dyn, dyn> ds, tensor<T, dyn, dyn> measured) {
  launch(ex, detail::head_bias_grad_rows<T>{}, blocks_for(dy.extent(0) * s.extent(1), row_warps), s, b, dy, ds,
         measured);
}

}  // namespace triad::cuda
