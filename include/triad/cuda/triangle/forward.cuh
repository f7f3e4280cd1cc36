// Triangular attention forward in tiles: one block owns rows i and columns j of one head and passes over the middle
// nodes l.
// SPDX-License-Identifier: Apache-2.0
//
//   for every chunk of l:   scores of q(i, l), k(l, j)    while v1(i, l) and v2(l, j) are on their way to shared memory
//                           softmax so far                       while q and k of the next chunk are
//                           o(i, j) += p v1(i, l) * v2(l, j)     64 accumulators a thread: 4 i, 4 j, 4 columns
//   o / sum and the statistics
//
// Causal: l ends with the last that is open to an edge of the tile; scores of those that are closed to some are
// -infinity.
//
// Shared memory serves 16 bytes a thread in 4 cycles of a processor, in which it could start 16 multiplications a
// thread; half as long where threads whose numbers differ in the lowest or second bit read the same.  So threads have
// blocks of outputs in registers, and digits of rows and columns alternate in their numbers.
//
// The softmax is kept relative to a base that follows the maximum only when that has grown by more than e^8: p stays
// below 3000, which rounds no worse than below 1, and what was summed is hardly ever scaled again.
#pragma once

#include "triad/cuda/device/launch.cuh"
#include "triad/cuda/triangle/parts.cuh"

namespace triad::cuda::triangles {

struct forward_shape {
  int rows, columns;  // of a tile
  int chunk;          // middle nodes at a time
  int threads;
};

/// By the room for columns of a head; a thread has 64 accumulators, so rows * columns * width = 64 * threads.
template <class T, int Width, bool OwnKey>
constexpr forward_shape forward_tiles() {
  if constexpr (sizeof(T) == 4) {
    if (Width == 16) return {32, 32, OwnKey ? 4 : 8, 256};
    if (Width == 32) return {16, 32, OwnKey ? 4 : 8, 256};
    if (Width == 64) return {16, 16, OwnKey ? 4 : 8, 256};
    return {8, 16, 4, 256};
  } else {
    if (Width == 16) return {16, 32, 4, 128};
    if (Width == 32) return {16, 16, 4, 128};
    return {8, 16, 4, 128};
  }
}

template <class T, int Width, bool OwnKey, bool RightValue, product_path Path = product_path::exact>
struct forward_kernel {
  static constexpr char const* name = "triangle forward";
  static constexpr forward_shape shape = forward_tiles<T, Width, OwnKey>();
  static constexpr int threads = shape.threads, rows = shape.rows, tile_columns = shape.columns, chunk = shape.chunk;
  static constexpr int stride = Width + 4;  // neighbouring rows begin in other banks
  static constexpr int pairs =
      (rows * tile_columns + threads - 1) / threads;  // of (i, j), whose softmax a thread follows
  static_assert(rows * tile_columns * Width == 64 * threads,
                "triad: a thread of the triangle's forward kernel has 64 accumulators in registers");
  static constexpr bool of_tiles = Path != product_path::exact;  // scores are products of tiles
  static_assert(
      !of_tiles || takes_tile_products<T, Width, OwnKey>,
      "triad: scores are products of tiles in float, for heads of up to 64 columns, and where keys are not own");

  struct shared {
    alignas(16) T query[chunk][rows][stride];                                                             // q(i, l)
    alignas(16) T key[OwnKey ? 1 : chunk][OwnKey ? 1 : tile_columns][OwnKey ? 4 : stride];                // k(l, j)
    alignas(16) T own[OwnKey ? rows : 1][OwnKey ? tile_columns : 1][OwnKey ? stride : 4];                 // k(i, j)
    alignas(16) T left[chunk][rows][stride];                                                              // v1(i, l)
    alignas(16) T right[RightValue ? chunk : 1][RightValue ? tile_columns : 1][RightValue ? stride : 4];  // v2(l, j)
    alignas(16) T p[chunk][rows][tile_columns + 4];  // scores, then exp(s - base)
    alignas(16) T factor[rows][tile_columns];        // of what was summed so far
    int moved[threads / warp];                       // some factor of the warp is not 1
  };
  static_assert(
      sizeof(shared) <= most_shared_bytes,
      "triad: a tile of the triangle's forward kernel is larger than the 163 KiB of shared memory of a block");

