// Elementwise functions: four elements a thread, all read before one is written.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/cuda/device/launch.cuh"
#include "triad/ops/elementwise.hpp"

namespace triad::cuda {

namespace detail {

/// Elements of one thread, `threads` apart, so that neighbours read neighbours.
inline constexpr int elementwise_threads = 256, elementwise_each = 4,
                     elementwise_block = elementwise_threads * elementwise_each;

/// f(slot, element) for the elements of a thread.
template <class F>
TRIAD_DEVICE void each_element(block const& b, index_t count, F&& f) {
  TRIAD_UNROLL
  for (int k = 0; k < elementwise_each; ++k)
    if (index_t const i = b.index() * elementwise_block + k * elementwise_threads + b.thread(); i < count) f(k, i);
}

template <class F, class T>
struct transform_one {
  static constexpr char const* name = "transform of one";
  static constexpr int threads = elementwise_threads;
  F f;

  TRIAD_DEVICE void operator()(block const& b, vec<T const> x, vec<T> y) const {
    T v[elementwise_each] = {};
    each_element(b, y.extent(0), [&](int k, index_t i) { v[k] = x(i); });
    each_element(b, y.extent(0), [&](int k, index_t i) { y(i) = f(v[k]); });
  }
};

template <class F, class T>
struct transform_two {
  static constexpr char const* name = "transform of two";
  static constexpr int threads = elementwise_threads;
  F f;

  TRIAD_DEVICE void operator()(block const& b, vec<T const> x, vec<T const> z, vec<T> y) const {
    T v[elementwise_each] = {}, w[elementwise_each] = {};
    each_element(b, y.extent(0), [&](int k, index_t i) {
      v[k] = x(i);
      w[k] = z(i);
    });
    each_element(b, y.extent(0), [&](int k, index_t i) { y(i) = f(v[k], w[k]); });
  }
};

template <class T>
struct fill_all {
  static constexpr char const* name = "fill";
  static constexpr int threads = elementwise_threads;
  T value;

  TRIAD_DEVICE void operator()(block const& b, vec<T> y) const {
    each_element(b, y.extent(0), [&](int, index_t i) { y(i) = value; });
  }
};

}  // namespace detail

template <class F, class T>
void do_transform(backend& ex, F f, vec<T const> x, vec<T> y) {
  launch(ex, detail::transform_one<F, T>{f}, blocks_for(y.extent(0), detail::elementwise_block), x, y);
}

template <class F, class T>
void do_transform(backend& ex, F f, vec<T const> a, vec<T const> b, vec<T> y) {
  launch(ex, detail::transform_two<F, T>{f}, blocks_for(y.extent(0), detail::elementwise_block), a, b, y);
}

template <class T>
void do_fill(backend& ex, T value, vec<T> y) {
  launch(ex, detail::fill_all<T>{value}, blocks_for(y.extent(0), detail::elementwise_block), y);
}

}  // namespace triad::cuda
