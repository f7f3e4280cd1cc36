// Triangular attention forward in tiles: one block owns rows i and columns j of one head and passes over the middle nodes l.
// SPDX-License-Identifier: Apache-2.0
//
//   for every chunk of l:   q(i, l), k(l, j) to shared memory;  scores of the chunk
//                           v1(i, l), v2(l, j) over them;  softmax so far
//                           o(i, j) += p v1(i, l) * v2(l, j)     64 accumulators a thread: 4 i, 4 j, 4 columns
//   o / sum and the statistics
//
// The softmax is kept relative to a base that follows the maximum only when that has grown by more than e^8: p stays below 3000,
// which rounds no worse than below 1, and what was summed is hardly ever scaled again.
#pragma once

#include "triad/cuda/launch.cuh"
#include "triad/cuda/triangle_parts.cuh"

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
    if (Width == 32) return {16, 32, 8, 256};
    if (Width == 64) return {16, 16, 8, 256};
    return {8, 16, OwnKey ? 4 : 8, 256};
  } else {
    if (Width == 16) return {16, 32, 4, 128};
    if (Width == 32) return {16, 16, 4, 128};
    return {8, 16, 4, 128};
  }
}

template <class T, int Width, bool OwnKey, bool RightValue>
struct forward_kernel {
  static constexpr char const* name = "triangle forward";
  static constexpr forward_shape shape = forward_tiles<T, Width, OwnKey>();
  static constexpr int threads = shape.threads, rows = shape.rows, columns_ = shape.columns, chunk = shape.chunk;
  static constexpr int stride = Width + 4;  // neighbouring rows begin in other banks
  static constexpr int pairs = (rows * columns_ + threads - 1) / threads;  // of (i, j), whose softmax a thread follows
  static_assert(rows * columns_ * Width == 64 * threads, "triad: a thread of the triangle's forward kernel has 64 accumulators in registers");

  struct shared {
    alignas(16) T left[chunk][rows][stride];                                                  // q(i, l), then v1(i, l)
    alignas(16) T right[OwnKey && !RightValue ? 1 : chunk][columns_][stride];                 // k(l, j), then v2(l, j)
    alignas(16) T own[OwnKey ? rows : 1][OwnKey ? columns_ : 1][OwnKey ? stride : 4];         // k(i, j)
    alignas(16) T p[chunk][rows][columns_ + 8];                                               // scores, then exp(s - base)
    alignas(16) T factor[rows][columns_];                                                     // of what was summed so far
    int moved[threads / warp];                                                                // some factor of the warp is not 1
  };
  static_assert(sizeof(shared) <= most_shared_bytes,
                "triad: a tile of the triangle's forward kernel is larger than the 163 KiB of shared memory of a block");

  /// Tiles: how many cover the largest graph.
  TRIAD_DEVICE void operator()(block const& b, problem<T> const& p, index_t row_tiles, index_t column_tiles, matrix<T> maximum,
                               matrix<T> inverse_sum, columns<T> o) const {
    auto& s = b.shared<shared>();
    index_t where = b.index();
    int const j0 = digit(where, column_tiles) * columns_, i0 = digit(where, row_tiles) * rows;
    index_t const head = digit(where, p.heads);
    one_head<T> const at(p, where, head);
    int const n = at.n, width = p.width;
    if (n <= whole_graph || i0 >= n || j0 >= n) return;  // the whole block

    softmax_state state;
    quad<T> sum[4][4] = {};
    place const mine(b.thread());
    bool const live = i0 + mine.i < n && j0 + mine.j < n && mine.c < width;

    if constexpr (OwnKey)
      copy_rows<threads, Width>(b, at.key, width, rows * columns_,
                                [&](int r) { return edge(at, i0 + r / columns_, j0 + r % columns_); },
                                [&](int r) { return s.own[r / columns_][r % columns_]; });
    for (int l0 = 0; l0 < n; l0 += chunk) {
      int const count = n - l0 < chunk ? n - l0 : chunk;
      copy_left(b, s, at, at.query, i0, l0, count, width);
      if constexpr (!OwnKey) copy_right(b, s, at, at.key, l0, j0, count, width);
      b.sync();
      if constexpr (OwnKey)
        own_scores(b, s, count, width);
      else
        score_tile(b, s, count, width);
      b.sync();
      copy_left(b, s, at, at.left, i0, l0, count, width);
      if constexpr (RightValue) copy_right(b, s, at, at.right, l0, j0, count, width);
      follow_softmax(b, s, p, at, i0, l0, j0, count, state);
      b.sync();
      if (live) accumulate(s, mine, count, sum);
      b.sync();
    }
    finish_softmax(b, s, p, at, i0, j0, state, maximum, inverse_sum);
    b.sync();
    if (!live) return;
    columns<T> const out = o.of_head(head, width);
    TRIAD_UNROLL
    for (int r = 0; r < 4; ++r)
      TRIAD_UNROLL
      for (int t = 0; t < 4; ++t) {
        int const i = i0 + mine.i + r, j = j0 + mine.j + t;
        if (i < n && j < n) out.store(at.row(i, j), mine.c, width, times(sum[r][t], s.factor[mine.i + r][mine.j + t]));
      }
  }

