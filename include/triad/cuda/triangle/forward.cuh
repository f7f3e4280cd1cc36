// Triangular attention forward in tiles.  A block computes some rows i and columns j of one head, in a loop over the
// middle nodes l.
// SPDX-License-Identifier: Apache-2.0
//
//   for every chunk of l:   scores of q(i, l), k(l, j)           meanwhile v1(i, l) and v2(l, j) are copied
//                           softmax so far                       meanwhile q and k of the next chunk are copied
//                           o(i, j) += p v1(i, l) * v2(l, j)     64 accumulators a thread: 4 i, 4 j, 4 columns
//   o / sum and the statistics
//
// In the causal form, an edge does not use all middle nodes: a middle node is open to the edges that use it, and closed
// to the other edges.  The loop ends with the last l that is open to any edge of the tile.  If l is closed to an edge,
// the score of the edge is -infinity.
//
// Shared memory delivers 16 bytes to each thread of a warp in 4 cycles.  In this time, a processor could start 16
// multiplications per thread.  So threads keep blocks of outputs in registers.  The reads take half the time if threads
// whose numbers differ in the lowest or in the second bit read the same words.  So the bits of rows and columns
// alternate in the number of a thread.
//
// Threads and elements, for float and 64 columns of a head: tile_i = tile_j = 16, tile_l = 8, 256 threads.
//
//   scores: a warp has one l.  Its threads have rows i, i + 8 and columns j, j + 4, j + 8, j + 12 of p(i, l, j)
//
//            j = 0    1    2    3
//     i = 0  t = 0    2    8   10      bit of threadIdx.x   7  6  5   4     3     2     1    0
//         1      1    3    9   11                              l      i/4   j/2   i/2   j    i
//         2      4    6   12   14
//         3      5    7   13   15      i = 4 .. 7: t + 16
//
//   values: a thread has 4 i, 4 j and 4 channels c of o(i, j, c).  A warp has 8 i, 8 j and 32 c
//
//               j = 0 .. 3   4 .. 7
//     i = 0 .. 3     t = 0        2    bit of threadIdx.x   7     6     5     4  3  2   1     0
//         4 .. 7         1        3                         j/8   i/8   c/32    c/4     j/4   i/4
//
// Bank conflicts: shared memory serves several threads together: 32 threads that access 4 bytes each, 16 threads that
// access 8 bytes each, or 8 threads that access 16 bytes each.  Each number of the table is the largest number of
// different words in one bank that these threads access.  1 means that there is no bank conflict.
// tests/cuda_on_host/banks_test.cpp checks these numbers: it counts the accesses to each bank.  A row has 4 words more
// than it has columns.  So eight rows of one quad (four columns), or eight quads of one row, are in different banks.
// In float, the inner loops have no bank conflict, except for q with own keys, where neighbouring threads read q of two
// l, and for the products of tiles of heads of 16 columns.
//
//   columns of a head                                      16   32   64  128   16   32   64   64   64   64   16   64
//   copies of 16 bytes                                      2    1    1    1    2    2    2    1    1    1    2    1
//   copies of 8 bytes                                       3    2    2    2    4    4    4    2    2    2    3    2
//   scores: q(i, l)                                         1    1    1    1    1    1    1    1    2    -    -    -
//   scores: k(l, j)                                         1    1    1    1    1    1    1    1    -    -    -    -
//   scores: stored                                          1    2    1    2    1    1    1    1    2    -    -    -
//   softmax: scores of one l                                1    1    2    2    1    1    1    2    2    2    1    2
//   values: v1(i, l)                                        1    1    1    1    2    2    2    1    1    1    1    1
//   values: v2(l, j)                                        1    1    1    1    2    2    2    -    1    1    1    1
//   values: p(i, l, j)                                      1    1    1    1    2    2    2    1    1    1    1    1
//   scores: k(i, j)                                         -    -    -    -    -    -    -    -    1    -    -    -
//   scores: q(i, l), a product of tiles                     -    -    -    -    -    -    -    -    -    1    2    1
//   scores: k(l, j), a product of tiles                     -    -    -    -    -    -    -    -    -    1    2    1
//   scores: stored by a product of tiles                    -    -    -    -    -    -    -    -    -    2    2    2
//
//   Columns one to four are for float, and the next three are for double.  The last five are for float: one without
//   v2, one with own keys (a key for each edge), one in tf32, and two in f16.  bf16 has the accesses of f16, except for
//   its values.  Copies of 8 bytes are for float rows aligned to 8 bytes (heads of 50 columns) and for double rows
//   aligned to 8 bytes.  A thread rounds the 16 bytes that it has copied, so these accesses are those of the copies.
//
// Exponentials are exp(s - base).  The base is set to the maximum only if the maximum exceeds the base by more than 8.
// So p stays below e^8, which is less than 3000.  Relative rounding errors do not depend on the size of p, and earlier
// sums are hardly ever rescaled.  With values in f16, the base is set to the maximum plus 2 if the maximum exceeds the
// base.  So p is at most 1, and the p of the maximum is at least e^-2.
#pragma once

