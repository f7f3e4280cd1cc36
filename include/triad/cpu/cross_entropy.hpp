// Cross entropy with rows in parallel.  Exponentials are computed in vectors.  A thread completes a row before it
// begins the next row, so the row stays in the cache.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "triad/cpu/backend.hpp"
#include "triad/cpu/kernels/simd.hpp"
#include "triad/reference/cross_entropy.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

namespace detail {

/// Sets y = exp(x - maximum), where `maximum` is the largest x, and returns the sum of y.  All elements of a row use
/// the same exponential function, so equal logits get equal probabilities at any position.
template <class T>
T exponentials(T const* x, index_t v, T maximum, T* y) {
  if constexpr (std::is_same_v<T, float>) {
    using simd::floats, simd::lanes;
    floats sums{};
    index_t c = 0;
    for (; c + lanes <= v; c += lanes) {
      floats const e = simd::exp_nonpositive(simd::load(x + c) - maximum);
      sums += e;
      simd::store(y + c, e);
    }
    if (c < v) {
      simd::tail const rest(v - c);
      floats const e = simd::keep(simd::exp_nonpositive(rest.load(x + c) - maximum), (1u << (v - c)) - 1);
      sums += e;
      rest.store(y + c, e);
    }
    float some[lanes];
    simd::store(some, sums);
    for (int n = lanes / 2; n > 0; n /= 2)
      for (int l = 0; l < n; ++l) some[l] += some[l + n];
    return some[0];
  } else {
    T total = 0;
    for (index_t c = 0; c < v; ++c) total += y[c] = std::exp(x[c] - maximum);
    return total;
  }
}

/// Returns the loss of one row.  Sets `dx` to the gradient of the row, divided by `count`.
template <class T>
T cross_entropy_row(T const* x, index_t v, index_t target, T hit, T miss, T count, T* dx) {
  T maximum = x[0], lower = 0;
#pragma omp simd reduction(max : maximum)
  for (index_t c = 1; c < v; ++c) maximum = x[c] > maximum ? x[c] : maximum;
  T const below = maximum - x[target];
  if (miss > T(0)) {
#pragma omp simd reduction(+ : lower)
    for (index_t c = 0; c < v; ++c) lower += maximum - x[c];
  }
  T const sum = exponentials(x, v, maximum, dx), log_sum = std::log(sum);
  T const scale = T(1) / (sum * count), shift = miss / count, at_target = (dx[target] / sum - hit) / count;
#pragma omp simd
  for (index_t c = 0; c < v; ++c) dx[c] = dx[c] * scale - shift;
  dx[target] = at_target;
  T const nll = log_sum + below;
  return miss > T(0) ? (hit - miss) * nll + miss * (T(v) * log_sum + lower) : hit * nll;
}

}  // namespace detail

template <class T>
void do_cross_entropy(backend& ex, matrix<T const> logits, vec<index_t const> target, vec<T> loss, matrix<T> dlogits,
                      label_smoothing const& t) {
  index_t const rows = logits.extent(0), v = logits.extent(1);
  if (v == 0 || logits.stride(1) != 1 || dlogits.stride(1) != 1)
    return reference::do_cross_entropy(ex, logits, target, loss, dlogits, t);
  index_t counted = 0;
  for (index_t r = 0; r < rows; ++r) {
    TRIAD_EXPECTS(target(r) < v, target_outside("cross_entropy", r, target(r), v));
    counted += target(r) >= 0 ? 1 : 0;
  }
  // The size of a block depends on the shape alone.  There are at most `most` blocks, because the array `part` has one
  // element for the loss of each block.
  constexpr index_t most = 256, least = 1 << 13;
  index_t const block = std::max({(rows + most - 1) / most, least / v, index_t{1}});
  double part[most] = {};
  T const hit = T(t.hit()), miss = T(t.miss(v)), count = T(counted);
  parallel_rows(ex, rows, block, [&](index_t first, index_t n, int) {
    double total = 0;
    for (index_t r = first; r < first + n; ++r) {
      if (target(r) >= 0)
        total += static_cast<double>(
            detail::cross_entropy_row(&logits(r, 0), v, target(r), hit, miss, count, &dlogits(r, 0)));
      else
        std::fill_n(&dlogits(r, 0), v, T(0));
    }
    part[first / block] = total;
  });
  double total = 0;
  for (double const p : part) total += p;
  loss(0) = counted > 0 ? static_cast<T>(total / static_cast<double>(counted)) : T(0);
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
