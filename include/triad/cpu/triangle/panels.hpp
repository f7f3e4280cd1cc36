// Tiled triangular attention: functions that pack matrices into panels, and register kernels that read the panels.
// SPDX-License-Identifier: Apache-2.0
//
// A tile has `tile` columns j.  The lanes of the scores and of their gradients are along j.  All other lanes are along
// the head width.  The layouts and the kernels are:
//
//   transposed  [c][tile]            rows j of a matrix, transposed: element (c, j)
//   panel       [c / lanes][row][lanes]   rows cut into vectors; the last vector is padded with zeros
//
//   scores           s(r, j) = scale q_r . k_j                                     one q broadcast, k transposed
//   outputs          o(i, j) += sum_l p(i, l, j) v1(i, l) * v2(l, j)               lanes c, 16 accumulators
//   weight_gradients dP(l, i, j) = sum_c do(i, j) v1(i, l) v2(l, j)                 lanes j, 16 accumulators
//   value_gradients  dv1(i) += sum_j p do(i, j) * v2(j);  dv2(j) += sum_i p do(i, j) * v1(i)
//   accumulate       y_r += sum_s w(r, s) b_s                                      for dq and dk
#pragma once

#include <algorithm>

#include "triad/cpu/triangle/kernels.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS::triangles {

/// The number of rows of the largest kernels.  With two vectors for each row, half of the registers are accumulators.
inline constexpr int group = simd::registers / 4;
inline constexpr int half = group / 2;
/// The number of columns j of a tile.
inline constexpr int tile = 2 * lanes;

namespace detail {

// Exchanges half of the lanes of `a` and `b`, which are rows r and r + S.  Lane x of `a`, for x & S not 0, is exchanged
// with lane x ^ S of `b`.
template <int S, int... X>
[[gnu::always_inline]] inline void exchange(floats& a, floats& b, std::integer_sequence<int, X...>) {
  floats const low = simd::detail::shuffle<((X & S) ? (X ^ S) + lanes : X)...>(a, b);
  b = simd::detail::shuffle<((X & S) ? X + lanes : (X ^ S))...>(a, b);
  a = low;
}

}  // namespace detail

/// Transposes the rows [0, count) of x: to[c width + j] = x(j, c).  `count` is at most `width`, and the rows
/// [count, width) are copies of the last row.  Four columns are transposed at a time.  Vector r loads these columns
/// from the rows r, r + 4, ... Two exchanges within each group of four lanes then complete the transposition.
[[gnu::noinline]] inline void turn(in_rows x, index_t count, index_t k, float* to, index_t width) {
  for (index_t j = 0; j < width; j += lanes) {
    float const* row[lanes];
    for (int r = 0; r < lanes; ++r) row[r] = x[std::min(j + r, count - 1)];
    for (index_t c = 0; c < k; c += 4) {
      floats v[4];
#pragma GCC unroll 4
      for (int r = 0; r < 4; ++r) v[r] = simd::load_fours(row + r, c);
      auto const order = std::make_integer_sequence<int, lanes>();
      detail::exchange<1>(v[0], v[1], order);
      detail::exchange<1>(v[2], v[3], order);
      detail::exchange<2>(v[0], v[2], order);
      detail::exchange<2>(v[1], v[3], order);
      index_t const columns = std::min<index_t>(4, k - c);
#pragma GCC unroll 4
      for (int r = 0; r < 4; ++r)
        if (r < columns) simd::store(to + (c + r) * width + j, v[r]);
    }
  }
}

/// Copies the rows [0, count) to a panel of panel_rows rows.  The rows [count, wanted) become copies of row count - 1.
inline void pack_panel(in_rows x, index_t count, index_t wanted, index_t k, float* panel, index_t panel_rows) {
  for (index_t r = 0; r < wanted; ++r) {
    float const* const row = x[std::min(r, count - 1)];
    simd::each_vector(k, [&](index_t c, auto part) __attribute__((always_inline)) {
      simd::store(panel + (c / lanes * panel_rows + r) * lanes, part.load(row + c));
    });
  }
}

inline void unpack_panel(float const* panel, index_t panel_rows, index_t count, index_t k, out_rows y) {
  for (index_t r = 0; r < count; ++r) {
    float* const row = y[r];
    simd::each_vector(k, [&](index_t c, auto part) __attribute__((always_inline)) {
      part.store(row + c, simd::load(panel + (c / lanes * panel_rows + r) * lanes));
    });
  }
}