  /// Tiles: how many cover the largest graph.
  TRIAD_DEVICE void operator()(block const& b, problem<T> const& p, index_t row_tiles, index_t column_tiles,
                               matrix<T> maximum, matrix<T> inverse_sum, columns<T> o) const {
    auto& s = b.shared<shared>();
    index_t where = b.index();
    int const j0 = digit(where, column_tiles) * tile_columns, i0 = digit(where, row_tiles) * rows;
    index_t const head = digit(where, p.heads);
    one_head<T> const at(p, where, head);
    int const n = at.n, width = p.width;
    if (n <= whole_graph || i0 >= n || j0 >= n) return;  // the whole block

    softmax_state state;
    sums sum = {};
    place const mine(b.thread());
    bool const live = i0 + mine.i < n && j0 + mine.j < n && mine.c < width;

    if constexpr (OwnKey)
      start_rows<threads, Width, rows * tile_columns>(
          b, at.key, width, width, [&](int r) { return at.edge(i0 + r / tile_columns, j0 + r % tile_columns); },
          [&](int r) { return s.own[r / tile_columns][r % tile_columns]; });
    int const end = at.end(i0 + rows - 1, j0 + tile_columns - 1);
    start_scored(b, s, at, i0, 0, j0, end);
    for (int l0 = 0; l0 < end; l0 += chunk) {
      int const count = end - l0 < chunk ? end - l0 : chunk;
      start_values(b, s, at, i0, l0, j0);
      b.wait_for_copies<1>();  // values may be late
      b.sync();
      if constexpr (OwnKey)
        own_scores(b, s, width);
      else if constexpr (of_tiles)
        score_products(b, s, p, count);
      else
        score_tile(b, s, count, width);
      b.sync();
      start_scored(b, s, at, i0, l0 + chunk, j0, end);
      follow_softmax(b, s, p, at, i0, l0, j0, count, state);
      b.wait_for_copies<1>();  // queries and keys may be late
      b.sync();
      if (live) accumulate(s, mine, count, sum);
      b.sync();
    }
    finish_softmax(b, s, p, at, i0, j0, state, maximum, inverse_sum);
    b.sync();
    if (!live) return;
    columns<T> const out = at.part(o);
    TRIAD_UNROLL
    for (int r = 0; r < own_rows; ++r) TRIAD_UNROLL
    for (int t = 0; t < own_columns; ++t) {
      int const i = mine.row(r), j = mine.column(t);
      if (i0 + i >= n || j0 + j >= n) continue;
      TRIAD_UNROLL
      for (int q = 0; q < own_quads; ++q)
        if (mine.channel(q) < width)
          out.store(at.row(i0 + i, j0 + j), mine.channel(q), width, times(sum[r][t][q], s.factor[i][j]));
    }
  }

