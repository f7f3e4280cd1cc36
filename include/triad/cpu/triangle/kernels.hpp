// Register kernels of triangular attention for blocks of edges of one head, with lanes along the head width.
// SPDX-License-Identifier: Apache-2.0
//
//                                                                   operations per element and triangle
//   dots         partial(i, j) = lanes of  a_i . b_j                  1
//   mix          y_r = sum_s w(r, s) b_s                              1
//   values       o(i, j) = sum_l p(i, l, j) v1(i, l) * v2(l, j)       2
//   gradients    dP(i, j) = do(i, j) . (v1(i) * v2(j))                5, all three in one pass
//   of one l     dv1(i) = sum_j p do v2(j),  dv2(j) = sum_i p do v1(i)
//
// The kernels read rows in place.  The last vector of a row is masked, so that the numbers of the next head are neither
// added to a sum nor overwritten.  Block sizes are small constants, because a compiler keeps accumulators in registers
// only if it unrolls every loop over them.
#pragma once

#include <type_traits>

#include "triad/cpu/kernels/simd.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS::triangles {

using simd::floats;
using simd::lanes;

/// The rows of one head: row r begins at data + r stride.
template <class T>
struct rows {
  T* data;
  index_t stride;
  [[gnu::always_inline]] T* operator[](index_t r) const { return data + r * stride; }
  rows from(index_t r) const { return {data + r * stride, stride}; }
  rows every(index_t step) const { return {data, stride * step}; }
};

using in_rows = rows<float const>;
using out_rows = rows<float>;

/// Sets vector i ld + j of `partial` to the lane-wise sums of a_i * b_j.
template <int I, int J>
[[gnu::noinline]] inline void dots(in_rows a, in_rows b, index_t k, float* partial, index_t ld) {
  floats acc[std::size_t{I}][std::size_t{J}] = {};
  simd::each_vector(k, [&](index_t c, auto part) __attribute__((always_inline)) {
    floats bv[std::size_t{J}];
#pragma GCC unroll 8
    for (int j = 0; j < J; ++j) bv[j] = part.load(b[j] + c);
#pragma GCC unroll 8
    for (int i = 0; i < I; ++i) {
      floats const av = part.load(a[i] + c);
#pragma GCC unroll 8
      for (int j = 0; j < J; ++j) acc[i][j] = acc[i][j] + av * bv[j];
    }
  });
#pragma GCC unroll 8
  for (int i = 0; i < I; ++i)
#pragma GCC unroll 8
    for (int j = 0; j < J; ++j) simd::store(partial + (i * ld + j) * lanes, acc[i][j]);
}

/// Weights of a mix: w(r, s) = data[r row + s step].
struct weights {
  float const* data;
  index_t row, step;
};

/// Computes y_r = sum over s < count of w(r, s) b_s for R rows and V vectors, or adds the sum to y_r if `add` is true.
/// The last vector has the lanes of `last`.
template <int R, int V>
[[gnu::always_inline]] inline void mix_columns(weights w, index_t count, in_rows b, simd::tail last, out_rows y,
                                               bool add) {
  floats acc[std::size_t{R}][std::size_t{V}] = {};
  for (index_t s = 0; s < count; ++s) {
    floats bv[std::size_t{V}];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) bv[v] = v < V - 1 ? simd::load(b[s] + v * lanes) : last.load(b[s] + v * lanes);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      floats const wv = simd::broadcast(w.data[r * w.row + s * w.step]);
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) acc[r][v] = acc[r][v] + wv * bv[v];
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      float* const out = y[r] + v * lanes;
      if (v < V - 1) {
        simd::store(out, add ? simd::load(out) + acc[r][v] : acc[r][v]);
      } else {
        last.store(out, add ? last.load(out) + acc[r][v] : acc[r][v]);
      }
    }
}

/// Calls mix_columns() for k columns, with four vectors at a time, or two if there are fewer registers.  Each weight is
/// then read only once for all these vectors.
template <int R>
[[gnu::noinline]] inline void mix(weights w, index_t count, in_rows b, index_t k, out_rows y, bool add) {
  constexpr int most = simd::registers == 32 ? 4 : 2;
  for (; k > most * lanes; k -= most * lanes, b.data += most * lanes, y.data += most * lanes)
    mix_columns<R, most>(w, count, b, simd::tail(lanes), y, add);
  simd::tail const last(k - (simd::vectors(k) - 1) * lanes);
  switch (simd::vectors(k)) {
    case 1:
      return mix_columns<R, 1>(w, count, b, last, y, add);
    case 2:
      return mix_columns<R, 2>(w, count, b, last, y, add);
    case 3:
      return mix_columns<R, most == 4 ? 3 : 1>(w, count, b, last, y, add);
    default:
      return mix_columns<R, most>(w, count, b, last, y, add);
  }
}

