// Elementwise functions.  A thread computes four elements, and reads all four before it writes one.
// SPDX-License-Identifier: Apache-2.0
//
//   elements that thread t of block b has, counted from b * 1024           loads of a view
//   whole_groups, float     4 t .. 4 t + 3                                 1
//   whole_groups, double    2 t, 2 t + 1 and 512 + 2 t, 512 + 2 t + 1      2
//   single_elements         t, 256 + t, 512 + t, 768 + t                   4
#pragma once

#include <cstdint>
#include <cstring>

#include "triad/cuda/device/launch.cuh"
#include "triad/ops/elementwise.hpp"

namespace triad::cuda {

namespace detail {

inline constexpr int elementwise_threads = 256, elementwise_each = 4,
                     elementwise_block = elementwise_threads * elementwise_each;

/// The data of one 16-byte load or store.
template <class T>
struct alignas(16) sixteen_bytes {
  static constexpr int count = 16 / sizeof(T);
  static_assert(elementwise_each % count == 0, "triad: a thread has whole groups of 16 bytes");
  T at[count];
};
template <class... T>
bool begin_on_16_bytes(vec<T>... views) {
  return ((reinterpret_cast<std::uintptr_t>(views.data_handle()) % 16 == 0) && ...);
}

/// Assigns the elements of a full block to threads in groups of 16 bytes, if all views are aligned to 16 bytes.
struct whole_groups {
  template <class T>
  TRIAD_DEVICE static void read(block const& b, vec<T const> x, T (&v)[elementwise_each]) {
    each_group<T>(b, [&](int k, index_t i) {
      auto const group = *reinterpret_cast<sixteen_bytes<T> const*>(x.data_handle() + i);
      TRIAD_UNROLL
      for (int e = 0; e < sixteen_bytes<T>::count; ++e) v[k + e] = group.at[e];
    });
  }
  template <class T>
  TRIAD_DEVICE static void write(block const& b, T const (&v)[elementwise_each], vec<T> y) {
    each_group<T>(b, [&](int k, index_t i) {
      sixteen_bytes<T> group;
      TRIAD_UNROLL
      for (int e = 0; e < sixteen_bytes<T>::count; ++e) group.at[e] = v[k + e];
      *reinterpret_cast<sixteen_bytes<T>*>(y.data_handle() + i) = group;
    });
  }
  /// Calls f(k) for each element k of a thread.
  template <class F>
  TRIAD_DEVICE static void each(block const&, index_t, F&& f) {
    TRIAD_UNROLL
    for (int k = 0; k < elementwise_each; ++k) f(k);
  }

 private:
  template <class T, class F>
  TRIAD_DEVICE static void each_group(block const& b, F&& f) {
    constexpr int at_once = sixteen_bytes<T>::count;
    TRIAD_UNROLL
    for (int k = 0; k < elementwise_each; k += at_once)
      f(k, b.index() * elementwise_block + (k / at_once * elementwise_threads + b.thread()) * at_once);
  }
};

/// Assigns single elements to threads, if a block is not full or a view is not aligned.  Neighbouring threads read
/// neighbouring elements.
struct single_elements {
  template <class T>
  TRIAD_DEVICE static void read(block const& b, vec<T const> x, T (&v)[elementwise_each]) {
    each_element(b, x.extent(0), [&](int k, index_t i) { v[k] = x(i); });
  }
  template <class T>
  TRIAD_DEVICE static void write(block const& b, T const (&v)[elementwise_each], vec<T> y) {
    each_element(b, y.extent(0), [&](int k, index_t i) { y(i) = v[k]; });
  }
  template <class F>
  TRIAD_DEVICE static void each(block const& b, index_t count, F&& f) {
    each_element(b, count, [&](int k, index_t) { f(k); });
  }

 private:
  /// Calls f(k, i) for each element k of a thread, where i is the number of the element in the view.
  template <class F>
  TRIAD_DEVICE static void each_element(block const& b, index_t count, F&& f) {
    TRIAD_UNROLL
    for (int k = 0; k < elementwise_each; ++k)
      if (index_t const i = b.index() * elementwise_block + k * elementwise_threads + b.thread(); i < count) f(k, i);
  }
};

/// Calls work() with whole_groups or single_elements, which assign the elements of a block to its threads.  `aligned`
/// says whether all views are aligned to 16 bytes.
template <class Work>
TRIAD_DEVICE void by_block(block const& b, bool aligned, index_t count, Work&& work) {
  if (aligned && (b.index() + 1) * elementwise_block <= count)
    work(whole_groups{});
  else
    work(single_elements{});
}

template <class F, class T>
struct transform_one {
  static constexpr char const* name = "transform of one";
  static constexpr int threads = elementwise_threads;
  F f;
  bool aligned;

  TRIAD_DEVICE void operator()(block const& b, vec<T const> x, vec<T> y) const {
    by_block(b, aligned, y.extent(0), [&](auto share) {
      T v[elementwise_each] = {};
      share.read(b, x, v);
      share.each(b, y.extent(0), [&](int k) { v[k] = f(v[k]); });
      share.write(b, v, y);
    });
  }
};

template <class F, class T>
struct transform_two {
  static constexpr char const* name = "transform of two";
  static constexpr int threads = elementwise_threads;
  F f;
  bool aligned;

  TRIAD_DEVICE void operator()(block const& b, vec<T const> x, vec<T const> z, vec<T> y) const {
    by_block(b, aligned, y.extent(0), [&](auto share) {
      T v[elementwise_each] = {}, w[elementwise_each] = {};
      share.read(b, x, v);
      share.read(b, z, w);
      share.each(b, y.extent(0), [&](int k) { v[k] = f(v[k], w[k]); });
      share.write(b, v, y);
    });
  }
};

template <class T>
struct fill_all {
  static constexpr char const* name = "fill";
  static constexpr int threads = elementwise_threads;
  T value;
  bool aligned;

  TRIAD_DEVICE void operator()(block const& b, vec<T> y) const {
    T v[elementwise_each];
    TRIAD_UNROLL
    for (T& e : v) e = value;
    by_block(b, aligned, y.extent(0), [&](auto share) { share.write(b, v, y); });
  }
};

}  // namespace detail

template <class F, class T>
void do_transform(backend& ex, F f, vec<T const> x, vec<T> y) {
  bool const aligned = detail::begin_on_16_bytes(x, y);
  launch(ex, detail::transform_one<F, T>{f, aligned}, blocks_for(y.extent(0), detail::elementwise_block), x, y);
}

template <class F, class T>
void do_transform(backend& ex, F f, vec<T const> a, vec<T const> b, vec<T> y) {
  bool const aligned = detail::begin_on_16_bytes(a, b, y);
  launch(ex, detail::transform_two<F, T>{f, aligned}, blocks_for(y.extent(0), detail::elementwise_block), a, b, y);
}

/// The memset of the runtime writes zeros without a kernel.  memset cannot write -0, because not all bits of -0 are
/// zero.
template <class T>
void do_fill(backend& ex, T value, vec<T> y) {
  constexpr T zero = 0;
  if (y.extent(0) == 0) return;
  if (std::memcmp(&value, &zero, sizeof(T)) == 0)
    ex.where().zero(y.data_handle(), static_cast<std::size_t>(y.extent(0)) * sizeof(T));
  else
    launch(ex, detail::fill_all<T>{value, detail::begin_on_16_bytes(y)},
           blocks_for(y.extent(0), detail::elementwise_block), y);
}

}  // namespace triad::cuda