 private:
  // What a thread sums: rows i, columns j, quads of channels.  Without a right value the output of row i is a product
  // of two matrices, p(i, ., .)' v1(i, .), so a thread has one row and more of the rest: 4 loads of 16 bytes for 64
  // multiplications instead of 8.
  static constexpr int own_rows = RightValue ? 4 : 1, own_columns = RightValue ? 4 : 8, own_quads = RightValue ? 1 : 2;
  using sums = quad<T>[own_rows][own_columns][own_quads];
  /// Where these begin.  Neighbours read the same v2, or the same p; the next but one the same v1.
  struct place {
    int i, j, c;
    TRIAD_DEVICE explicit place(int t) {
      constexpr int quads = Width / 4 / own_quads, near = quads < 8 ? quads : 8;
      static_assert(rows % (2 * own_rows) == 0 && tile_columns % (2 * own_columns) == 0 && quads % 2 == 0);
      if constexpr (RightValue) {
        i = digit(t, 2);
        j = digit(t, 2);
        c = digit(t, near);
      } else {
        c = digit(t, 2);
        j = digit(t, 2);
        c += 2 * digit(t, near / 2);
        i = digit(t, 2);
      }
      c = 4 * (c + near * digit(t, quads / near));
      i = own_rows * (i + 2 * digit(t, rows / own_rows / 2));
      j = 4 * (j + 2 * t);
    }
    TRIAD_DEVICE int row(int r) const { return i + r; }
    TRIAD_DEVICE int column(int t) const { return j + t / 4 * (tile_columns / (own_columns / 4)) + t % 4; }
    TRIAD_DEVICE int channel(int q) const { return c + q * (Width / own_quads); }
  };
  struct softmax_state {
    T maximum[pairs], base[pairs], sum[pairs];
    TRIAD_DEVICE softmax_state() {
      TRIAD_UNROLL
      for (int r = 0; r < pairs; ++r) {
        maximum[r] = -::cuda::std::numeric_limits<T>::infinity();
        base[r] = ::cuda::std::numeric_limits<T>::lowest();
        sum[r] = 0;
      }
    }
  };

  // One group of copies each, of nothing where the chunk is beyond the end.
  TRIAD_DEVICE static void start_scored(block const& b, shared& s, one_head<T> const& at, int i0, int l0, int j0,
                                        int end) {
    if (l0 < end) {
      int const filled = of_tiles ? terms_of(at.width) : at.width;
      start_left(b, s.query, at.query, at, i0, l0, filled);
      if constexpr (!OwnKey) start_right(b, s.key, at.key, at, l0, j0, filled);
    }
    b.end_copies();
  }
  TRIAD_DEVICE static void start_values(block const& b, shared& s, one_head<T> const& at, int i0, int l0, int j0) {
    start_left(b, s.left, at.left, at, i0, l0, at.width);
    if constexpr (RightValue) start_right(b, s.right, at.right, at, l0, j0, at.width);
    b.end_copies();
  }
  TRIAD_DEVICE static void start_left(block const& b, T (&to)[chunk][rows][stride], columns<T const> const& x,
                                      one_head<T> const& at, int i0, int l0, int filled) {
    start_rows<threads, Width, chunk * rows>(
        b, x, at.width, filled, [&](int r) { return at.edge(i0 + r % rows, l0 + r / rows); },
        [&](int r) { return to[r / rows][r % rows]; });
  }
  TRIAD_DEVICE static void start_right(block const& b, T (&to)[chunk][tile_columns][stride], columns<T const> const& x,
                                       one_head<T> const& at, int l0, int j0, int filled) {
    start_rows<threads, Width, chunk * tile_columns>(
        b, x, at.width, filled, [&](int r) { return at.edge(l0 + r / tile_columns, j0 + r % tile_columns); },
        [&](int r) { return to[r / tile_columns][r % tile_columns]; });
  }