#include "triad/cuda/device/tile_product.cuh"
#include "triad/cuda/triangle/forward_tile.cuh"

namespace triad::cuda::triangles {

template <class T, int Width, bool OwnKey, bool RightValue, product_path Path = product_path::exact,
          arithmetic Factors = arithmetic::float32>
struct forward_kernel : forward_tile<T, Width, OwnKey, RightValue, Path, Factors> {
  using base = forward_tile<T, Width, OwnKey, RightValue, Path, Factors>;
  using shared = typename base::shared;
  static constexpr char const* name = "triangle forward";
  static constexpr int threads = base::threads, tile_i = base::tile_i, tile_j = base::tile_j, tile_l = base::tile_l,
                       stride = base::stride;
  static constexpr int pairs = (tile_i * tile_j + threads - 1) / threads;  // a thread's pairs (i, j) in softmax

  /// `row_tiles` and `column_tiles` are the numbers of tiles that cover the largest graph.
  TRIAD_DEVICE void operator()(block const& b, problem<T> const& p, index_t row_tiles, index_t column_tiles,
                               matrix<T> maximum, matrix<T> inverse_sum, columns<T> o) const {
    auto& s = b.shared<shared>();
    auto const [column_tile, row_tile, head, graph] = coordinates(b.index(), column_tiles, row_tiles, p.heads);
    int const j0 = static_cast<int>(column_tile) * tile_j, i0 = static_cast<int>(row_tile) * tile_i;
    one_head<T> const at(p, graph, static_cast<int>(head));
    int const n = at.n, width = p.width;
    if (n <= whole_graph || i0 >= n || j0 >= n) return;  // the whole block returns

    softmax_state state;
    sums sum = {};
    place const mine(b.thread());
    bool const live = i0 + mine.i < n && j0 + mine.j < n && mine.c < width;

    if constexpr (OwnKey)
      start_rows<threads, Width, tile_i * tile_j, tile_j, stride, tile_j * stride>(
          b, at.key, width, width, {at.row(i0, j0), 1, n, n - j0, n - i0}, &s.own_key[0][0][0]);
    int const end = at.end(i0 + tile_i - 1, j0 + tile_j - 1);
    base::start_scored(b, s, at, i0, 0, j0, end);
    for (int l0 = 0; l0 < end; l0 += tile_l) {
      int const count = end - l0 < tile_l ? end - l0 : tile_l;
      base::start_values(b, s, at, i0, l0, j0);
      b.wait_for_copies<1>();  // copies of values may still be running
      if constexpr (base::of_tiles) base::round_scored(b, s);
      b.sync();
      base::make_scores(b, s, p, count);
      b.sync();
      base::start_scored(b, s, at, i0, l0 + tile_l, j0, end);
      if (count == tile_l && at.mask == nullptr && at.open(i0, l0 + tile_l - 1, j0))
        follow_softmax<true>(b, s, p, at, i0, l0, j0, count, state);
      else
        follow_softmax<false>(b, s, p, at, i0, l0, j0, count, state);
      b.wait_for_copies<1>();  // copies of queries and keys may still be running
      if constexpr (base::halves) base::round_values(b, s);
      b.sync();
      if (live) accumulate(s, mine, count, sum);
      b.sync();
    }
    finish_softmax(b, s, p, at, i0, j0, state, maximum, inverse_sum);
    b.sync();
    if (!live) return;
    columns<T> const out = at.part(o);
    TRIAD_UNROLL
    for (int r = 0; r < thread_i; ++r) TRIAD_UNROLL
    for (int t = 0; t < thread_j; ++t) {
      int const i = mine.row(r), j = mine.column(t);
      if (i0 + i >= n || j0 + j >= n) continue;
      TRIAD_UNROLL
      for (int q = 0; q < thread_quads; ++q)
        if (mine.channel(q) < width)
          out.store(at.row(i0 + i, j0 + j), mine.channel(q), width, times(sum[r][t][q], s.factor[i][j]));
    }
  }

