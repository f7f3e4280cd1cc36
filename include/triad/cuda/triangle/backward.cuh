// Triangular attention backward in tiles.  A block computes the gradients of some middle nodes l of one head, in a loop
// over all (i, j).
// SPDX-License-Identifier: Apache-2.0
//
//   for tiles of rows i:        q(i, l), v1(i, l) to shared memory
//     for tiles of columns j:   do(i, j), k(l, j), v2(l, j) to shared memory;  w and ds of the tile
//       half of the threads     dv1(i, l) += w do * v2(l, j),   dq(i, l) += ds k(l, j)
//                               in registers until the rows are done
//       the other half          dv2(l, j) += w do * v1(i, l),   dk(l, j) += ds q(i, l)
//                               read from this block's rows of dv2 and dk, and stored back
//
// With both ablations, no sum runs over rows.  Then half of the threads compute dv1, and the other half compute dq.
//
// Everything that a block writes depends only on the l of the block.  So no two blocks add to the same value, and the
// order of every sum is fixed.  Both halves of the threads compute w `do`, so an element takes 9 multiplications and
// additions instead of 8.  In return, the sums of one half need not be kept in shared memory.  With own keys, k(i, j)
// does not depend on l, and own_key_kernel computes its gradient.
//
// In the causal form, an edge (i, j) with i, j < l does not use middle node l if l is not a source: l is closed to the
// edge.  These edges form a square.  Tiles that lie inside the square are skipped.  For the other edges inside the
// square, w and ds are zero.
//
// Threads and elements, for float and 64 columns of a head: tile_i = tile_j = 16, tile_l = 4, 256 threads.
//
//   bit of threadIdx.x     7     6     5      4     3     2      1     0
//   weights                i/4   i/2   j/4    j/2   l/2   i      j     l    and i + 8, j + 8: 2 by 2 of one l
//   rows                   0     i/8   c/32   l/2   c/8   c/16   c/4   l    8 i and 4 c of one l, over all j
//   columns                1     j/8   c/32   l/2   c/8   c/16   c/4   l    8 j and 4 c of one l, over all i
//
//   rows, the first warp: dv1 and dq of 8 i, 4 l and 32 c
//
//              c = 0 .. 3   4 .. 7   8 .. 11   12 .. 15   16 .. 19   20 .. 23   24 .. 27   28 .. 31
//     l = 0         t = 0        2         8         10          4          6         12         14
//         1             1        3         9         11          5          7         13         15
//         2            16       18   ...
//         3            17       19
//
// Bank conflicts: shared memory serves several threads together: 32 threads that access 4 bytes each, 16 threads that
// access 8 bytes each, or 8 threads that access 16 bytes each.  Each number of the table is the largest number of
// different words in one bank that these threads access.  1 means that there is no bank conflict.
// tests/cuda_on_host/banks_test.cpp checks these numbers: it counts the accesses to each bank.  A row has 4 words more
// than it has columns, and a plane of rows has 8 or 16 words more than its rows.  So planes of neighbouring l, or i,
// begin in other banks than neighbouring rows.
//
//   columns of a head                                      16   32   64  128   16   32   64   64   64
//   weights: do(i, j)                                       1    1    1    1    2    2    2    1    1
//   weights: q(i, l)                                        1    1    1    1    2    1    1    1    1
//   weights: v1(i, l)                                       1    1    1    1    2    1    1    1    1
//   weights: k(l, j)                                        1    1    1    1    2    1    1    1    -
//   weights: v2(l, j)                                       1    1    1    1    2    1    1    -    1
//   weights: w and ds, stored                               2    2    2    2    2    2    2    2    2
//   weights: m, 1/z and delta (i, j)                        1    1    1    1    1    1    1    1    1
//   rows: do(i, j)                                          1    1    1    1    1    2    2    1    1
//   rows: w and ds (i, l, j)                                1    1    1    1    1    1    1    1    1
//   rows: v2(l, j) and k(l, j)                              1    1    1    1    2    2    2    -    1
//   columns: do(i, j)                                       1    1    1    1    1    2    2    1    1
//   columns: w and ds (i, l, j)                             1    1    1    1    1    1    1    1    1
//   columns: v1(i, l) and q(i, l)                           1    1    1    1    2    2    2    1    1
//   weights: k(i, j)                                        -    -    -    -    -    -    -    -    1
//
//   Columns one to four are for float, and the next three are for double.  The last two are for float: one without v2,
//   and one with own keys (a key for each edge).
#pragma once

