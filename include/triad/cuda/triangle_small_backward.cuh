// Triangular attention backward of graphs of a few nodes: one small block keeps one head of one graph in shared memory.
// SPDX-License-Identifier: Apache-2.0
//
//   columns in chunks:   scores and dp = sum_c do v1 v2 of all triangles, in registers
//   edge by edge:        p, delta = sum_l p dp (without reading o), w = dropout(p) and ds, in shared memory
//   columns in chunks:   dq, dk, dv1 and dv2, each sum by one thread
#pragma once

#include "triad/cuda/triangle_small.cuh"

namespace triad::cuda::triangles {

template <class T, int N>
constexpr int small_backward_chunk() { return sizeof(T) == 4 ? (N <= 8 ? 32 : 16) : (N <= 8 ? 16 : 4); }

template <class T, int N, bool OwnKey, bool RightValue>
struct small_backward : small_tile<T, N, small_backward_chunk<T, N>(), N <= 8 ? 128 : 256> {
  using base = small_tile<T, N, small_backward_chunk<T, N>(), N <= 8 ? 128 : 256>;
  static constexpr char const* name = "triangle backward of small graphs";
  static constexpr int threads = base::threads, chunk = base::chunk, part = base::part;
  static constexpr int own = N <= 8 ? 2 : 4;  // rows i or columns j of a thread's gradients

  struct shared {
    alignas(16) typename base::rows query, key, left;
    alignas(16) T right[RightValue ? N * N : 1][base::stride];
    alignas(16) typename base::rows d_o;
    T w[N][N][N], ds[N][N][N];  // (l, i, j)
  };
  static_assert(sizeof(shared) <= most_shared_bytes,
                "triad: the triangle's backward kernel for small graphs takes more than the 163 KiB of shared memory of a block");

  TRIAD_DEVICE void operator()(block const& b, problem<T> const& p, columns<T const> d_o, matrix<T const> maximum, matrix<T const> inverse_sum,
                               gradients<T> dx) const {
    auto& s = b.shared<shared>();
    index_t where = b.index();
    index_t const head = digit(where, p.heads);
    one_head<T> const at(p, where, head);
    int const n = at.n, width = p.width;
    if (n > N || n == 0) return;  // the whole block
    columns<T const> const gradient = d_o.of_head(head, width);
    gradients<T> const out{dx.query.of_head(head, width), dx.key.of_head(head, width), dx.left.of_head(head, width), dx.right.of_head(head, width)};

    T score[base::tasks][part] = {}, dp[base::tasks][part] = {};
    for (int c0 = 0; c0 < width; c0 += chunk) {
      copy_all(b, s, at, gradient, c0, width);
      b.sync();
      TRIAD_UNROLL
      for (int r = 0; r < base::tasks; ++r) add_scores(s, typename base::task(b.thread() + r * threads, n), n, width - c0, score[r], dp[r]);
      b.sync();
    }
    TRIAD_UNROLL
    for (int r = 0; r < base::tasks; ++r) {
      typename base::task const my(b.thread() + r * threads, n);
      if (!my.live(n)) continue;
      TRIAD_UNROLL
      for (int e = 0; e < part; ++e)
        if (my.first + e < n) {
          s.w[my.l][my.i][my.first + e] = score[r][e];
          s.ds[my.l][my.i][my.first + e] = dp[r][e];
        }
    }
    b.sync();
    keeper const keep(p.dropout);
    for (int t = b.thread(); t < n * n; t += threads) weights(s, p, at, keep, t / n, t % n, maximum, inverse_sum);
    for (int c0 = 0; c0 < width; c0 += chunk) {
      if (width > chunk) copy_all(b, s, at, gradient, c0, width);  // else they are still there
      b.sync();                                                    // also of the weights
      sums(b, s, at, c0, width, out);
      b.sync();
    }
  }

 private:
  TRIAD_DEVICE static void copy_all(block const& b, shared& s, one_head<T> const& at, columns<T const> const& gradient, int c0, int width) {
    base::copy(b, at, at.query, c0, width, s.query);
    base::copy(b, at, at.key, c0, width, s.key);
    base::copy(b, at, at.left, c0, width, s.left);
    if constexpr (RightValue) base::copy(b, at, at.right, c0, width, s.right);
    base::copy(b, at, gradient, c0, width, s.d_o);
  }

  TRIAD_DEVICE static void add_scores(shared const& s, typename base::task const& my, int n, int columns_left, T (&score)[part], T (&dp)[part]) {
    if (!my.live(n)) return;
    int const here = columns_left < chunk ? columns_left : chunk;
    for (int c = 0; c < here; c += 4) {
      quad<T> const query = quad_at(&s.query[my.i * n + my.l][c]), left = quad_at(&s.left[my.i * n + my.l][c]);
      TRIAD_UNROLL
      for (int e = 0; e < part; ++e) {
        int const j = my.first + e;
        if (j >= n) continue;
        quad<T> const d_o = quad_at(&s.d_o[my.i * n + j][c]);
        score[e] = dot(query, quad_at(&s.key[(OwnKey ? my.i : my.l) * n + j][c]), score[e]);
        if constexpr (RightValue)
          dp[e] = dot(d_o, left, quad_at(&s.right[my.l * n + j][c]), dp[e]);
        else
          dp[e] = dot(d_o, left, dp[e]);
      }
    }
  }

