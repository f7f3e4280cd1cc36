// Elementwise functions in parallel chunks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/cpu/backend.hpp"
#include "triad/reference/elementwise.hpp"

namespace triad::cpu {

inline constexpr index_t elementwise_chunk = 1 << 14;

template <class F, class T>
void do_transform(backend& ex, F f, vec<T const> x, vec<T> y) {
  T const* const from = x.data_handle();
  T* const to = y.data_handle();
  parallel_rows(ex, y.extent(0), elementwise_chunk, [=](index_t first, index_t count, int) {
#pragma omp simd
    for (index_t i = first; i < first + count; ++i) to[i] = f(from[i]);
  });
}

template <class F, class T>
void do_transform(backend& ex, F f, vec<T const> a, vec<T const> b, vec<T> y) {
  T const *const left = a.data_handle(), *const right = b.data_handle();
  T* const to = y.data_handle();
  parallel_rows(ex, y.extent(0), elementwise_chunk, [=](index_t first, index_t count, int) {
#pragma omp simd
    for (index_t i = first; i < first + count; ++i) to[i] = f(left[i], right[i]);
  });
}

}  // namespace triad::cpu
