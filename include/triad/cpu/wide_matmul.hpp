// Products with one very wide matrix w.  In float, w is packed so that each product reads w once, from front to back.
// SPDX-License-Identifier: Apache-2.0
//
// At every call, BLAS copies both factors into an internal order.  If one factor has few rows, the copy takes longer
// than the arithmetic.  Here w (n, k) is copied only once, into panels.  A panel has as many columns as a vector has
// lanes, so each row of a panel is one vector.  The panels follow one another in memory.
//
//   y = x w'     Lanes are along k.  A tile of sums stays in registers while a span of panels is read.  The lanes of
//                each sum are added up at the end of the chunk.
//   dx += dy w   Lanes are along k.  A tile of dx, a few rows by a few panels, stays in registers while all rows of
//                these panels are read.
#pragma once

#include <algorithm>
#include <concepts>

#include "triad/cpu/kernels/constant.hpp"
#include "triad/cpu/kernels/simd.hpp"
#include "triad/cpu/matmul.hpp"
#include "triad/cpu/reduce.hpp"
#include "triad/ops/matmul.hpp"
#include "triad/ops/wide_matmul.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

namespace wide {

using simd::floats;
using simd::lanes;

inline constexpr int tile_rows = 4;                                 // rows of x in a tile of sums
inline constexpr int tile_columns = simd::registers == 32 ? 6 : 2;  // rows of w in a tile of sums
inline constexpr int back_rows = simd::registers == 32 ? 8 : 4;     // rows of dx in a tile of dx
inline constexpr int back_panels = simd::registers == 32 ? 3 : 2;
/// The number of panels in a span.  The part of a span that a tile reads stays in the first-level cache.  The whole
/// span stays in the second-level cache.
inline constexpr index_t span = 32;
inline constexpr index_t chunk_panels = wide_chunk / lanes;
inline constexpr index_t line = 64;    // bytes of a cache line
inline constexpr int lines_ahead = 2;  // cache lines that a tile prefetches with each panel

/// The number of rows of a panel.  A panel has the n rows of w, and rows of zeros that fill the last tile.
constexpr index_t padded_rows(index_t n) { return (n + tile_columns - 1) / tile_columns * tile_columns; }
/// The distance between panels, in floats.  The distance includes one extra row, so that row r of one panel and row r
/// of the next panel are not mapped to the same set of the cache.
constexpr index_t pitch(index_t n) { return (padded_rows(n) + 1) * lanes; }
/// The number of floats in the sums of one row of x.  Each sum is a whole vector until its lanes are added up.
constexpr index_t sums_row(index_t n) { return simd::padded(padded_rows(n)) * lanes; }

/// Adds to sums(r, c) the dot product of x(r, .) and w(c, .) over `panels` panels.  The lanes of the sums are not added
/// up.  The last panel has the columns of `last`.  Prefetches the cache lines from `ahead` to `ahead_end`.
template <int R>
void dots(float const* x, index_t stride, float const* w, index_t step, index_t panels, simd::tail last, float* sums,
          index_t row, char const* ahead, char const* ahead_end) {
  constexpr int C = tile_columns;
  floats sum[std::size_t{R}][std::size_t{C}];
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c) sum[r][c] = simd::load(sums + r * row + c * lanes);
  auto const add = [&](index_t i, auto part) __attribute__((always_inline)) {
    floats v[C];
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) v[c] = simd::load(w + i * step + c * lanes);
    if (ahead < ahead_end)
      for (int l = 0; l < lines_ahead; ++l, ahead += line) __builtin_prefetch(ahead, 0, 2);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      floats const a = part.load(x + r * stride + i * lanes);
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) sum[r][c] = sum[r][c] + a * v[c];
    }
  };
  for (index_t i = 0; i + 1 < panels; ++i) add(i, simd::whole{});
  add(panels - 1, last);
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c) simd::store(sums + r * row + c * lanes, sum[r][c]);
}