#include "triad/cuda/triangle/tile.cuh"

namespace triad::cuda::triangles {

template <class T, int Width, bool OwnKey, bool RightValue>
struct backward_kernel : backward_tile<T, Width, OwnKey, RightValue> {
  using base = backward_tile<T, Width, OwnKey, RightValue>;
  using shared = typename base::shared;
  static constexpr char const* name = "triangle backward";
  static constexpr int threads = base::threads, tile_i = base::tile_i, tile_j = base::tile_j, tile_l = base::tile_l,
                       stride = base::stride, quads = Width / 4;
  static constexpr int weight_stride = base::weight_stride;
  static constexpr bool sums_value = RightValue, sums_key = !OwnKey;  // the other half of the threads
  static constexpr bool shares_rows = OwnKey && !RightValue;  // the other half has no sums of its own and computes dq
  static_assert(tile_i == tile_j, "triad: the triangle's backward kernel has as many columns in a tile as rows");
  static constexpr int thread_ij = tile_i * tile_l * quads * 2 / threads;  // rows i or columns j of a thread
  static_assert(thread_ij % 4 == 0 && tile_i % thread_ij == 0 && tile_l * quads * (tile_i / thread_ij) == threads / 2,
                "triad: half of the threads of the triangle's backward kernel own the rows of a tile, 4 or 8 each");
  static_assert(thread_ij <= 8,
                "triad: a thread of the triangle's backward kernel has at most 64 accumulators in registers");

  TRIAD_DEVICE void operator()(block const& b, problem<T> const& p, index_t blocks_of_l, columns<T const> d_o,
                               statistics_views<T> statistics, gradients<T> dx) const {
    auto& s = b.shared<shared>();
    auto const [l_tile, head, graph] = coordinates(b.index(), blocks_of_l, p.heads);
    int const l0 = static_cast<int>(l_tile) * tile_l;
    one_head<T> const at(p, graph, static_cast<int>(head));
    int const n = at.n, width = p.width;
    if (n <= whole_graph || l0 >= n) return;  // the whole block returns

    columns<T const> const gradient = at.part(d_o);
    columns<T> const dq = at.part(dx.query), dk = at.part(dx.key), dv1 = at.part(dx.left), dv2 = at.part(dx.right);
    place const mine(b.thread() % (threads / 2));
    bool const of_rows = b.thread() < threads / 2, live = mine.c < width && l0 + mine.l < n;
    quad<T> value[thread_ij], score[thread_ij];  // sums of w do * v, and of ds k or ds q
    for (int i0 = 0; i0 < n; i0 += tile_i) {
      clear(value, score);
      int const first_column = first_tile(at, l0, i0);
      for (int j0 = first_column; j0 < n; j0 += tile_j) {
        bool const more = i0 > first_tile(at, l0, j0);  // whether earlier rows have contributed to dk and dv2
        b.sync();
        if (j0 == first_column) base::copy_left(b, s, at, i0, l0);
        base::copy_right(b, s, at, l0, j0);
        base::copy_pairs(b, s, at, gradient, statistics, i0, j0);
        b.end_copies();
        if constexpr (!shares_rows)
          if (live && !of_rows) resume(at, l0 + mine.l, j0 + mine.first, mine.c, more, dv2, dk, value, score);
        b.wait_for_copies<0>();
        base::round_scored(b, s, p, j0 == first_column);
        b.sync();
        base::make_weights(b, s, p, at, i0, l0, j0);
        b.sync();
        if (live && of_rows) {
          accumulate<true, true, !shares_rows>(s, mine, n - j0 < tile_j ? n - j0 : tile_j, value, score);
        } else if (live && shares_rows) {
          accumulate<true, false, true>(s, mine, n - j0 < tile_j ? n - j0 : tile_j, score, value);
        } else if (live && (sums_value || sums_key)) {
          accumulate<false, sums_value, sums_key>(s, mine, n - i0 < tile_i ? n - i0 : tile_i, value, score);
          TRIAD_UNROLL
          for (int r = 0; r < thread_ij; ++r) {
            int const row = at.edge(l0 + mine.l, j0 + mine.first + r);
            if (row < 0) continue;
            if constexpr (sums_value) dv2.store(row, mine.c, width, value[r]);
            if constexpr (sums_key) dk.store(row, mine.c, width, score[r]);
          }
        }
      }
      if (!live || !(of_rows || shares_rows)) continue;
      TRIAD_UNROLL
      for (int r = 0; r < thread_ij; ++r) {
        int const row = at.edge(i0 + mine.first + r, l0 + mine.l);
        if (row < 0) continue;
        (of_rows ? dv1 : dq).store(row, mine.c, width, value[r]);
        if constexpr (!shares_rows) dq.store(row, mine.c, width, score[r]);
      }
    }
  }

