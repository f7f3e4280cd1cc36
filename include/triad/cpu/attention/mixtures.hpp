// Sums of rows with the weights of a small head, computed in registers.
// SPDX-License-Identifier: Apache-2.0
//
// The weights w(i, j) of query i and key j have the layout of cpu/attention/quads.hpp.
//
//   mix<of_queries>   y_i = sum_j w(i, j) b_j      results and gradients of queries
//   mix<of_keys>      y_j = sum_i w(i, j) b_i      gradients of keys and values
//
// The terms of a sum are added in ascending order, whatever the size of a tile is.
#pragma once

#include "triad/cpu/attention/quads.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

namespace attending {

enum class mixed { of_queries, of_keys };

/// The rows b_s of a sum: s in [first, first + count).  For sums of_keys, `first` is a multiple of `group`.
struct terms {
  index_t first, count;
};

/// Where the weights of R rows lie.  The weights of `together` successive terms lie `step` apart.
template <mixed M>
struct weights_of {
  static constexpr bool of_keys = M == mixed::of_keys;
  static constexpr index_t together = of_keys ? group : 4, step = of_keys ? 4 : 1;
  index_t jump;

  [[gnu::always_inline]] index_t row(index_t r) const {
    return of_keys ? r / 4 * simd::lanes + r % 4 : r / group * jump + r % group * 4;
  }
  /// The distance of the weights of term s from the weights of term 0, where s is a multiple of `together`.
  [[gnu::always_inline]] index_t term(index_t s) const { return of_keys ? s / group * jump : s / 4 * simd::lanes; }
};

/// Computes R rows and V vectors of columns of a mixture.  The last vector has `last` columns.  Adds to y if `add` is
/// true.
template <mixed M, int R, int V>
[[gnu::noinline]] inline void mix_tile(float const* w, weights_of<M> at, index_t count, head_rows<float const> b,
                                       index_t last, head_rows<float> y, bool add) {
  floats sum[std::size_t{R}][std::size_t{V}] = {};
  auto const add_term = [&](float const* weight, float const* row) __attribute__((always_inline)) {
    floats x[std::size_t{V}];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) x[v] = simd::load(row + v * simd::lanes);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      floats const p = simd::broadcast(weight[at.row(r)]);
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) sum[r][v] = sum[r][v] + p * x[v];
    }
  };
  constexpr index_t together = weights_of<M>::together, step = weights_of<M>::step;
  float const* row = b.data;
  index_t s = 0;
  for (; s + together <= count; s += together, w += at.term(together))
#pragma GCC unroll 4
    for (index_t t = 0; t < together; ++t, row += b.stride) add_term(w + t * step, row);
  for (; s < count; ++s, w += step, row += b.stride) add_term(w, row);
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      float* const to = y[r] + v * simd::lanes;
      if (v < V - 1 || last == simd::lanes) {
        simd::store(to, add ? simd::load(to) + sum[r][v] : sum[r][v]);
      } else {
        simd::tail const part(last);
        part.store(to, add ? part.load(to) + sum[r][v] : sum[r][v]);
      }
    }
}

/// Computes `rows` rows of a mixture over `width` columns.  range(r, n) returns the terms of the rows [r, r + n).  The
/// rows of b have whole vectors.
template <mixed M, class Range>
void mix(float const* w, index_t jump, index_t rows, Range&& range, head_rows<float const> b, index_t width,
         head_rows<float> y, bool add) {
  weights_of<M> const at{jump};
  for (index_t c = 0; c < width;) {
    index_t const left = simd::vectors(width - c);
    auto const columns = [&]<int V>(std::integral_constant<int, V>) {
      index_t const last = std::min<index_t>(simd::lanes, width - c - (V - 1) * simd::lanes);
      auto const tile = [&]<int R>(index_t r, std::integral_constant<int, R>) {
        terms const t = range(r, index_t{R});
        mix_tile<M, R, V>(w + at.row(r) + at.term(t.first), at, t.count, {b[t.first] + c, b.stride}, last,
                          {y[r] + c, y.stride}, add);
      };
      index_t r = 0;
      if constexpr (simd::registers == 32 && V <= 2)
        for (; r + 8 <= rows; r += 8) tile(r, std::integral_constant<int, 8>());
      for (; r + 4 <= rows; r += 4) tile(r, std::integral_constant<int, 4>());
      if (rows - r == 3) tile(r, std::integral_constant<int, 3>());
      if (rows - r == 2) tile(r, std::integral_constant<int, 2>());
      if (rows - r == 1) tile(r, std::integral_constant<int, 1>());
      return V * simd::lanes;
    };
    if (simd::registers == 32 && left >= 4)
      c += columns(std::integral_constant<int, simd::registers == 32 ? 4 : 1>());
    else if (left >= 2)
      c += columns(std::integral_constant<int, 2>());
    else
      c += columns(std::integral_constant<int, 1>());
  }
}

}  // namespace attending
}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