/// Adds to d(r, .) the sum over o of dy(r, o) w(o, .) for V panels.  If Ahead is true, also prefetches the next V
/// panels.
template <int R, int V, bool Ahead>
void spread(float const* dy, index_t stride, float const* w, index_t step, index_t n, float* d, index_t row) {
  floats sum[std::size_t{R}][std::size_t{V}];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) sum[r][v] = simd::load(d + r * row + v * lanes);
  for (index_t o = 0; o < n; ++o) {
    floats u[std::size_t{V}];
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) {
      u[v] = simd::load(w + v * step + o * lanes);
      if constexpr (Ahead) __builtin_prefetch(w + (V + v) * step + o * lanes, 0, 2);
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      floats const g = simd::broadcast(dy[r * stride + o]);
#pragma GCC unroll 8
      for (int v = 0; v < V; ++v) sum[r][v] = sum[r][v] + g * u[v];
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) simd::store(d + r * row + v * lanes, sum[r][v]);
}

}  // namespace wide

template <std::same_as<float> T>
std::size_t do_wide_factor_workspace(backend&, matrix<T const> w, index_t used) {
  return static_cast<std::size_t>(simd::vectors(used) * wide::pitch(w.extent(0))) * sizeof(float);
}

template <std::same_as<float> T>
void do_wide_factor(backend& ex, wide_factor<T> const& factor) {
  using namespace wide;
  auto const w = factor.w;
  index_t const n = w.extent(0), used = factor.used, step = pitch(n);
  auto* const out = reinterpret_cast<float*>(factor.laid_out.data);
  parallel_rows(ex, simd::vectors(used), span, [&](index_t first, index_t count, int) {
    for (index_t o = 0; o < padded_rows(n); ++o)
      for (index_t i = first; i < first + count; ++i) {
        simd::tail const part(std::min<index_t>(lanes, used - i * lanes));
        simd::store(out + i * step + o * lanes, o < n ? part.load(&w(o, i * lanes)) : floats{});
      }
  });
}

template <std::same_as<float> T>
std::size_t do_wide_matmul_workspace(backend& ex, wide_factor<T> const&, index_t used, tensor<T, dyn, dyn> y) {
  index_t const m = y.extent(0), n = y.extent(1), chunks = (used + wide_chunk - 1) / wide_chunk;
  return static_cast<std::size_t>(ex.threads * m * wide::sums_row(n) + chunks * m * n) * sizeof(float);
}

template <std::same_as<float> T>
void do_wide_matmul(backend& ex, matrix<T const> x, wide_factor<T> const& factor, index_t used, vec<T const> bias,
                    tensor<T, dyn, dyn> y, workspace ws) {
  using namespace wide;
  index_t const m = y.extent(0), n = y.extent(1), step = pitch(n), row = sums_row(n), panels = simd::vectors(used);
  index_t const chunks = (panels + chunk_panels - 1) / chunk_panels;
  auto const* const w = reinterpret_cast<float const*>(factor.laid_out.data);
  float* const sums = reinterpret_cast<float*>(ws.data);
  float* const partial = sums + ex.threads * m * row;
  parallel_for(ex, chunks, [&](index_t chunk, int thread) {
    float* const mine = sums + thread * m * row;
    std::fill_n(mine, m * row, 0.0f);
    index_t const end = std::min(panels, (chunk + 1) * chunk_panels);
    for (index_t q = chunk * chunk_panels; q < end; q += span) {
      index_t const count = std::min(span, end - q);
      simd::tail const last(std::min<index_t>(lanes, used - (q + count - 1) * lanes));
      auto const* ahead = reinterpret_cast<char const*>(w + (q + count) * step);
      auto const* const ahead_end = reinterpret_cast<char const*>(w + std::min(q + count + span, panels) * step);
      for (index_t c = 0; c < padded_rows(n); c += tile_columns)
        for (index_t r = 0; r < m; r += tile_rows)
          with_constant<tile_rows>(m - r, [&](auto some) {
            dots<decltype(some)::value>(&x(r, q * lanes), x.stride(0), w + q * step + c * lanes, step, count, last,
                                        mine + r * row + c * lanes, row, ahead, ahead_end);
            ahead += count * lines_ahead * line;
          });
    }
    float* const out = partial + chunk * m * n;
    for (index_t r = 0; r < m; ++r)
      for (index_t c = 0; c < n; c += lanes)
        simd::tail(std::min<index_t>(lanes, n - c)).store(out + r * n + c, simd::sums(mine + r * row + c * lanes));
  });
  for (index_t r = 0; r < m; ++r)
    for (index_t c = 0; c < n; ++c) {
      float sum = bias(c);
      for (index_t chunk = 0; chunk < chunks; ++chunk) sum += partial[(chunk * m + r) * n + c];
      y(r, c) = sum;
    }
}

