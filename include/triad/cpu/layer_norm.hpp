// Layer normalisation with rows in parallel.  The gradients of gain and bias are first summed over fixed chunks of
// rows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <concepts>

#include "triad/cpu/dropout.hpp"
#include "triad/cpu/products/rounding.hpp"
#include "triad/cpu/reduce.hpp"
#include "triad/reference/layer_norm.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

inline constexpr index_t norm_chunk = 64;  // rows

namespace detail {
/// Normalises rows.  If `rounded_y` is not empty, also writes y to it in bfloat16.  One function for both, which the
/// target triad::kernels compiles, so that y has the same bits.
template <class T>
void normalise_rows(backend& ex, matrix<T const> x, vec<T const> gain, vec<T const> bias, T epsilon, matrix<T> y,
                    vec<T> mean, vec<T> rstd, matrix<bfloat16> rounded_y) {
  index_t const d = x.extent(1);
  T const *const g = gain.data_handle(), *const b = bias.data_handle();
  parallel_rows(ex, x.extent(0), norm_chunk, [=](index_t first, index_t count, int) {
    for (index_t r = first; r < first + count; ++r) {
      T const* const from = &x(r, 0);
      T* const to = &y(r, 0);
      T total = 0, squares = 0;
#pragma omp simd reduction(+ : total)
      for (index_t c = 0; c < d; ++c) total += from[c];
      T const m = total / T(d);
#pragma omp simd reduction(+ : squares)
      for (index_t c = 0; c < d; ++c) squares += (from[c] - m) * (from[c] - m);
      T const s = T(1) / std::sqrt(squares / T(d) + epsilon);
#pragma omp simd
      for (index_t c = 0; c < d; ++c) to[c] = g[c] * ((from[c] - m) * s) + b[c];
      mean(r) = m;
      rstd(r) = s;
      if constexpr (std::same_as<T, float>)
        if (rounded_y.extent(0) != 0) round_matrix(to, d, 1, d, &rounded_y(r, 0), d, 1, d);
    }
  });
}

#if defined(TRIAD_KERNELS)
TRIAD_KERNELS template void normalise_rows<float>(backend&, matrix<float const>, vec<float const>, vec<float const>,
                                                  float, matrix<float>, vec<float>, vec<float>, matrix<bfloat16>);
#endif
}  // namespace detail

template <class T>
void do_layer_norm(backend& ex, matrix<T const> x, vec<T const> gain, vec<T const> bias, T epsilon, matrix<T> y,
                   vec<T> mean, vec<T> rstd) {
  if (x.stride(1) != 1 || y.stride(1) != 1) return reference::do_layer_norm(ex, x, gain, bias, epsilon, y, mean, rstd);
  detail::normalise_rows(ex, x, gain, bias, epsilon, y, mean, rstd, no_matrix<bfloat16>());
}

/// Also writes y to `rounded`, in bfloat16.  A derived backend may have a norm of its own, which writes y first.
template <std::derived_from<backend> Ex>
void do_layer_norm(Ex& ex, matrix<float const> x, vec<float const> gain, vec<float const> bias, float epsilon,
                   matrix<float> y, vec<float> mean, vec<float> rstd, matrix<bfloat16> rounded_y) {
  index_t const d = x.extent(1);
  auto const round = [&](index_t r, float const* row) { round_matrix(row, d, 1, d, &rounded_y(r, 0), d, 1, d); };
  if constexpr (std::same_as<Ex, backend>)
    if (x.stride(1) == 1 && y.stride(1) == 1)
      return detail::normalise_rows(ex, x, gain, bias, epsilon, y, mean, rstd, rounded_y);
  do_layer_norm(ex, x, gain, bias, epsilon, y, mean, rstd);
  TRIAD_EXPECTS(y.stride(1) == 1, "layer_norm: y to be rounded has strides between columns, expected rows of elements");
  parallel_rows(ex, x.extent(0), norm_chunk, [&](index_t first, index_t count, int) {
    for (index_t r = first; r < first + count; ++r) round(r, &y(r, 0));
  });
}

template <class T>
std::size_t do_layer_norm_grad_workspace(backend&, matrix<T const> x) {
  return static_cast<std::size_t>(chunks_of(x.extent(0), norm_chunk) * 2 * x.extent(1)) * sizeof(T);
}