 private:
  /// The accumulators of a thread: 4 rows, columns and channels from here.  The threads of a warp differ in 8 groups of channels
  /// (4 where there are no more), 2 of rows and the rest of columns, so that each row that they load serves several of them.
  struct place {
    int i, j, c;
    TRIAD_DEVICE explicit place(int t) {
      constexpr int quads = Width / 4, near = quads < 8 ? quads : 8, beside = warp / (2 * near);
      static_assert(rows % 8 == 0 && columns_ % (4 * beside) == 0);
      c = digit(t, near);
      i = digit(t, 2);
      j = digit(t, beside);
      c = 4 * (c + near * digit(t, quads / near));
      i = 4 * (i + 2 * digit(t, rows / 8));
      j = 4 * (j + beside * t);
    }
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

  TRIAD_DEVICE static index_t edge(one_head<T> const& at, int i, int j) { return i < at.n && j < at.n ? at.row(i, j) : -1; }

  TRIAD_DEVICE static void copy_left(block const& b, shared& s, one_head<T> const& at, columns<T const> x, int i0, int l0, int count, int width) {
    copy_rows<threads, Width>(b, x, width, count * rows, [&](int r) { return edge(at, i0 + r % rows, l0 + r / rows); },
                              [&](int r) { return s.left[r / rows][r % rows]; });
  }
  TRIAD_DEVICE static void copy_right(block const& b, shared& s, one_head<T> const& at, columns<T const> x, int l0, int j0, int count, int width) {
    copy_rows<threads, Width>(b, x, width, count * columns_, [&](int r) { return edge(at, l0 + r / columns_, j0 + r % columns_); },
                              [&](int r) { return s.right[r / columns_][r % columns_]; });
  }

  /// p(i, l, j) = q(i, l) . k(l, j), not scaled yet: one product of two matrices for each l.  This is where a product on tensor
  /// cores would go.
  TRIAD_DEVICE static void score_tile(block const& b, shared& s, int count, int width) {
    constexpr int each = chunk * rows * columns_ / threads;  // scores of a thread
    constexpr int tall = each >= 16 ? 4 : 2, wide = each >= 8 ? 4 : 2;
    constexpr int down = rows / tall, across = columns_ / wide;
    for (int t = b.thread(); t < count * down * across; t += threads) {
      int rest = t;
      int const j = digit(rest, across), i = digit(rest, down), l = rest;
      T sum[tall][wide] = {};
      for (int c = 0; c < width; c += 4) {
        quad<T> k[wide];
        TRIAD_UNROLL
        for (int e = 0; e < wide; ++e) k[e] = quad_at(&s.right[l][j + e * across][c]);
        TRIAD_UNROLL
        for (int r = 0; r < tall; ++r) {
          quad<T> const q = quad_at(&s.left[l][i + r * down][c]);
          TRIAD_UNROLL
          for (int e = 0; e < wide; ++e) sum[r][e] = dot(q, k[e], sum[r][e]);
        }
      }
      TRIAD_UNROLL
      for (int r = 0; r < tall; ++r)
        TRIAD_UNROLL
        for (int e = 0; e < wide; ++e) s.p[l][i + r * down][j + e * across] = sum[r][e];
    }
  }
  /// p(i, l, j) = q(i, l) . k(i, j), not scaled yet.
  TRIAD_DEVICE static void own_scores(block const& b, shared& s, int count, int width) {
    for (int t = b.thread(); t < rows * columns_; t += threads) {
      int const i = t / columns_, j = t % columns_;
      T sum[chunk] = {};
      for (int c = 0; c < width; c += 4) {
        quad<T> const k = quad_at(&s.own[i][j][c]);
        TRIAD_UNROLL
        for (int l = 0; l < chunk; ++l)
          if (l < count) sum[l] = dot(quad_at(&s.left[l][i][c]), k, sum[l]);
      }
      TRIAD_UNROLL
      for (int l = 0; l < chunk; ++l)
        if (l < count) s.p[l][i][j] = sum[l];
    }
  }