/// Prefetches the first k floats of `count` rows.  If Write is true, prefetches them for writing.
template <bool Write = false, class T>
inline void prefetch_rows(rows<T> x, index_t count, index_t k) {
  for (index_t r = 0; r < count; ++r)
    for (index_t c = 0; c < k + lanes - 1; c += 16) __builtin_prefetch(x[r] + std::min(c, k - 1), Write, 2);
}

/// Computes s[r ld + j] = scale q_r . k_j for R rows and V vectors of columns j.  k_turned is the transposed k.
/// Element c of q_r is q[r][c / lanes * jump + c % lanes].  So q is a panel, or rows in place if `jump` is `lanes`.
template <int R, int V>
[[gnu::noinline]] inline void scores(in_rows q, index_t jump, float const* k_turned, index_t k, float scale, float* s,
                                     index_t ld) {
  floats acc[std::size_t{R}][std::size_t{V}] = {};
  for (index_t c = 0; c < k; c += lanes, q.data += jump) {
    index_t const columns = std::min<index_t>(lanes, k - c);
    for (index_t x = 0; x < columns; ++x, k_turned += V * lanes) {
      floats kv[std::size_t{V}];
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) kv[v] = simd::load(k_turned + v * lanes);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        floats const qv = simd::broadcast(q[r][x]);
#pragma GCC unroll 2
        for (int v = 0; v < V; ++v) acc[r][v] = acc[r][v] + qv * kv[v];
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) simd::store(s + r * ld + v * lanes, acc[r][v] * scale);
}

/// Adds the terms of `count` middle nodes l to acc [i][j][V], for `half` rows i, two columns j and V vectors of
/// channels.  If `first` is true, acc is overwritten.  p(i, l, j) is p[l layer + i row + j].  v1 is [l][half][V lanes],
/// and v2 is [l][2][V lanes].
template <int V>
[[gnu::noinline]] inline void outputs(float const* p, index_t layer, index_t row, float const* v1, float const* v2,
                                      index_t count, bool first, float* acc) {
  floats a[std::size_t{half}][2][std::size_t{V}];
#pragma GCC unroll 4
  for (int i = 0; i < half; ++i)
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j)
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) a[i][j][v] = first ? floats{} : simd::load(acc + ((i * 2 + j) * V + v) * lanes);
  for (index_t l = 0; l < count; ++l, p += layer, v1 += half * V * lanes, v2 += 2 * V * lanes) {
    floats b[2][std::size_t{V}];
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j)
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) b[j][v] = simd::load(v2 + (j * V + v) * lanes);
#pragma GCC unroll 4
    for (int i = 0; i < half; ++i) {
      floats const p0 = simd::broadcast(p[i * row]), p1 = simd::broadcast(p[i * row + 1]);
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) {
        floats const x = simd::load(v1 + (i * V + v) * lanes);
        a[i][0][v] = a[i][0][v] + (x * p0) * b[0][v];
        a[i][1][v] = a[i][1][v] + (x * p1) * b[1][v];
      }
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < half; ++i)
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j)
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) simd::store(acc + ((i * 2 + j) * V + v) * lanes, a[i][j][v]);
}