  /// p(i, l, j) = q(i, l) . k(l, j), not scaled yet: a warp has 16 rows of one l.
  TRIAD_DEVICE static void score_products(block const& b, shared& s, problem<T> const& p, int count) {
    constexpr int tiles = tile_columns / 8;
    tile_lane const lane(b);
    for (int t = b.row(); t < count * (rows / 16); t += threads / warp) {
      int rest = t;
      int const i = 16 * digit(rest, rows / 16), l = rest;
      T sum[tiles][4] = {};
      add_tile_product<Path, tiles>(
          p.factors, lane, terms_of(p.width), [&](int r, int c) { return s.query[l][i + r][c]; },
          [&](int c, int j) { return s.key[l][j][c]; }, sum);
      TRIAD_UNROLL
      for (int tile = 0; tile < tiles; ++tile) TRIAD_UNROLL
      for (int e = 0; e < 4; ++e) s.p[l][i + lane.row() + e / 2 * 8][8 * tile + lane.column() + e % 2] = sum[tile][e];
    }
  }
  /// The same, exactly: one product of two matrices for each l.
  TRIAD_DEVICE static void score_tile(block const& b, shared& s, int count, int width) {
    constexpr int each = chunk * rows * tile_columns / threads;  // scores of a thread
    constexpr int rows_each = each >= 16 ? 4 : 2, columns_each = each >= 8 ? 4 : 2;
    constexpr int down = rows / rows_each, across = tile_columns / columns_each;
    static_assert(down % 4 == 0 && across % 4 == 0);
    for (int t = b.thread(); t < count * down * across; t += threads) {
      int rest = t, i = digit(rest, 2), j = digit(rest, 2);
      i += 2 * digit(rest, 2);
      j += 2 * digit(rest, 2);
      i += 4 * digit(rest, down / 4);
      j += 4 * digit(rest, across / 4);
      int const l = rest;
      T sum[rows_each][columns_each] = {};
      for (int c = 0; c < width; c += 4) {
        quad<T> k[columns_each];
        TRIAD_UNROLL
        for (int e = 0; e < columns_each; ++e) k[e] = quad_at(&s.key[l][j + e * across][c]);
        TRIAD_UNROLL
        for (int r = 0; r < rows_each; ++r) {
          quad<T> const q = quad_at(&s.query[l][i + r * down][c]);
          TRIAD_UNROLL
          for (int e = 0; e < columns_each; ++e) sum[r][e] = dot(q, k[e], sum[r][e]);
        }
      }
      TRIAD_UNROLL
      for (int r = 0; r < rows_each; ++r) TRIAD_UNROLL
      for (int e = 0; e < columns_each; ++e) s.p[l][i + r * down][j + e * across] = sum[r][e];
    }
  }
  /// p(i, l, j) = q(i, l) . k(i, j), not scaled yet: one product of two matrices for each i.
  TRIAD_DEVICE static void own_scores(block const& b, shared& s, int width) {
    constexpr int down = chunk / 2, across = tile_columns / 2;
    for (int t = b.thread(); t < rows * down * across; t += threads) {
      int rest = t, l = digit(rest, 2), j = digit(rest, 2);
      l += 2 * digit(rest, down / 2);
      j += 2 * digit(rest, across / 2);
      int const i = rest;
      T sum[2][2] = {};
      for (int c = 0; c < width; c += 4) {
        quad<T> const k[2] = {quad_at(&s.own[i][j][c]), quad_at(&s.own[i][j + across][c])};
        TRIAD_UNROLL
        for (int r = 0; r < 2; ++r) {
          quad<T> const q = quad_at(&s.query[l + r * down][i][c]);
          TRIAD_UNROLL
          for (int e = 0; e < 2; ++e) sum[r][e] = dot(q, k[e], sum[r][e]);
        }
      }
      TRIAD_UNROLL
      for (int r = 0; r < 2; ++r) TRIAD_UNROLL
      for (int e = 0; e < 2; ++e) s.p[l + r * down][i][j + e * across] = sum[r][e];
    }
  }