namespace detail {
template <class... T>
bool rows_are_contiguous(matrix<T> const&... x) {
  return ((x.extent(0) == 0 || x.stride(1) == 1) && ...);
}

/// Computes the gradients.  If the mask drops elements, also writes the gradient before the dropout, a row at a time.
/// One function for both, as above.
template <class T>
void normalise_rows_grad(backend& ex, matrix<T const> x, vec<T const> gain, vec<T const> mean, vec<T const> rstd,
                         matrix<T const> dy, matrix<T const> add, matrix<T> dx, vec<T> dgain, vec<T> dbias,
                         workspace ws, dropout_mask mask, matrix<T> dropped) {
  index_t const rows = x.extent(0), d = x.extent(1);
  keep_source const kept(mask);
  T const* const g = gain.data_handle();
  T* const partial = reinterpret_cast<T*>(ws.data);
  parallel_rows(ex, rows, norm_chunk, [=, &kept](index_t first, index_t count, int) {
    T *const to_gain = partial + first / norm_chunk * 2 * d, *const to_bias = to_gain + d;
    for (index_t c = 0; c < 2 * d; ++c) to_gain[c] = T(0);
    for (index_t r = first; r < first + count; ++r) {
      T const *const from = &x(r, 0), *const gradient = &dy(r, 0);
      T const* const extra = add.extent(0) != 0 ? &add(r, 0) : nullptr;
      T* const to = &dx(r, 0);
      T const m = mean(r), s = rstd(r);
      T sum_g = 0, sum_gz = 0;
#pragma omp simd reduction(+ : sum_g, sum_gz)
      for (index_t c = 0; c < d; ++c) {
        T const z = (from[c] - m) * s, v = g[c] * gradient[c];
        sum_g += v;
        sum_gz += v * z;
        to_gain[c] += gradient[c] * z;
        to_bias[c] += gradient[c];
      }
      T const mean_g = sum_g / T(d), mean_gz = sum_gz / T(d);
      if (extra) {
#pragma omp simd
        for (index_t c = 0; c < d; ++c)
          to[c] = s * (g[c] * gradient[c] - mean_g - (from[c] - m) * s * mean_gz) + extra[c];
      } else {
#pragma omp simd
        for (index_t c = 0; c < d; ++c) to[c] = s * (g[c] * gradient[c] - mean_g - (from[c] - m) * s * mean_gz);
      }
      if (mask.active()) drop_row<T>(kept, T(mask.scale()), r, d, to, &dropped(r, 0));
    }
  });
  for (index_t chunk = 0; chunk < chunks_of(rows, norm_chunk); ++chunk)
    for (index_t c = 0; c < d; ++c) {
      dgain(c) += partial[chunk * 2 * d + c];
      dbias(c) += partial[chunk * 2 * d + d + c];
    }
}

#if defined(TRIAD_KERNELS)
TRIAD_KERNELS template void normalise_rows_grad<float>(backend&, matrix<float const>, vec<float const>,
                                                       vec<float const>, vec<float const>, matrix<float const>,
                                                       matrix<float const>, matrix<float>, vec<float>, vec<float>,
                                                       workspace, dropout_mask, matrix<float>);
#endif
}  // namespace detail

template <class T>
void do_layer_norm_grad(backend& ex, matrix<T const> x, vec<T const> gain, vec<T const> mean, vec<T const> rstd,
                        matrix<T const> dy, matrix<T const> add, matrix<T> dx, vec<T> dgain, vec<T> dbias,
                        workspace ws) {
  if (!detail::rows_are_contiguous(x, dy, dx, add))
    return reference::do_layer_norm_grad(ex, x, gain, mean, rstd, dy, add, dx, dgain, dbias, ws);
  detail::normalise_rows_grad(ex, x, gain, mean, rstd, dy, add, dx, dgain, dbias, ws, {}, no_matrix<T>());
}
/// A derived backend may have a norm or dropout of its own, so it computes one after the other.
template <std::derived_from<backend> Ex, class T>
void do_layer_norm_grad(Ex& ex, matrix<T const> x, vec<T const> gain, vec<T const> mean, vec<T const> rstd,
                        matrix<T const> dy, matrix<T const> add, matrix<T> dx, vec<T> dgain, vec<T> dbias, workspace ws,
                        dropout_mask mask, matrix<T> dropped) {
  if constexpr (std::same_as<Ex, backend>)
    if (detail::rows_are_contiguous(x, dy, dx, add, dropped))
      return detail::normalise_rows_grad(ex, x, gain, mean, rstd, dy, add, dx, dgain, dbias, ws, mask, dropped);
  layer_norm_grad_by_parts(ex, x, gain, mean, rstd, dy, add, dx, dgain, dbias, ws, mask, dropped);
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