/// Probabilities p(i, l, j) = data[l layer + i row + j].
struct tile {
  float const* data;
  index_t layer, row;
};

/// o(i, j) = sum over l < count of p(i, l, j) v1(i, l) * v2(l, j).  The rows of v1 and o for node i begin at row n i,
/// and the rows of v2 for node l begin at row n l.
template <int I, int J>
[[gnu::noinline]] inline void values(tile p, in_rows v1, in_rows v2, index_t n, index_t count, index_t k, out_rows o) {
  simd::each_vector(k, [&](index_t c, auto part) __attribute__((always_inline)) {
    floats acc[std::size_t{I}][std::size_t{J}] = {};
    for (index_t l = 0; l < count; ++l) {
      float const* const pl = p.data + l * p.layer;
      floats b[std::size_t{J}];
#pragma GCC unroll 8
      for (int j = 0; j < J; ++j) b[j] = part.load(v2[l * n + j] + c);
#pragma GCC unroll 8
      for (int i = 0; i < I; ++i) {
        floats const a = part.load(v1[i * n + l] + c);
#pragma GCC unroll 8
        for (int j = 0; j < J; ++j) acc[i][j] = acc[i][j] + (a * simd::broadcast(pl[i * p.row + j])) * b[j];
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < I; ++i)
#pragma GCC unroll 8
      for (int j = 0; j < J; ++j) part.store(o[i * n + j] + c, acc[i][j]);
  });
}

/// Computes the gradients of one l.  p(i, j) is p[i ld + j].  Vector i ld + j of `partial` is set to dP(i, j), whose
/// lanes are not added up.  Row i of v1 and dv1 belongs to edge (i, l), and row j of v2 and dv2 belongs to edge (l, j).
/// Row i n + j of `gradient` belongs to edge (i, j).  If V2 is false, v2 is 1 and has no gradient.  If add1 is true,
/// dv1 already holds sums of earlier blocks, and the new terms are added.  add2 means the same for dv2.
template <int I, int J, bool V2>
[[gnu::noinline]] inline void gradients(float const* p, index_t ld, in_rows gradient, index_t n, index_t k, in_rows v1,
                                        in_rows v2, out_rows dv1, bool add1, out_rows dv2, bool add2, float* partial) {
  floats dp[std::size_t{I}][std::size_t{J}] = {};
  simd::each_vector(k, [&](index_t c, auto part) __attribute__((always_inline)) {
    floats a[std::size_t{I}], da[std::size_t{I}];
#pragma GCC unroll 8
    for (int i = 0; i < I; ++i) {
      a[i] = part.load(v1[i] + c);
      da[i] = floats{};
    }
#pragma GCC unroll 8
    for (int j = 0; j < J; ++j) {
      floats b, db = {};
      if constexpr (V2) b = part.load(v2[j] + c);
#pragma GCC unroll 8
      for (int i = 0; i < I; ++i) {
        floats const g = part.load(gradient[i * n + j] + c);
        floats const w = simd::broadcast(p[i * ld + j]);
        if constexpr (V2) {
          floats const gb = g * b;
          dp[i][j] = dp[i][j] + gb * a[i];
          da[i] = da[i] + w * gb;
          db = db + (w * g) * a[i];
        } else {
          dp[i][j] = dp[i][j] + g * a[i];
          da[i] = da[i] + w * g;
        }
      }
      if constexpr (V2) part.store(dv2[j] + c, add2 ? part.load(dv2[j] + c) + db : db);
    }
#pragma GCC unroll 8
    for (int i = 0; i < I; ++i) part.store(dv1[i] + c, add1 ? part.load(dv1[i] + c) + da[i] : da[i]);
  });
#pragma GCC unroll 8
  for (int i = 0; i < I; ++i)
#pragma GCC unroll 8
    for (int j = 0; j < J; ++j) simd::store(partial + (i * ld + j) * lanes, dp[i][j]);
}

template <int N>
using size = std::integral_constant<int, N>;

/// Cuts n rows into runs, and calls f(first, size) for each run.  If n is less than 6, there is one run.  Otherwise,
/// each run has three or four rows.
template <class F>
void each_run(index_t n, F&& f) {
  index_t const threes = n < 6 ? (n == 3) : (4 - n % 4) % 4;
  index_t i = 0;
  for (; i < n - 3 * threes && n - i >= 4 && n != 5; i += 4) f(i, size<4>());
  if (n == 1) f(i, size<1>());
  if (n == 2) f(i, size<2>());
  if (n == 5) f(i, size<5>());
  for (index_t t = 0; t < threes; ++t, i += 3) f(i, size<3>());
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS::triangles