  /// Scores of the chunk to exp(s - base), dropped ones to 0.
  TRIAD_DEVICE static void follow_softmax(block const& b, shared& s, problem<T> const& p, one_head<T> const& at, int i0, int l0, int j0,
                                          int count, softmax_state& state) {
    keeper const keep(p.dropout);  // made for each chunk: kept, it would take registers from the sums
    bool moved = false;
    TRIAD_UNROLL
    for (int r = 0; r < pairs; ++r) {
      int const t = b.thread() + r * threads, i = t / columns_, j = t % columns_;
      if (i >= rows) continue;
      bool const inside = i0 + i < at.n && j0 + j < at.n;
      T top = -::cuda::std::numeric_limits<T>::infinity();
      for (int l = 0; l < count; ++l) {
        T const score = inside && at.masked(i0 + i, l0 + l, j0 + j) ? p.fill : s.p[l][i][j] * p.scale;
        top = score > top ? score : top;
        s.p[l][i][j] = score;
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
      for (int l = 0; l < count; ++l) {
        T const e = exponential(s.p[l][i][j] - state.base[r]);
        state.sum[r] += e;
        s.p[l][i][j] = inside && keep.keeps(at.element(i0 + i, l0 + l, j0 + j)) ? e : T(0);
      }
    }
    auto const which = b.ballot(moved);
    if (b.lane() == 0) s.moved[b.row()] = which != 0;
  }
  TRIAD_DEVICE static void finish_softmax(block const& b, shared& s, problem<T> const& p, one_head<T> const& at, int i0, int j0,
                                          softmax_state const& state, matrix<T> maximum, matrix<T> inverse_sum) {
    TRIAD_UNROLL
    for (int r = 0; r < pairs; ++r) {
      int const t = b.thread() + r * threads, i = t / columns_, j = t % columns_;
      if (i >= rows) continue;
      s.factor[i][j] = p.kept / state.sum[r];
      if (i0 + i >= at.n || j0 + j >= at.n) continue;
      auto const row = at.row(i0 + i, j0 + j);
      maximum(row, at.head) = state.maximum[r];
      inverse_sum(row, at.head) = T(1) / (state.sum[r] * exponential(state.base[r] - state.maximum[r]));
    }
  }

  TRIAD_DEVICE static void accumulate(shared const& s, place const& at, int count, quad<T> (&sum)[4][4]) {
    int moved = 0;
    TRIAD_UNROLL
    for (int w = 0; w < threads / warp; ++w) moved |= s.moved[w];
    if (moved != 0) {
      TRIAD_UNROLL
      for (int r = 0; r < 4; ++r) {
        quad<T> const factor = quad_at(&s.factor[at.i + r][at.j]);
        TRIAD_UNROLL
        for (int t = 0; t < 4; ++t) sum[r][t] = times(sum[r][t], factor.at[t]);
      }
    }
    for (int l = 0; l < count; ++l) {
      quad<T> right[4] = {};
      if constexpr (RightValue) {
        TRIAD_UNROLL
        for (int t = 0; t < 4; ++t) right[t] = quad_at(&s.right[l][at.j + t][at.c]);
      }
      TRIAD_UNROLL
      for (int r = 0; r < 4; ++r) {
        quad<T> const p = quad_at(&s.p[l][at.i + r][at.j]), left = quad_at(&s.left[l][at.i + r][at.c]);
        TRIAD_UNROLL
        for (int t = 0; t < 4; ++t) {
          if constexpr (RightValue)
            add(sum[r][t], p.at[t], left, right[t]);
          else
            add(sum[r][t], p.at[t], left);
        }
      }
    }
  }
};

}  // namespace triad::cuda::triangles