  // The members below say which elements each thread computes.  The members are public, because a test counts the bank
  // conflicts.

  // The numbers of rows i, columns j and quads of channels that a thread sums.  Without a right value, the output of
  // row i is a product of two matrices, p(i, ., .)' v1(i, .).  In this case, a thread has one row, but more columns and
  // quads.  So 64 multiplications take 4 loads of 16 bytes instead of 8 loads.
  static constexpr int thread_i = RightValue ? 4 : 1, thread_j = RightValue ? 4 : 8, thread_quads = RightValue ? 1 : 2;
  /// The first row, column and quad of a thread.  Neighbouring threads read the same v2, or the same p.  Threads whose
  /// numbers differ by 2 read the same v1.
  struct place {
    int i, j, c;
    TRIAD_DEVICE explicit place(int thread) {
      constexpr int quads = Width / 4 / thread_quads, near = quads < 8 ? quads : 8, far = quads / near;
      static_assert(tile_i % (2 * thread_i) == 0 && tile_j % (2 * thread_j) == 0 && quads % 2 == 0);
      if constexpr (RightValue) {
        auto const [i0, j0, c0, c1, i1, j1] = coordinates(thread, 2, 2, near, far, tile_i / thread_i / 2);
        i = thread_i * (i0 + 2 * i1);
        j = 4 * (j0 + 2 * j1);
        c = 4 * (c0 + near * c1);
      } else {
        auto const [c0, j0, c1, i0, c2, i1, j1] = coordinates(thread, 2, 2, near / 2, 2, far, tile_i / thread_i / 2);
        i = thread_i * (i0 + 2 * i1);
        j = 4 * (j0 + 2 * j1);
        c = 4 * (c0 + 2 * c1 + near * c2);
      }
    }
    TRIAD_DEVICE int row(int r) const { return i + r; }
    TRIAD_DEVICE int column(int t) const { return j + t / 4 * (tile_j / (thread_j / 4)) + t % 4; }
    TRIAD_DEVICE int channel(int q) const { return c + q * (Width / thread_quads); }
  };

 private:
  using sums = quad<T>[thread_i][thread_j][thread_quads];
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