  /// The sums of a thread in either half.  The sums belong to thread_ij rows i or columns j from `first` on, to one l,
  /// and to four channels.  The struct is public, because a test counts the bank conflicts.
  struct place {
    int c, l, first;
    TRIAD_DEVICE explicit place(int thread) {  // neighbours read the same `do`; threads two apart read the same weights
      constexpr int near = quads < 8 ? 1 : 2, far = quads < 8 ? 1 : quads / 8;
      auto const [l0, c0, c2, c1, l1, c3, group] = coordinates(thread, 2, 2, 2, near, tile_l / 2, far);
      c = 4 * (c0 + 2 * c1 + 2 * near * c2 + 8 * c3);
      l = l0 + 2 * l1;
      first = thread_ij * group;
    }
  };

 private:
  /// Returns where the first tile of rows begins that has an edge to which an l >= l0 is open, for the tile of columns
  /// that begins at `begin`.  Callers may exchange rows and columns.
  TRIAD_DEVICE static int first_tile(one_head<T> const& at, int l0, int begin) {
    return at.begin(l0, begin + tile_i - 1) / tile_i * tile_i;
  }

  /// If OfRows is true, adds the sums over columns j for rows, else adds the sums over rows i for columns.  `count`
  /// terms are inside the graph.  Up to three more terms are added, which are zero.
  template <bool OfRows, bool Values, bool Scores>
  TRIAD_DEVICE static void accumulate(shared const& s, place const& at, int count, quad<T> (&value)[thread_ij],
                                      quad<T> (&score)[thread_ij]) {
    auto const other_value = [&](int o) {
      if constexpr (!RightValue)
        return quad<T>{};
      else if constexpr (OfRows)
        return quad_at(&s.right[at.l][o * stride + at.c]);
      else
        return quad_at(&s.left[at.l][o * stride + at.c]);
    };
    auto const pair_at = [&](auto const& x, int r, int o) {  // element of do(i, j) or k(i, j)
      return OfRows ? quad_at(&x[at.first + r][o * stride + at.c]) : quad_at(&x[o][(at.first + r) * stride + at.c]);
    };
    for (int o = 0; o < count; o += 4) {
      T w[thread_ij][4];
      if constexpr (Values) {
        weights_of<OfRows>(s.w[at.l], at.first, o, w);
        TRIAD_UNROLL
        for (int e = 0; e < 4; ++e) {
          quad<T> const v = other_value(o + e);
          TRIAD_UNROLL
          for (int r = 0; r < thread_ij; ++r) {
            if constexpr (RightValue)
              add(value[r], w[r][e], pair_at(s.d_o, r, o + e), v);
            else
              add(value[r], w[r][e], pair_at(s.d_o, r, o + e));
          }
        }
      }
      if constexpr (Scores) {
        weights_of<OfRows>(s.ds[at.l], at.first, o, w);
        TRIAD_UNROLL
        for (int e = 0; e < 4; ++e) {
          if constexpr (OwnKey) {
            TRIAD_UNROLL
            for (int r = 0; r < thread_ij; ++r) add(score[r], w[r][e], pair_at(s.own_key, r, o + e));
          } else {
            quad<T> const x =
                quad_at(OfRows ? &s.key[at.l][(o + e) * stride + at.c] : &s.query[at.l][(o + e) * stride + at.c]);
            TRIAD_UNROLL
            for (int r = 0; r < thread_ij; ++r) add(score[r], w[r][e], x);
          }
        }
      }
    }
  }
  /// Reads the weights w[r][e] of row first + r and column o + e.  If OfRows is false, reads the weights of column
  /// first + r and row o + e.
  template <bool OfRows>
  TRIAD_DEVICE static void weights_of(T const* from, int first, int o, T (&w)[thread_ij][4]) {
    TRIAD_UNROLL
    for (int r = 0; r < thread_ij; r += OfRows ? 1 : 4) {
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

  TRIAD_DEVICE static void clear(quad<T> (&value)[thread_ij], quad<T> (&score)[thread_ij]) {
    TRIAD_UNROLL
    for (int r = 0; r < thread_ij; ++r) value[r] = score[r] = quad<T>{};
  }
  /// Loads the sums of the earlier tiles of rows.  The loads complete while the weights are computed.
  TRIAD_DEVICE static void resume(one_head<T> const& at, int l, int j, int c, bool more, columns<T> const& dv2,
                                  columns<T> const& dk, quad<T> (&value)[thread_ij], quad<T> (&score)[thread_ij]) {
    clear(value, score);
    TRIAD_UNROLL
    for (int r = 0; r < thread_ij; ++r) {
      int const row = at.edge(l, j + r);
      if (row < 0 || !more) continue;
      if constexpr (sums_value) value[r] = dv2.load(row, c, at.width);
      if constexpr (sums_key) score[r] = dk.load(row, c, at.width);
    }
  }
};

/// Computes dk(i, j) = sum_l ds q(i, l) of the attention ablation.  A block computes a tile of (i, j), in a loop over
/// l.
//
//   float, 64 columns:  bit of threadIdx.x     7     6  5  4    3  2  1  0
//                                              j/4      i          c/4       4 j and 4 c of one i, over all l
//
//   banks, columns of a head                               64
//   own keys: q(i, l)                                       1
//   own keys: ds (i, l, j)                                  1
template <class T, int Width, bool RightValue>
struct own_key_kernel : backward_tile<T, Width, true, RightValue> {
  using base = backward_tile<T, Width, true, RightValue>;
  using shared = typename base::shared;
  static constexpr char const* name = "triangle backward of own keys";
  static constexpr int threads = base::threads, tile_i = base::tile_i, tile_j = base::tile_j, tile_l = base::tile_l,
                       stride = base::stride, quads = Width / 4;
  static constexpr int thread_j = tile_i * tile_j * quads / threads;  // columns j per thread
  static_assert(thread_j >= 1 && thread_j <= 16 && tile_j % thread_j == 0 &&
                    thread_j * threads == tile_i * tile_j * quads,
                "triad: a thread of the triangle's kernel for own keys has 1 to 16 columns in registers");

  /// The sums of a thread: four channels from c on, row i, and thread_j columns from j on.
  struct place {
    int c, i, j;
    TRIAD_DEVICE explicit place(int thread)
        : c(4 * (thread % quads)), i(thread / quads % tile_i), j(thread_j * (thread / quads / tile_i)) {}
  };

  TRIAD_DEVICE void operator()(block const& b, problem<T> const& p, index_t tiles, columns<T const> d_o,
                               statistics_views<T> statistics, columns<T> d_key) const {
    auto& s = b.shared<shared>();
    auto const [column_tile, row_tile, head, graph] = coordinates(b.index(), tiles, tiles, p.heads);
    int const j0 = static_cast<int>(column_tile) * tile_j, i0 = static_cast<int>(row_tile) * tile_i;
    one_head<T> const at(p, graph, static_cast<int>(head));
    int const n = at.n, width = p.width;
    if (n <= whole_graph || i0 >= n || j0 >= n) return;  // the whole block returns

    auto const [c, i, j] = place(b.thread());
    bool const live = c < width && i0 + i < n && j0 + j < n;
    quad<T> sum[thread_j] = {};
    base::copy_pairs(b, s, at, at.part(d_o), statistics, i0, j0);
    int const end = at.end(i0 + tile_i - 1, j0 + tile_j - 1);
    for (int l0 = 0; l0 < end; l0 += tile_l) {
      base::copy_left(b, s, at, i0, l0);
      base::copy_right(b, s, at, l0, j0);
      b.end_copies();
      b.wait_for_copies<0>();
      b.sync();
      base::make_weights(b, s, p, at, i0, l0, j0);
      b.sync();
      if (live)
        for (int l = 0; l < tile_l && l0 + l < end; ++l) {
          quad<T> const query = quad_at(&s.query[l][i * stride + c]);
          TRIAD_UNROLL
          for (int r = 0; r < thread_j; ++r) add(sum[r], s.ds[l][i * base::weight_stride + j + r], query);
        }
      b.sync();
    }
    if (!live) return;
    columns<T> const dk = at.part(d_key);
    TRIAD_UNROLL
    for (int r = 0; r < thread_j; ++r)
      if (j0 + j + r < n) dk.store(at.row(i0 + i, j0 + j + r), c, width, sum[r]);
  }
};

}  // namespace triad::cuda::triangles