  /// Scores of the chunk to exp(s - base), dropped ones to 0.
  TRIAD_DEVICE static void follow_softmax(block const& b, shared& s, problem<T> const& p, one_head<T> const& at, int i0,
                                          int l0, int j0, int count, softmax_state& state) {
    bool moved = false;
    TRIAD_UNROLL
    for (int r = 0; r < pairs; ++r) {
      int const t = b.thread() + r * threads, i = t / tile_columns, j = t % tile_columns;
      if (i >= rows) continue;
      bool const inside = i0 + i < at.n && j0 + j < at.n;
      T score[chunk], top = -::cuda::std::numeric_limits<T>::infinity();
      TRIAD_UNROLL
      for (int l = 0; l < chunk; ++l) {
        score[l] = l < count ? s.p[l][i][j] * p.scale : -::cuda::std::numeric_limits<T>::infinity();
        if (l < count && inside && at.masked(i0 + i, l0 + l, j0 + j)) score[l] = p.fill;
        if (!at.open(i0 + i, l0 + l, j0 + j)) score[l] = -::cuda::std::numeric_limits<T>::infinity();
        top = score[l] > top ? score[l] : top;
      }
      state.maximum[r] = top > state.maximum[r] ? top : state.maximum[r];
      T factor = 1;
      if (top > state.base[r] + 8) {
        factor = exponential(state.base[r] - top);
        state.base[r] = top;
        state.sum[r] *= factor;
        moved = true;
      }
      s.factor[i][j] = factor;
      TRIAD_UNROLL
      for (int l = 0; l < chunk; ++l) {
        T const e = exponential(score[l] - state.base[r]);
        state.sum[r] += e;
        s.p[l][i][j] = inside ? e : T(0);
      }
      if (p.threshold == 0 || !inside) continue;
      keeper const keep(p);  // made for each chunk: kept, it would take registers from the sums
      for (int l = 0; l < count; ++l)
        if (!keep.keeps(at.element(i0 + i, l0 + l, j0 + j))) s.p[l][i][j] = 0;
    }
    auto const which = b.ballot(moved);
    if (b.lane() == 0) s.moved[b.row()] = which != 0;
  }
  TRIAD_DEVICE static void finish_softmax(block const& b, shared& s, problem<T> const& p, one_head<T> const& at, int i0,
                                          int j0, softmax_state const& state, matrix<T> maximum,
                                          matrix<T> inverse_sum) {
    TRIAD_UNROLL
    for (int r = 0; r < pairs; ++r) {
      int const t = b.thread() + r * threads, i = t / tile_columns, j = t % tile_columns;
      if (i >= rows) continue;
      s.factor[i][j] = p.kept / state.sum[r];
      if (i0 + i >= at.n || j0 + j >= at.n) continue;
      auto const row = at.row(i0 + i, j0 + j);
      at.number(maximum, row) = state.maximum[r];
      at.number(inverse_sum, row) = T(1) / (state.sum[r] * exponential(state.base[r] - state.maximum[r]));
    }
  }

  TRIAD_DEVICE static void accumulate(shared const& s, place const& at, int count, sums& sum) {
    int moved = 0;
    TRIAD_UNROLL
    for (int w = 0; w < threads / warp; ++w) moved |= s.moved[w];
    if (moved != 0) {
      TRIAD_UNROLL
      for (int r = 0; r < own_rows; ++r) TRIAD_UNROLL
      for (int t = 0; t < own_columns; t += 4) {
        quad<T> const factor = quad_at(&s.factor[at.row(r)][at.column(t)]);
        TRIAD_UNROLL
        for (int e = 0; e < 4; ++e) TRIAD_UNROLL
        for (int q = 0; q < own_quads; ++q) sum[r][t + e][q] = times(sum[r][t + e][q], factor.at[e]);
      }
    }
    for (int l = 0; l < count; ++l) {
      quad<T> right[own_columns] = {};
      if constexpr (RightValue) {
        TRIAD_UNROLL
        for (int t = 0; t < own_columns; ++t) right[t] = quad_at(&s.right[l][at.column(t)][at.channel(0)]);
      }
      TRIAD_UNROLL
      for (int r = 0; r < own_rows; ++r) {
        quad<T> left[own_quads];
        TRIAD_UNROLL
        for (int q = 0; q < own_quads; ++q) left[q] = quad_at(&s.left[l][at.row(r)][at.channel(q)]);
        TRIAD_UNROLL
        for (int t = 0; t < own_columns; t += 4) {
          quad<T> const p = quad_at(&s.p[l][at.row(r)][at.column(t)]);
          TRIAD_UNROLL
          for (int e = 0; e < 4; ++e) TRIAD_UNROLL
          for (int q = 0; q < own_quads; ++q) {
            if constexpr (RightValue)
              add(sum[r][t + e][q], p.at[e], left[q], right[t + e]);
            else
              add(sum[r][t + e][q], p.at[e], left[q]);
          }
        }
      }
    }
  }
};

}  // namespace triad::cuda::triangles