  /// Replaces the scores of a chunk by exp(s - base), or by 0 if dropout drops them.  `Whole` says that the chunk has
  /// tile_l middle nodes, all of them open, and no mask.  Weights of edges outside the graph are then not zero, but
  /// only sums that are not stored read them.
  template <bool Whole>
  TRIAD_DEVICE static void follow_softmax(block const& b, shared& s, problem<T> const& p, one_head<T> const& at, int i0,
                                          int l0, int j0, int count, softmax_state& state) {
    bool moved = false;
    TRIAD_UNROLL
    for (int r = 0; r < pairs; ++r) {
      int const t = b.thread() + r * threads, i = t / tile_j, j = t % tile_j;
      if (i >= tile_i) continue;
      bool const inside = i0 + i < at.n && j0 + j < at.n;
      T score[tile_l], top = -::cuda::std::numeric_limits<T>::infinity();
      TRIAD_UNROLL
      for (int l = 0; l < tile_l; ++l) {
        if constexpr (Whole) {
          score[l] = s.p[l][i][j] * p.scale;
        } else {
          score[l] = l < count ? s.p[l][i][j] * p.scale : -::cuda::std::numeric_limits<T>::infinity();
          if (l < count && inside && at.masked(i0 + i, l0 + l, j0 + j)) score[l] = p.fill;
          if (!at.open(i0 + i, l0 + l, j0 + j)) score[l] = -::cuda::std::numeric_limits<T>::infinity();
        }
        // fmax is one instruction.  A NaN does not count here, and reaches the sum below.
        top = ::cuda::std::fmax(score[l], top);
      }
      state.maximum[r] = top > state.maximum[r] ? top : state.maximum[r];
      T factor = 1;
      // In float, p may grow to e^8.  In f16, p is at most 1.
      constexpr T slack = base::halves ? 0 : 8, lead = base::halves ? 2 : 0;
      if (top > state.base[r] + slack) {
        factor = exponential(state.base[r] - (top + lead));
        state.base[r] = top + lead;
        state.sum[r] *= factor;
        moved = true;
      }
      s.factor[i][j] = factor;
      TRIAD_UNROLL
      for (int l = 0; l < tile_l; ++l) {
        T const e = exponential(score[l] - state.base[r]);
        state.sum[r] += e;
        s.p[l][i][j] = Whole || inside ? stored(e) : T(0);
      }
      if (p.threshold == 0 || !inside) continue;
      keeper const keep(p);  // made for each chunk, because a stored keeper would take registers from the sums
      TRIAD_NO_UNROLL        // unrolled code would be too long
      for (int l = 0; l < count; ++l)
        if (!keep.keeps(at.element(i0 + i, l0 + l, j0 + j))) s.p[l][i][j] = 0;
    }
    auto const which = b.ballot(moved);
    if (b.lane() == 0) s.moved[b.row()] = which != 0;
  }
  /// The weight e as accumulate() reads it: as it is, or as a pair in f16.
  TRIAD_DEVICE static T stored(T e) {
    if constexpr (base::halves)
      return as_float(rounded_pair(e, e));
    else
      return e;
  }
  TRIAD_DEVICE static void finish_softmax(block const& b, shared& s, problem<T> const& p, one_head<T> const& at, int i0,
                                          int j0, softmax_state const& state, matrix<T> maximum,
                                          matrix<T> inverse_sum) {
    TRIAD_UNROLL
    for (int r = 0; r < pairs; ++r) {
      int const t = b.thread() + r * threads, i = t / tile_j, j = t % tile_j;
      if (i >= tile_i) continue;
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
      for (int r = 0; r < thread_i; ++r) TRIAD_UNROLL
      for (int t = 0; t < thread_j; t += 4) {
        quad<T> const factor = quad_at(&s.factor[at.row(r)][at.column(t)]);
        TRIAD_UNROLL
        for (int e = 0; e < 4; ++e) TRIAD_UNROLL
        for (int q = 0; q < thread_quads; ++q) sum[r][t + e][q] = times(sum[r][t + e][q], factor.at[e]);
      }
    }
    if constexpr (base::halves)
      add_halves(s, at, count, sum);
    else
      add_values(s, at, count, sum);
  }
  TRIAD_DEVICE static void add_values(shared const& s, place const& at, int count, sums& sum) {
    for (int l = 0; l < count; ++l) {
      quad<T> right[thread_j] = {};
      if constexpr (RightValue) {
        TRIAD_UNROLL
        for (int t = 0; t < thread_j; ++t) right[t] = quad_at(&s.right[l][at.column(t)][at.channel(0)]);
      }
      TRIAD_UNROLL
      for (int r = 0; r < thread_i; ++r) {
        quad<T> left[thread_quads];
        TRIAD_UNROLL
        for (int q = 0; q < thread_quads; ++q) left[q] = quad_at(&s.left[l][at.row(r)][at.channel(q)]);
        TRIAD_UNROLL
        for (int t = 0; t < thread_j; t += 4) {
          quad<T> const p = quad_at(&s.p[l][at.row(r)][at.column(t)]);
          TRIAD_UNROLL
          for (int e = 0; e < 4; ++e) TRIAD_UNROLL
          for (int q = 0; q < thread_quads; ++q) {
            if constexpr (RightValue)
              add(sum[r][t + e][q], p.at[e], left[q], right[t + e]);
            else
              add(sum[r][t + e][q], p.at[e], left[q]);
          }
        }
      }
    }
  }
  /// Adds the sums of a chunk, which are computed in f16.
  TRIAD_DEVICE static void add_halves(shared const& s, place const& at, int count, sums& sum) {
    half_quad part[thread_i][thread_j] = {};
    for (int l = 0; l < count; ++l) {
      half_quad right[thread_j];
      TRIAD_UNROLL
      for (int t = 0; t < thread_j; ++t) right[t] = halves_at(s.right[l][at.column(t)], at.channel(0));
      TRIAD_UNROLL
      for (int r = 0; r < thread_i; ++r) {
        half_quad const left = halves_at(s.left[l][at.row(r)], at.channel(0));
        TRIAD_UNROLL
        for (int t = 0; t < thread_j; t += 4) {
          quad<T> const p = quad_at(&s.p[l][at.row(r)][at.column(t)]);
          TRIAD_UNROLL
          for (int e = 0; e < 4; ++e) add(part[r][t + e], as_pair(p.at[e]), left, right[t + e]);
        }
      }
    }
    TRIAD_UNROLL
    for (int r = 0; r < thread_i; ++r) TRIAD_UNROLL
    for (int t = 0; t < thread_j; ++t) add(sum[r][t][0], part[r][t]);
  }
};

}  // namespace triad::cuda::triangles
