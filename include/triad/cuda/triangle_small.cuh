// Triangular attention forward of graphs of a few nodes: one small block keeps one head of one graph in shared memory.
// SPDX-License-Identifier: Apache-2.0
//
// Such graphs come by the hundred (CLUTRR: 3 to 11 nodes), and moving their rows costs more than the arithmetic: blocks are small,
// so that many are on a processor and wait for memory at the same time.  Columns pass in chunks, so any width does; scores of all
// triangles stay, n^3 <= 4096 of them.
#pragma once

#include "triad/cuda/launch.cuh"
#include "triad/cuda/triangle_parts.cuh"

namespace triad::cuda::triangles {

/// What forward and backward share.  Rows are edges in their own order, (i, l) or (l, j).  N: room for nodes.
template <class T, int N, int Chunk, int Threads>
struct small_tile {
  static constexpr int threads = Threads, chunk = Chunk, stride = Chunk + 4;
  static constexpr int part = N / 2;                            // columns j of a thread's scores
  static constexpr int tasks = (2 * N * N + threads - 1) / threads;  // of (l, i) and half of the columns j
  using rows = T[N * N][stride];

  /// Columns c0 .. c0 + chunk of all edges.
  TRIAD_DEVICE static void copy(block const& b, one_head<T> const& at, columns<T const> const& x, int c0, int width, rows& to) {
    columns<T const> const from{x.data + c0 * x.column, x.row, x.column, x.grain};
    copy_rows<threads, chunk>(b, from, width - c0, at.n * at.n, [&](int r) { return at.first_row + r; }, [&](int r) { return &to[r][0]; });
  }

  /// Scores (i, l, first) .. (i, l, first + part) of one thread.
  struct task {
    int i, l, first;
    TRIAD_DEVICE task(int t, int n) : i(t / 2 % n), l(t / 2 / n), first(t % 2 * part) {}
    TRIAD_DEVICE bool live(int n) const { return l < n && first < n; }
  };
};

template <class T, int N>
constexpr int small_forward_chunk() { return sizeof(T) == 4 ? 32 : 16; }

template <class T, int N, bool OwnKey, bool RightValue>
struct small_forward : small_tile<T, N, small_forward_chunk<T, N>(), 128> {
  using base = small_tile<T, N, small_forward_chunk<T, N>(), 128>;
  static constexpr char const* name = "triangle forward of small graphs";
  static constexpr int threads = base::threads, chunk = base::chunk, part = base::part;
  static constexpr int own = N <= 8 ? 2 : 4;  // rows i and columns j of a thread's outputs

  struct shared {
    alignas(16) typename base::rows left, right;  // q and k, then v1 and v2
    T p[N][N][N];                                 // (l, i, j)
  };
  static_assert(sizeof(shared) <= most_shared_bytes,
                "triad: the triangle's forward kernel for small graphs takes more than the 163 KiB of shared memory of a block");

