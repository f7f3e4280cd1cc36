// Elementwise functions, computed in parallel chunks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <tuple>

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
/// Computes y = f(x...) for `size` numbers, a multiple of simd::lanes.  f takes and returns vectors.
template <class F, class... Inputs>
[[gnu::noinline]] void each_register(F f, index_t size, float* y, Inputs const*... x) {
  for (index_t i = 0; i < size; i += simd::lanes) simd::store(y + i, f(simd::load(x + i)...));
}
/// Computes y = f(x...), where f takes and returns vectors.  If the last vector of an input is not full, zeros fill it.
/// Both calls below run the same instructions, since g++ may fuse other products and sums in another copy of f.  So the
/// bits of a number do not depend on whether it is in the last vector, where other rows of a batch may follow it.
template <class F, class... Inputs>
void transform_registers(backend& ex, index_t size, F f, float* y, Inputs const*... x) {
  parallel_rows(ex, size, elementwise_chunk, [=](index_t first, index_t count, int) {
    index_t const rest = count % simd::lanes, whole = count - rest, last = first + whole;
    each_register(f, whole, y + first, (x + first)...);
    if (rest == 0) return;
    std::array<float, simd::lanes> result, inputs[sizeof...(x)] = {};
    auto* to = inputs;
    auto const padded = [&](float const* from) {
      std::copy_n(from + last, rest, to->data());
      return static_cast<float const*>((to++)->data());
    };
    std::tuple const each{padded(x)...};
    std::apply([&](auto const*... from) { each_register(f, simd::padded(rest), result.data(), from...); }, each);
    std::copy_n(result.data(), rest, y + last);
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
