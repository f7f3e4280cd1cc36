// Triangular attention backward in tiles: one block owns some middle nodes l of one head and passes over all (i, j).
// SPDX-License-Identifier: Apache-2.0
//
//   for tiles of rows i:        q(i, l), v1(i, l) to shared memory
//     for tiles of columns j:   do(i, j), k(l, j), v2(l, j) to shared memory;  w and ds of the tile
//       half of the threads     dv1(i, l) += w do * v2(l, j),   dq(i, l) += ds k(l, j)     in registers until the rows are done
//       the other half          dv2(l, j) += w do * v1(i, l),   dk(l, j) += ds q(i, l)     added to this block's rows of dk and dv2
//
// Everything that a block writes is complete from its own l, so nothing is added by two blocks and the order of every sum is fixed.
// The two halves form w do twice, 9 multiplications and additions an element instead of 8, which saves the sums that one half
// would have to keep in shared memory.  A key of its own, k(i, j), is not owned by l: own_key_kernel has its gradient.
#pragma once

#include "triad/cuda/triangle_tile.cuh"

namespace triad::cuda::triangles {

template <class T, int Width, bool OwnKey, bool RightValue>
struct backward_kernel : backward_tile<T, Width, OwnKey, RightValue> {
  using base = backward_tile<T, Width, OwnKey, RightValue>;
  using shared = typename base::shared;
  static constexpr char const* name = "triangle backward";
  static constexpr int threads = base::threads, tile = base::tile, middles = base::middles, stride = base::stride, quads = Width / 4;
  static constexpr int weight_stride = base::weight_stride;
  static constexpr int own = tile * middles * quads * 2 / threads;  // rows i or columns j of a thread
  static_assert(own % 4 == 0 && tile % own == 0 && middles * quads * (tile / own) == threads / 2,
                "triad: half of the threads of the triangle's backward kernel own the rows of a tile, 4 or 8 each");
  static_assert(own <= 8, "triad: a thread of the triangle's backward kernel has at most 64 accumulators in registers");

  TRIAD_DEVICE void operator()(block const& b, problem<T> const& p, index_t blocks_of_l, columns<T const> d_o, statistics_views<T> statistics,
                               gradients<T> dx) const {
    auto& s = b.shared<shared>();
    index_t where = b.index();
    int const l0 = digit(where, blocks_of_l) * middles;
    index_t const head = digit(where, p.heads);
    one_head<T> const at(p, where, head);
    int const n = at.n, width = p.width;
    if (n <= whole_graph || l0 >= n) return;  // the whole block

    keeper const keep(p.dropout);
    columns<T const> const gradient = d_o.of_head(head, width);
    columns<T> const dq = dx.query.of_head(head, width), dk = dx.key.of_head(head, width), dv1 = dx.left.of_head(head, width),
                     dv2 = dx.right.of_head(head, width);
    place const mine(b.thread() % (threads / 2));
    bool const of_rows = b.thread() < threads / 2, live = mine.c < width && l0 + mine.l < n;
    for (int i0 = 0; i0 < n; i0 += tile) {
      quad<T> value[own] = {}, score[own] = {};  // sums of w do * v and of ds k or ds q
      for (int j0 = 0; j0 < n; j0 += tile) {
        b.sync();
        if (j0 == 0) base::copy_left(b, s, p, at, i0, l0);
        base::copy_right(b, s, p, at, l0, j0);
        base::copy_pairs(b, s, p, at, gradient, statistics, i0, j0);
        b.sync();
        base::make_weights(b, s, p, at, keep, i0, l0, j0);
        b.sync();
        if (live && of_rows) {
          accumulate<true>(s, mine, n - j0 < tile ? n - j0 : tile, value, score);
        } else if (live && (!OwnKey || RightValue)) {
          TRIAD_UNROLL
          for (int r = 0; r < own; ++r) value[r] = score[r] = quad<T>{};
          accumulate<false>(s, mine, n - i0 < tile ? n - i0 : tile, value, score);
          TRIAD_UNROLL
          for (int r = 0; r < own; ++r) {
            int const j = j0 + mine.first + r;
            if (j >= n) continue;
            auto const row = at.row(l0 + mine.l, j);
            if constexpr (RightValue) add_to(dv2, row, mine.c, width, value[r], i0 == 0);
            if constexpr (!OwnKey) add_to(dk, row, mine.c, width, score[r], i0 == 0);
          }
        }
      }
      if (!live || !of_rows) continue;
      TRIAD_UNROLL
      for (int r = 0; r < own; ++r) {
        int const i = i0 + mine.first + r;
        if (i >= n) continue;
        auto const row = at.row(i, l0 + mine.l);
        dv1.store(row, mine.c, width, value[r]);
        dq.store(row, mine.c, width, score[r]);
      }
    }
  }

 private:
  /// What a thread of either half owns: `own` rows i or columns j from `first`, one l, four channels.
  struct place {
    int c, l, first;
    TRIAD_DEVICE explicit place(int t) {
      constexpr int near = quads < 8 ? quads : 8;  // the threads of a warp share each do and differ in l
      c = digit(t, near);
      l = digit(t, middles);
      c = 4 * (c + near * digit(t, quads / near));
      first = own * t;
    }
  };

