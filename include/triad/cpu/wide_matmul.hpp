// Products with one very wide matrix, laid out so that both of them read it once, from front to back.
// SPDX-License-Identifier: Apache-2.0
//
// BLAS copies either factor into an order of its own at every call, which takes it longer than the arithmetic where one factor has few
// rows.  Here w (n, k) is copied once, into panels of as many columns as a vector has lanes: a row of a panel is one vector, and the
// panels follow one another.
//
//   y = x w':   lanes along k.  Tiles of sums stay in registers for a span of panels and are kept as vectors until the chunk's end.
//   dx += dy w: lanes along k.  A tile of dx stays in registers while the rows of its panels go by.
#pragma once

#include <algorithm>

#include "triad/cpu/backend.hpp"
#include "triad/cpu/simd.hpp"
#include "triad/reference/wide_matmul.hpp"

namespace triad::cpu {

namespace wide {

using simd::floats;
using simd::lanes;

// Tiles that registers hold: sums (rows of x, rows of w), and dx (rows, panels).
inline constexpr int tile_rows = 4, tile_columns = simd::registers == 32 ? 6 : 2;
inline constexpr int back_rows = simd::registers == 32 ? 8 : 4, back_panels = simd::registers == 32 ? 3 : 2;
inline constexpr index_t span = 32;                                 // panels: a tile's part of them stays in the first cache, all of them in the second
inline constexpr index_t chunk_panels = wide_chunk / lanes;
inline constexpr index_t line_bytes = 64, ahead_lines = 2;          // of the cache: fetched for each panel of a tile, all of the next span where x has some rows

/// Rows of a panel: those of w, and as many of zeros as fill the last tile.
constexpr index_t rows_of(index_t n) { return (n + tile_columns - 1) / tile_columns * tile_columns; }
/// Numbers from one panel to the next: a row more, so that the same rows of all panels do not meet in one set of the cache.
constexpr index_t pitch(index_t n) { return (rows_of(n) + 1) * lanes; }
/// Vectors of sums that a row of x has.
constexpr index_t sums_of(index_t n) { return simd::padded(rows_of(n)); }

/// f(count as a constant), at most Most
template <int Most, class F>
void with_rows(index_t count, F&& f) {
  if constexpr (Most > 1)
    if (count < Most) return with_rows<Most - 1>(count, f);
  f(std::integral_constant<int, Most>());
}

/// sums(r, c) += lanes of x(r, .) w(c, .) over `panels` panels, the last of them `last` wide.  Meanwhile two lines a panel are fetched from
/// `ahead` on.
template <int R>
void dots(float const* x, index_t stride, float const* w, index_t step, index_t panels, simd::tail last, floats* sums, index_t row, std::byte const* ahead) {
  constexpr int C = tile_columns;
  floats sum[R][C];
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c) sum[r][c] = sums[r * row + c];
  auto const add = [&](index_t i, auto part) __attribute__((always_inline)) {
    floats v[C];
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) v[c] = simd::load(w + i * step + c * lanes);
    for (int line = 0; line < ahead_lines; ++line) __builtin_prefetch(ahead + (i * ahead_lines + line) * line_bytes, 0, 2);
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
    for (int c = 0; c < C; ++c) sums[r * row + c] = sum[r][c];
}

/// d(r, .) += sum over o of dy(r, o) w(o, .) for V panels, of which the last is `last` wide.  Ahead: the next V are fetched meanwhile.
template <int R, int V, bool Ahead>
void spread(float const* dy, index_t stride, float const* w, index_t step, index_t n, simd::tail last, float* d, index_t row) {
  floats sum[R][V];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) sum[r][v] = v < V - 1 ? simd::load(d + r * row + v * lanes) : last.load(d + r * row + v * lanes);
  for (index_t o = 0; o < n; ++o) {
    floats u[V];
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) u[v] = simd::load(w + v * step + o * lanes);
    if constexpr (Ahead)
#pragma GCC unroll 8
      for (int v = 0; v < V; ++v) __builtin_prefetch(w + (V + v) * step + o * lanes, 0, 2);
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
    for (int v = 0; v < V; ++v) v < V - 1 ? simd::store(d + r * row + v * lanes, sum[r][v]) : last.store(d + r * row + v * lanes, sum[r][v]);
}

}  // namespace wide

inline std::size_t do_wide_factor_workspace(backend&, matrix<float const> w, index_t used) {
  return static_cast<std::size_t>(simd::vectors(used) * wide::pitch(w.extent(0))) * sizeof(float);
}

