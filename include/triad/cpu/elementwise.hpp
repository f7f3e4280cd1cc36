// Elementwise functions, computed in parallel chunks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>

#include "triad/cpu/backend.hpp"
#include "triad/cpu/kernels/gelu.hpp"
#include "triad/reference/elementwise.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

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

namespace detail {
/// Computes y = f(x...), where f takes and returns vectors.  If the last vector of an input is not full, zeros fill it.
template <class F, class... Inputs>
void transform_registers(backend& ex, index_t size, F f, float* y, Inputs const*... x) {
  parallel_rows(ex, size, elementwise_chunk, [=](index_t first, index_t count, int) {
    index_t const end = first + count, whole = end - count % simd::lanes;
    for (index_t i = first; i < whole; i += simd::lanes) simd::store(y + i, f(simd::load(x + i)...));
    if (whole == end) return;
    auto const part = [&](float const* from) {
      float some[simd::lanes] = {};
      std::copy(from + whole, from + end, some);
      return simd::load(some);
    };
    float some[simd::lanes];
    simd::store(some, f(part(x)...));
    std::copy_n(some, end - whole, y + whole);
  });
}
}  // namespace detail

template <std::same_as<float> T>
void do_transform(backend& ex, gelu, vec<T const> x, vec<T> y) {
  detail::transform_registers(
      ex, y.extent(0), [](simd::floats v) { return normal::gelu(v); }, y.data_handle(), x.data_handle());
}
template <std::same_as<float> T>
void do_transform(backend& ex, gelu_grad, vec<T const> x, vec<T const> dy, vec<T> dx) {
  detail::transform_registers(
      ex, dx.extent(0), [](simd::floats v, simd::floats d) { return normal::gelu_grad(v, d); }, dx.data_handle(),
      x.data_handle(), dy.data_handle());
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