  /// Of rows: the sums over columns j; else of columns: the sums over rows i.  `count` of them are inside the graph; up to three
  /// more are zeros.
  template <bool OfRows>
  TRIAD_DEVICE static void accumulate(shared const& s, place const& at, int count, quad<T> (&value)[own], quad<T> (&score)[own]) {
    auto const other_value = [&](int o) {
      if constexpr (!RightValue)
        return quad<T>{};
      else if constexpr (OfRows)
        return quad_at(&s.right[at.l][o * stride + at.c]);
      else
        return quad_at(&s.left[at.l][o * stride + at.c]);
    };
    auto const pair_at = [&](auto const& x, int r, int o) {  // of do(i, j) or k(i, j)
      return OfRows ? quad_at(&x[at.first + r][o * stride + at.c]) : quad_at(&x[o][(at.first + r) * stride + at.c]);
    };
    for (int o = 0; o < count; o += 4) {
      T w[own][4];
      if constexpr (OfRows || RightValue) {
        weights_of<OfRows>(s.w[at.l], at.first, o, w);
        TRIAD_UNROLL
        for (int e = 0; e < 4; ++e) {
          quad<T> const v = other_value(o + e);
          TRIAD_UNROLL
          for (int r = 0; r < own; ++r) {
            if constexpr (RightValue)
              add(value[r], w[r][e], pair_at(s.d_o, r, o + e), v);
            else
              add(value[r], w[r][e], pair_at(s.d_o, r, o + e));
          }
        }
      }
      if constexpr (OfRows || !OwnKey) {
        weights_of<OfRows>(s.ds[at.l], at.first, o, w);
        TRIAD_UNROLL
        for (int e = 0; e < 4; ++e) {
          if constexpr (OwnKey) {
            TRIAD_UNROLL
            for (int r = 0; r < own; ++r) add(score[r], w[r][e], pair_at(s.own, r, o + e));
          } else {
            quad<T> const x = quad_at(OfRows ? &s.key[at.l][(o + e) * stride + at.c] : &s.query[at.l][(o + e) * stride + at.c]);
            TRIAD_UNROLL
            for (int r = 0; r < own; ++r) add(score[r], w[r][e], x);
          }
        }
      }
    }
  }
  /// w[r][e] of own r and other o + e.
  template <bool OfRows>
  TRIAD_DEVICE static void weights_of(T const* from, int first, int o, T (&w)[own][4]) {
    TRIAD_UNROLL
    for (int r = 0; r < own; r += OfRows ? 1 : 4) {
      if constexpr (OfRows) {
        quad<T> const x = quad_at(from + (first + r) * weight_stride + o);
        TRIAD_UNROLL
        for (int e = 0; e < 4; ++e) w[r][e] = x.at[e];
      } else {
        TRIAD_UNROLL
        for (int e = 0; e < 4; ++e) {
          quad<T> const x = quad_at(from + (o + e) * weight_stride + first + r);
          TRIAD_UNROLL
          for (int a = 0; a < 4; ++a) w[r + a][e] = x.at[a];
        }
      }
    }
  }
  TRIAD_DEVICE static void add_to(columns<T> const& x, index_t row, int c, int width, quad<T> sum, bool first) {
    if (!first) add(sum, T(1), x.load(row, c, width));
    x.store(row, c, width, sum);
  }
};

/// Attention ablation: dk(i, j) = sum_l ds q(i, l); one block owns a tile of (i, j) and passes over l.
template <class T, int Width, bool RightValue>
struct own_key_kernel : backward_tile<T, Width, true, RightValue> {
  using base = backward_tile<T, Width, true, RightValue>;
  using shared = typename base::shared;
  static constexpr char const* name = "triangle backward of own keys";
  static constexpr int threads = base::threads, tile = base::tile, middles = base::middles, stride = base::stride, quads = Width / 4;
  static constexpr int own = tile * tile * quads / threads;  // columns j of a thread
  static_assert(own >= 1 && own <= 16 && tile % own == 0 && own * threads == tile * tile * quads,
                "triad: a thread of the triangle's kernel for own keys has 1 to 16 columns in registers");

  TRIAD_DEVICE void operator()(block const& b, problem<T> const& p, index_t tiles, columns<T const> d_o, statistics_views<T> statistics,
                               columns<T> d_key) const {
    auto& s = b.shared<shared>();
    index_t where = b.index();
    int const j0 = digit(where, tiles) * tile, i0 = digit(where, tiles) * tile;
    index_t const head = digit(where, p.heads);
    one_head<T> const at(p, where, head);
    int const n = at.n, width = p.width;
    if (n <= whole_graph || i0 >= n || j0 >= n) return;  // the whole block

    keeper const keep(p.dropout);
    int rest = b.thread();
    int const c = 4 * digit(rest, quads), i = digit(rest, tile), j = own * rest;
    bool const live = c < width && i0 + i < n && j0 + j < n;
    quad<T> sum[own] = {};
    base::copy_pairs(b, s, p, at, d_o.of_head(head, width), statistics, i0, j0);
    for (int l0 = 0; l0 < n; l0 += middles) {
      base::copy_left(b, s, p, at, i0, l0);
      base::copy_right(b, s, p, at, l0, j0);
      b.sync();
      base::make_weights(b, s, p, at, keep, i0, l0, j0);
      b.sync();
      if (live)
        for (int l = 0; l < middles && l0 + l < n; ++l) {
          quad<T> const query = quad_at(&s.query[l][i * stride + c]);
          TRIAD_UNROLL
          for (int r = 0; r < own; ++r) add(sum[r], s.ds[l][i * base::weight_stride + j + r], query);
        }
      b.sync();
    }
    if (!live) return;
    columns<T> const dk = d_key.of_head(head, width);
    TRIAD_UNROLL
    for (int r = 0; r < own; ++r)
      if (j0 + j + r < n) dk.store(at.row(i0 + i, j0 + j + r), c, width, sum[r]);
  }
};

}  // namespace triad::cuda::triangles