inline void do_wide_factor(backend& ex, wide_factor<float> const& factor) {
  using namespace wide;
  auto const w = factor.w;
  index_t const n = w.extent(0), used = factor.used, panels = simd::vectors(used), step = pitch(n);
  auto* const out = reinterpret_cast<float*>(factor.laid_out.data);
  parallel_rows(ex, panels, span, [&](index_t first, index_t count, int) {
    for (index_t o = 0; o < rows_of(n); ++o)
      for (index_t i = first; i < first + count; ++i) {
        simd::tail const part(std::min<index_t>(lanes, used - i * lanes));
        simd::store(out + i * step + o * lanes, o < n ? part.load(&w(o, i * lanes)) : floats{});
      }
  });
}

inline std::size_t do_wide_matmul_workspace(backend& ex, wide_factor<float> const&, index_t used, tensor<float, dyn, dyn> y) {
  index_t const m = y.extent(0), n = y.extent(1), chunks = (used + wide_chunk - 1) / wide_chunk;
  return static_cast<std::size_t>(ex.threads * m * wide::sums_of(n) * wide::lanes + chunks * m * n) * sizeof(float);
}

inline void do_wide_matmul(backend& ex, matrix<float const> x, wide_factor<float> const& factor, index_t used, vec<float const> bias, tensor<float, dyn, dyn> y,
                           workspace ws) {
  using namespace wide;
  index_t const m = y.extent(0), n = y.extent(1), step = pitch(n), row = sums_of(n), panels = simd::vectors(used);
  index_t const chunks = (panels + chunk_panels - 1) / chunk_panels;
  auto const* const w = reinterpret_cast<float const*>(factor.laid_out.data);
  auto* const sums = reinterpret_cast<floats*>(ws.data);
  float* const partial = reinterpret_cast<float*>(sums + ex.threads * m * row);
  parallel_for(ex, chunks, [&](index_t chunk, int thread) {
    floats* const mine = sums + thread * m * row;
    std::fill_n(mine, m * row, floats{});
    index_t const end = std::min(panels, (chunk + 1) * chunk_panels);
    for (index_t q = chunk * chunk_panels; q < end; q += span) {
      index_t const count = std::min(span, end - q);
      simd::tail const last(std::min<index_t>(lanes, used - (q + count - 1) * lanes));
      auto const* ahead = reinterpret_cast<std::byte const*>(w + (q + count) * step);
      for (index_t c = 0; c < rows_of(n); c += tile_columns)
        for (index_t r = 0; r < m; r += tile_rows)
          with_rows<tile_rows>(m - r, [&](auto some) {
            dots<decltype(some)::value>(&x(r, q * lanes), x.stride(0), w + q * step + c * lanes, step, count, last, mine + r * row + c, row, ahead);
            ahead += count * ahead_lines * line_bytes;
          });
    }
    float* const out = partial + chunk * m * n;
    for (index_t r = 0; r < m; ++r)
      for (index_t c = 0; c < n; c += lanes)
        simd::tail(std::min<index_t>(lanes, n - c)).store(out + r * n + c, simd::sums(reinterpret_cast<float const*>(mine + r * row + c)));
  });
  for (index_t r = 0; r < m; ++r)
    for (index_t c = 0; c < n; ++c) {
      float sum = bias(c);
      for (index_t chunk = 0; chunk < chunks; ++chunk) sum += partial[(chunk * m + r) * n + c];
      y(r, c) = sum;
    }
}

inline void do_wide_matmul_back(backend& ex, matrix<float const> dy, wide_factor<float> const& factor, index_t used, matrix<float> dx) {
  using namespace wide;
  index_t const m = dy.extent(0), n = dy.extent(1), step = pitch(n), panels = simd::vectors(used);
  auto const* const w = reinterpret_cast<float const*>(factor.laid_out.data);
  parallel_rows(ex, panels, chunk_panels, [&](index_t first, index_t count, int) {
    auto const at = [&](index_t q, auto some_panels) {
      constexpr int V = decltype(some_panels)::value;
      simd::tail const last(std::min<index_t>(lanes, used - (q + V - 1) * lanes));
      for (index_t r = 0; r < m; r += back_rows)
        with_rows<back_rows>(m - r, [&](auto some) {
          constexpr int R = decltype(some)::value;
          auto const tile = r == 0 ? spread<R, V, true> : spread<R, V, false>;
          tile(&dy(r, 0), dy.stride(0), w + q * step, step, n, last, &dx(r, q * lanes), dx.stride(0));
        });
    };
    index_t q = first;
    for (; q + back_panels <= first + count; q += back_panels) at(q, std::integral_constant<int, back_panels>());
    for (; q < first + count; ++q) at(q, std::integral_constant<int, 1>());
  });
}

}  // namespace triad::cpu