/// Computes dp[l layer + i ld + j] for L middle nodes, `half` rows i and V vectors of columns j.  d_o has one
/// transposed matrix for each i, one after the other.  v2 has one transposed matrix for each l, v2_layer apart.  v1 has
/// one panel of v1_rows rows for each l, v1_layer apart.
template <int L, int V>
[[gnu::noinline]] inline void weight_gradients(float const* d_o, float const* v1, index_t v1_layer, index_t v1_rows,
                                               float const* v2, index_t v2_layer, index_t k, float* dp, index_t layer,
                                               index_t ld) {
  constexpr int width = V * lanes;
  floats acc[std::size_t{L}][std::size_t{half}][std::size_t{V}] = {};
  for (index_t c0 = 0; c0 < k; c0 += lanes, v1 += v1_rows * lanes) {
    index_t const columns = std::min<index_t>(lanes, k - c0);
    for (index_t x = 0; x < columns; ++x) {
      index_t const c = c0 + x;
      floats b[std::size_t{L}][std::size_t{V}];
#pragma GCC unroll 2
      for (int l = 0; l < L; ++l)
#pragma GCC unroll 2
        for (int v = 0; v < V; ++v) b[l][v] = simd::load(v2 + l * v2_layer + c * width + v * lanes);
#pragma GCC unroll 4
      for (int i = 0; i < half; ++i) {
        floats w[std::size_t{L}];
#pragma GCC unroll 2
        for (int l = 0; l < L; ++l) w[l] = simd::broadcast(v1[l * v1_layer + i * lanes + x]);
#pragma GCC unroll 2
        for (int v = 0; v < V; ++v) {
          floats const g = simd::load(d_o + (i * k + c) * width + v * lanes);
#pragma GCC unroll 2
          for (int l = 0; l < L; ++l) acc[l][i][v] = acc[l][i][v] + (g * w[l]) * b[l][v];
        }
      }
    }
  }
#pragma GCC unroll 2
  for (int l = 0; l < L; ++l)
#pragma GCC unroll 4
    for (int i = 0; i < half; ++i)
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) simd::store(dp + l * layer + i * ld + v * lanes, acc[l][i][v]);
}

/// Adds to the value gradients of one l and one vector of channels, for R rows i and `count` columns j.  p(i, j) is
/// p[i ld + j].  d_o is [i][j][lanes], where the rows i are d_o_row apart.  v1 and dv1 are [i][lanes], and v2 and dv2
/// are [j][lanes].
template <int R>
[[gnu::noinline]] inline void value_gradients(float const* p, index_t ld, float const* d_o, index_t d_o_row,
                                              float const* v1, float const* v2, index_t count, float* dv1, float* dv2) {
  floats a[std::size_t{R}], da[std::size_t{R}];
#pragma GCC unroll 8
  for (int i = 0; i < R; ++i) {
    a[i] = simd::load(v1 + i * lanes);
    da[i] = simd::load(dv1 + i * lanes);
  }
  for (index_t j = 0; j < count; ++j) {
    floats const b = simd::load(v2 + j * lanes);
    floats even = simd::load(dv2 + j * lanes), odd = {};
#pragma GCC unroll 8
    for (int i = 0; i < R; ++i) {
      floats const w = simd::load(d_o + i * d_o_row + j * lanes) * simd::broadcast(p[i * ld + j]);
      da[i] = da[i] + w * b;
      if (i % 2 == 0) {
        even = even + w * a[i];
      } else {
        odd = odd + w * a[i];
      }
    }
    simd::store(dv2 + j * lanes, even + odd);
  }
#pragma GCC unroll 8
  for (int i = 0; i < R; ++i) simd::store(dv1 + i * lanes, da[i]);
}

/// Adds to y_r the sum over s < count of w(r, s) b_s, for R rows and V vectors of channels.  b_next and y_next are the
/// distances from one vector to the next vector.  y_row is the distance from one row of y to the next row.
template <int R, int V>
[[gnu::noinline]] inline void accumulate(weights w, index_t count, float const* b, index_t b_next, float* y,
                                         index_t y_row, index_t y_next) {
  floats acc[std::size_t{R}][std::size_t{V}];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) acc[r][v] = simd::load(y + v * y_next + r * y_row);
  for (index_t s = 0; s < count; ++s) {
    floats bv[std::size_t{V}];
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) bv[v] = simd::load(b + v * b_next + s * lanes);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      floats const wv = simd::broadcast(w.data[r * w.row + s * w.step]);
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) acc[r][v] = acc[r][v] + wv * bv[v];
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) simd::store(y + v * y_next + r * y_row, acc[r][v]);
}

/// Calls f(first, size) for `count` rows in steps of `group` rows.  The last step has `half` rows if `half` rows are
/// enough.
template <class F>
[[gnu::always_inline]] inline void each_group(index_t count, F&& f) {
  index_t r = 0;
  for (; r + half < count; r += group) f(r, size<group>());
  if (r < count) f(r, size<half>());
}

/// Calls f(first, size) for `count` vectors in steps of two.  The last step may have one vector.
template <class F>
[[gnu::always_inline]] inline void each_pair(index_t count, F&& f) {
  index_t v = 0;
  for (; v + 2 <= count; v += 2) f(v, size<2>());
  if (v < count) f(v, size<1>());
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS::triangles