  TRIAD_DEVICE void operator()(block const& b, problem<T> const& p, matrix<T> maximum, matrix<T> inverse_sum, columns<T> o) const {
    auto& s = b.shared<shared>();
    index_t where = b.index();
    index_t const head = digit(where, p.heads);
    one_head<T> const at(p, where, head);
    int const n = at.n, width = p.width;
    if (n > N || n == 0) return;  // the whole block

    T score[base::tasks][part] = {};
    for (int c0 = 0; c0 < width; c0 += chunk) {
      int const here = width - c0 < chunk ? width - c0 : chunk;
      base::copy(b, at, at.query, c0, width, s.left);
      base::copy(b, at, at.key, c0, width, s.right);
      b.sync();
      TRIAD_UNROLL
      for (int r = 0; r < base::tasks; ++r) {
        typename base::task const my(b.thread() + r * threads, n);
        if (!my.live(n)) continue;
        for (int c = 0; c < here; c += 4) {
          quad<T> const q = quad_at(&s.left[my.i * n + my.l][c]);
          TRIAD_UNROLL
          for (int e = 0; e < part; ++e)
            if (my.first + e < n) score[r][e] = dot(q, quad_at(&s.right[(OwnKey ? my.i : my.l) * n + my.first + e][c]), score[r][e]);
        }
      }
      b.sync();
    }
    TRIAD_UNROLL
    for (int r = 0; r < base::tasks; ++r) {
      typename base::task const my(b.thread() + r * threads, n);
      if (!my.live(n)) continue;
      TRIAD_UNROLL
      for (int e = 0; e < part; ++e)
        if (my.first + e < n) s.p[my.l][my.i][my.first + e] = at.masked(my.i, my.l, my.first + e) ? p.fill : score[r][e] * p.scale;
    }
    b.sync();
    keeper const keep(p.dropout);
    for (int t = b.thread(); t < n * n; t += threads) softmax(s, p, at, keep, t / n, t % n, maximum, inverse_sum);
    for (int c0 = 0; c0 < width; c0 += chunk) {
      base::copy(b, at, at.left, c0, width, s.left);
      if constexpr (RightValue) base::copy(b, at, at.right, c0, width, s.right);
      b.sync();  // also of p
      outputs(b, s, at, c0, width, o.of_head(head, width));
      b.sync();
    }
  }

 private:
  TRIAD_DEVICE static void softmax(shared& s, problem<T> const& p, one_head<T> const& at, keeper const& keep, int i, int j, matrix<T> maximum,
                                   matrix<T> inverse_sum) {
    int const n = at.n;
    T top = s.p[0][i][j], sum = 0;
    for (int l = 1; l < n; ++l) top = s.p[l][i][j] > top ? s.p[l][i][j] : top;
    for (int l = 0; l < n; ++l) sum += s.p[l][i][j] = exponential(s.p[l][i][j] - top);
    T const inverse = T(1) / sum;
    for (int l = 0; l < n; ++l) s.p[l][i][j] = keep.keeps(at.element(i, l, j)) ? s.p[l][i][j] * (inverse * p.kept) : T(0);
    maximum(at.row(i, j), at.head) = top;
    inverse_sum(at.row(i, j), at.head) = inverse;
  }

  /// A thread sums own rows i, own columns j and four channels; those beyond the graph are read, whatever is there, and not stored.
  TRIAD_DEVICE static void outputs(block const& b, shared const& s, one_head<T> const& at, int c0, int width, columns<T> const& o) {
    int const n = at.n, groups = (n + own - 1) / own;
    for (int t = b.thread(); t < groups * groups * (chunk / 4); t += threads) {
      int rest = t;
      int const c = 4 * digit(rest, chunk / 4), j = own * digit(rest, groups), i = own * rest;
      if (c0 + c >= width) continue;
      quad<T> sum[own][own] = {};
      for (int l = 0; l < n; ++l) {
        quad<T> right[own] = {};
        if constexpr (RightValue) {
          TRIAD_UNROLL
          for (int e = 0; e < own; ++e) right[e] = quad_at(&s.right[l * n + j + e][c]);
        }
        TRIAD_UNROLL
        for (int r = 0; r < own; ++r) {
          quad<T> const left = quad_at(&s.left[(i + r) * n + l][c]);
          TRIAD_UNROLL
          for (int e = 0; e < own; ++e) {
            if constexpr (RightValue)
              add(sum[r][e], s.p[l][i + r][j + e], left, right[e]);
            else
              add(sum[r][e], s.p[l][i + r][j + e], left);
          }
        }
      }
      TRIAD_UNROLL
      for (int r = 0; r < own; ++r)
        TRIAD_UNROLL
        for (int e = 0; e < own; ++e)
          if (i + r < n && j + e < n) o.store(at.row(i + r, j + e), c0 + c, width, sum[r][e]);
    }
  }
};

}  // namespace triad::cuda::triangles