template <std::same_as<float> T>
void do_wide_matmul_back(backend& ex, matrix<T const> dy, wide_factor<T> const& factor, index_t used, matrix<T> dx) {
  using namespace wide;
  index_t const m = dy.extent(0), n = dy.extent(1), step = pitch(n), whole = used / lanes, rest = used % lanes;
  auto const* const w = reinterpret_cast<float const*>(factor.laid_out.data);
  auto const each_tile = [&](auto&& f) {  // calls f(row, the number of rows as a constant)
    for (index_t r = 0; r < m; r += back_rows) with_constant<back_rows>(m - r, [&](auto some) { f(r, some); });
  };
  parallel_rows(ex, whole, chunk_panels, [&](index_t first, index_t count, int) {
    auto const panels = [&](index_t q, auto some_panels) {
      constexpr int V = decltype(some_panels)::value;
      each_tile([&](index_t r, auto some) {
        constexpr int R = decltype(some)::value;
        auto const tile = r == 0 ? &spread<R, V, true> : &spread<R, V, false>;
        tile(&dy(r, 0), dy.stride(0), w + q * step, step, n, &dx(r, q * lanes), dx.stride(0));
      });
    };
    index_t q = first;
    for (; q + back_panels <= first + count; q += back_panels) panels(q, std::integral_constant<int, back_panels>());
    for (; q < first + count; ++q) panels(q, std::integral_constant<int, 1>());
  });
  if (rest == 0) return;
  // The last columns are computed in a copy, because a whole vector would overwrite the next row or end outside the
  // matrix.
  each_tile([&](index_t r, auto some) {
    constexpr int R = decltype(some)::value;
    float part[std::size_t{R * lanes}] = {};
    for (int i = 0; i < R; ++i) std::copy_n(&dx(r + i, whole * lanes), rest, part + i * lanes);
    spread<R, 1, false>(&dy(r, 0), dy.stride(0), w + whole * step, step, n, part, lanes);
    for (int i = 0; i < R; ++i) std::copy_n(part + i * lanes, rest, &dx(r + i, whole * lanes));
  });
}

// In double, BLAS computes the chunks.

template <std::same_as<double> T>
std::size_t do_wide_factor_workspace(backend&, matrix<T const>, index_t) {
  return 0;
}

template <std::same_as<double> T>
void do_wide_factor(backend&, wide_factor<T> const&) {}

template <std::same_as<double> T>
std::size_t do_wide_matmul_workspace(backend& ex, wide_factor<T> const&, index_t used, tensor<T, dyn, dyn> y) {
  return wide_chunks_workspace(ex, used, y);
}

template <std::same_as<double> T>
void do_wide_matmul(backend& ex, matrix<T const> x, wide_factor<T> const& factor, index_t used, vec<T const> bias,
                    tensor<T, dyn, dyn> y, workspace ws) {
  wide_by_chunks(ex, x, factor.w, used, bias, y, ws);
}

template <std::same_as<double> T>
void do_wide_matmul_back(backend& ex, matrix<T const> dy, wide_factor<T> const& factor, index_t used, matrix<T> dx) {
  matmul_add(ex, dy, column_block(factor.w, 0, used), column_block(dx, 0, used));
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
