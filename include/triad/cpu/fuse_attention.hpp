// Fuse-attention with tokens in parallel and lanes along the width.  A token has only a few states, so they stay in the
// first-level cache.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

#include "triad/cpu/backend.hpp"
#include "triad/reference/fuse_attention.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

namespace fuse {

template <class T>
[[gnu::always_inline]] inline T dot(T const* a, T const* b, index_t d) {
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (index_t f = 0; f < d; ++f) sum += a[f] * b[f];
  return sum;
}

/// The number of tokens in one task.
inline constexpr index_t rows_at_once = 32;

}  // namespace fuse

template <class T>
void do_fuse_attention(backend& ex, fuse_attention_options const& options, index_t layers, tensor<T const, dyn, dyn> u,
                       layer_states<T const> states, tensor<T, dyn, dyn> weights, tensor<T, dyn, dyn> mixed,
                       tensor<T, dyn, dyn> kept) {
  index_t const d = states.extent(2), heads = options.heads;
  T const scale = options.dropout.active() ? T(options.dropout.scale()) : T(1);
  parallel_rows(ex, states.extent(1), fuse::rows_at_once, [&](index_t first, index_t count, int) {
    for (index_t r = first; r < first + count; ++r)
      for (index_t h = 0; h < heads; ++h) {
        T* const p = &weights(r, h * layers);
        T const* const own = &u(r, h * d);
        T* const to = &mixed(r, h * d);
        for (index_t j = 0; j < layers; ++j) p[j] = fuse::dot(own, &states(j, r, 0), d);
        T maximum = p[0], sum = 0, total = 0;
        for (index_t j = 1; j < layers; ++j) maximum = p[j] > maximum ? p[j] : maximum;
        for (index_t j = 0; j < layers; ++j) sum += p[j] = std::exp(p[j] - maximum);
        T const inverse = T(1) / sum;
        std::fill_n(to, d, T(0));
        for (index_t j = 0; j < layers; ++j) {
          p[j] *= inverse;
          bool const keeps = !options.dropout.active() ||
                             options.dropout.keeps(static_cast<std::uint64_t>((r * heads + h) * layers + j));
          T const w = keeps ? p[j] * scale : T(0);
          if (!keeps) {
            p[j] = -p[j];
            continue;
          }
          total += w;
          T const* const x = &states(j, r, 0);
#pragma omp simd
          for (index_t f = 0; f < d; ++f) to[f] += w * x[f];
        }
        kept(r, h) = total;
      }
  });
}

template <class T>
void do_fuse_attention_grad(backend& ex, fuse_attention_options const& options, index_t layers,
                            tensor<T const, dyn, dyn> u, layer_states<T const> states,
                            tensor<T const, dyn, dyn> weights, tensor<T const, dyn, dyn> d_mixed,
                            tensor<T const, dyn, dyn> d_kept, tensor<T, dyn, dyn> du, layer_states<T> d_states) {
  constexpr index_t most = 64;  // the largest number of layers, and the size of dp below
  if (layers > most)
    return reference::do_fuse_attention_grad(ex, options, layers, u, states, weights, d_mixed, d_kept, du, d_states);
  index_t const d = states.extent(2), heads = options.heads;
  T const scale = options.dropout.active() ? T(options.dropout.scale()) : T(1);
  parallel_rows(ex, states.extent(1), fuse::rows_at_once, [&](index_t first, index_t count, int) {
    T dp[most];
    for (index_t r = first; r < first + count; ++r)
      for (index_t h = 0; h < heads; ++h) {
        T const *const p = &weights(r, h * layers), *const own = &u(r, h * d), *const dm = &d_mixed(r, h * d);
        T* const to = &du(r, h * d);
        T delta = 0;
        for (index_t j = 0; j < layers; ++j) {
          dp[j] = p[j] > T(0) ? scale * (fuse::dot(dm, &states(j, r, 0), d) + d_kept(r, h)) : T(0);
          delta += std::abs(p[j]) * dp[j];
        }
        std::fill_n(to, d, T(0));
        for (index_t j = 0; j < layers; ++j) {
          T const dz = std::abs(p[j]) * (dp[j] - delta), w = p[j] > T(0) ? p[j] * scale : T(0);
          T const* const x = &states(j, r, 0);
          T* const dx = &d_states(j, r, 0);
#pragma omp simd
          for (index_t f = 0; f < d; ++f) {
            to[f] += dz * x[f];
            dx[f] += dz * own[f] + w * dm[f];
          }
        }
      }
  });
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