  /// Of edge (i, j): w holds the products q . k and becomes dropout(p); ds holds dp and becomes ds.
  TRIAD_DEVICE static void weights(shared& s, problem<T> const& p, one_head<T> const& at, keeper const& keep, int i, int j, matrix<T const> maximum,
                                   matrix<T const> inverse_sum) {
    int const n = at.n;
    T const top = maximum(at.row(i, j), at.head), inverse = inverse_sum(at.row(i, j), at.head);
    T delta = 0;
    unsigned kept = 0, shut = 0;  // a bit for each l
    for (int l = 0; l < n; ++l) {
      if (at.masked(i, l, j)) shut |= 1u << l;
      if (keep.keeps(at.element(i, l, j))) kept |= 1u << l;
      T const probability = exponential(((shut >> l & 1u) != 0 ? p.fill : s.w[l][i][j] * p.scale) - top) * inverse;
      T const dp = (kept >> l & 1u) != 0 ? s.ds[l][i][j] * p.kept : T(0);
      delta += probability * dp;
      s.w[l][i][j] = probability;
      s.ds[l][i][j] = dp;
    }
    for (int l = 0; l < n; ++l) {
      T const probability = s.w[l][i][j];
      s.ds[l][i][j] = (shut >> l & 1u) != 0 ? T(0) : probability * (s.ds[l][i][j] - delta) * p.scale;
      s.w[l][i][j] = (kept >> l & 1u) != 0 ? probability * p.kept : T(0);
    }
  }

  /// A thread sums over j for own rows i of one l, or over i for own columns j of one l, four channels; own keys: over l for own
  /// columns j of one i.  Rows and columns beyond the graph are read, whatever is there, and not stored.
  TRIAD_DEVICE static void sums(block const& b, shared const& s, one_head<T> const& at, int c0, int width, gradients<T> const& out) {
    int const n = at.n, groups = (n + own - 1) / own, each = n * groups * (chunk / 4);
    for (int t = b.thread(); t < (OwnKey ? 3 : 2) * each; t += threads) {
      int rest = t;
      int const c = 4 * digit(rest, chunk / 4), first = own * digit(rest, groups), one = digit(rest, n);
      if (c0 + c >= width) continue;
      if (rest == 0)
        sum_of_rows(s, at, one, first, c0, c, width, out);
      else if (rest == 1)
        sum_of_columns(s, at, one, first, c0, c, width, out);
      else
        sum_of_own_keys(s, at, one, first, c0, c, width, out);
    }
  }
  TRIAD_DEVICE static void sum_of_rows(shared const& s, one_head<T> const& at, int l, int i, int c0, int c, int width, gradients<T> const& out) {
    int const n = at.n;
    quad<T> dq[own] = {}, dv[own] = {};
    for (int j = 0; j < n; ++j) {
      quad<T> key{}, right{};
      if constexpr (!OwnKey) key = quad_at(&s.key[l * n + j][c]);
      if constexpr (RightValue) right = quad_at(&s.right[l * n + j][c]);
      TRIAD_UNROLL
      for (int r = 0; r < own; ++r) {
        quad<T> const d_o = quad_at(&s.d_o[(i + r) * n + j][c]);
        if constexpr (OwnKey) key = quad_at(&s.key[(i + r) * n + j][c]);
        add(dq[r], s.ds[l][i + r][j], key);
        if constexpr (RightValue)
          add(dv[r], s.w[l][i + r][j], d_o, right);
        else
          add(dv[r], s.w[l][i + r][j], d_o);
      }
    }
    TRIAD_UNROLL
    for (int r = 0; r < own; ++r)
      if (i + r < n) {
        out.query.store(at.row(i + r, l), c0 + c, width, dq[r]);
        out.left.store(at.row(i + r, l), c0 + c, width, dv[r]);
      }
  }
  TRIAD_DEVICE static void sum_of_columns(shared const& s, one_head<T> const& at, int l, int j, int c0, int c, int width, gradients<T> const& out) {
    if constexpr (!OwnKey || RightValue) {
      int const n = at.n;
      quad<T> dk[own] = {}, dv[own] = {};
      for (int i = 0; i < n; ++i) {
        quad<T> const query = quad_at(&s.query[i * n + l][c]), left = quad_at(&s.left[i * n + l][c]);
        TRIAD_UNROLL
        for (int r = 0; r < own; ++r) {
          if constexpr (!OwnKey) add(dk[r], s.ds[l][i][j + r], query);
          if constexpr (RightValue) add(dv[r], s.w[l][i][j + r], quad_at(&s.d_o[i * n + j + r][c]), left);
        }
      }
      TRIAD_UNROLL
      for (int r = 0; r < own; ++r)
        if (j + r < n) {
          if constexpr (!OwnKey) out.key.store(at.row(l, j + r), c0 + c, width, dk[r]);
          if constexpr (RightValue) out.right.store(at.row(l, j + r), c0 + c, width, dv[r]);
        }
    }
  }
  TRIAD_DEVICE static void sum_of_own_keys(shared const& s, one_head<T> const& at, int i, int j, int c0, int c, int width, gradients<T> const& out) {
    int const n = at.n;
    quad<T> dk[own] = {};
    for (int l = 0; l < n; ++l) {
      quad<T> const query = quad_at(&s.query[i * n + l][c]);
      TRIAD_UNROLL
      for (int r = 0; r < own; ++r) add(dk[r], s.ds[l][i][j + r], query);
    }
    TRIAD_UNROLL
    for (int r = 0; r < own; ++r)
      if (j + r < n) out.key.store(at.row(i, j + r), c0 + c, width, dk[r]);
  }
};

}  // namespace triad::cuda::triangles
