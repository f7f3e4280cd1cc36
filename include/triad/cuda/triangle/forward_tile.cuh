// A tile of triangular attention forward: the copies to shared memory, and the scores.
// SPDX-License-Identifier: Apache-2.0
//
//   p(i, l, j) = q(i, l) . k(l, j)     as products of tiles, with rounded factors         a warp has 16 rows i of one l
//                                      exactly: a product of two matrices for each l      score_place
//   p(i, l, j) = q(i, l) . k(i, j)     own keys: a product of two matrices for each i     own_score_place
//
// forward.cuh has the diagrams and the table of banks.
#pragma once

#include "triad/cuda/device/launch.cuh"
#include "triad/cuda/device/tile_product.cuh"
#include "triad/cuda/triangle/half_values.cuh"
#include "triad/cuda/triangle/parts.cuh"
#include "triad/cuda/triangle/round_rows.cuh"

namespace triad::cuda::triangles {

struct forward_shape {
  int tile_i, tile_j;  // rows i and columns j of a block
  int tile_l;          // middle nodes l in a chunk
  int threads;
};

/// The sizes for heads of up to Width columns.  A thread has 64 accumulators, so tile_i * tile_j * Width = 64 *
/// threads.
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

template <class T, int Width, bool OwnKey, bool RightValue, product_path Path, arithmetic Factors>
struct forward_tile {
  static constexpr forward_shape shape = forward_tiles<T, Width, OwnKey>();
  static constexpr int threads = shape.threads, tile_i = shape.tile_i, tile_j = shape.tile_j, tile_l = shape.tile_l;
  static constexpr int stride = Width + 4;  // neighbouring rows begin four banks apart
  static_assert(tile_i * tile_j * Width == 64 * threads,
                "triad: a thread of the triangle's forward kernel has 64 accumulators in registers");
  static constexpr bool of_tiles = Path != product_path::exact;             // whether scores are products of tiles
  static constexpr bool halves = Factors == arithmetic::f16 && RightValue;  // whether values are summed in f16
  static_assert(
      !of_tiles || rounds_scores<T, Width, OwnKey>,
      "triad: scores are products of tiles in float, for heads of up to 64 columns, and where keys are not own");

  struct shared {
    alignas(16) T query[tile_l][tile_i][stride];                                                     // q(i, l)
    alignas(16) T key[OwnKey ? 1 : tile_l][OwnKey ? 1 : tile_j][OwnKey ? 4 : stride];                // k(l, j)
    alignas(16) T own_key[OwnKey ? tile_i : 1][OwnKey ? tile_j : 1][OwnKey ? stride : 4];            // k(i, j)
    alignas(16) T left[tile_l][tile_i][stride];                                                      // v1(i, l)
    alignas(16) T right[RightValue ? tile_l : 1][RightValue ? tile_j : 1][RightValue ? stride : 4];  // v2(l, j)
    alignas(16) T p[tile_l][tile_i][tile_j + 4];  // scores, then exp(s - base)
    alignas(16) T factor[tile_i][tile_j];         // the factor that rescales earlier sums
    int moved[threads / warp];                    // whether some factor of the warp is not 1
  };
  static_assert(!halves || tile_l <= 8, "triad: a sum in f16 is of up to 8 middle nodes");
  static_assert(
      sizeof(shared) <= most_shared_bytes,
      "triad: a tile of the triangle's forward kernel is larger than the 163 KiB of shared memory of a block");

  /// The scores of a thread if q . k is one product of two matrices for each l.  The scores belong to one l, to each_i
  /// rows that are step_i apart, and to each_j columns that are step_j apart.
  struct score_place {
    static constexpr int each = tile_l * tile_i * tile_j / threads, each_i = each >= 16 ? 4 : 2,
                         each_j = each >= 8 ? 4 : 2;
    static constexpr int step_i = tile_i / each_i, step_j = tile_j / each_j, places = step_i * step_j;  // for one l
    int i, j, l;
    TRIAD_DEVICE explicit score_place(int t) {
      static_assert(step_i % 4 == 0 && step_j % 4 == 0);
      auto const [i0, j0, i1, j1, i2, j2, rest] = coordinates(t, 2, 2, 2, 2, step_i / 4, step_j / 4);
      i = i0 + 2 * i1 + 4 * i2;
      j = j0 + 2 * j1 + 4 * j2;
      l = rest;
    }
  };
  /// The scores of a thread with own keys.  q . k is then one product of two matrices for each i.  The scores belong to
  /// one i, two l and two j.
  struct own_score_place {
    static constexpr int step_l = tile_l / 2, step_j = tile_j / 2, places = step_l * step_j;  // for one i
    int l, j, i;
    TRIAD_DEVICE explicit own_score_place(int t) {
      auto const [l0, j0, l1, j1, rest] = coordinates(t, 2, 2, step_l / 2, step_j / 2);
      l = l0 + 2 * l1;
      j = j0 + 2 * j1;
      i = rest;
    }
  };

  // Each function starts one group of copies.  The group is empty if the chunk is beyond the end.
  TRIAD_DEVICE static void start_scored(block const& b, shared& s, one_head<T> const& at, int i0, int l0, int j0,
                                        int end) {
    if (l0 < end) {
      int const filled = of_tiles ? Width : at.width;  // zeros beyond the head
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
  // A thread rounds what it has copied.  The caller has waited for these copies.
  TRIAD_DEVICE static void round_scored(block const& b, shared& s) {
    round_left(b, s.query);
    round_right(b, s.key);
  }
  TRIAD_DEVICE static void round_values(block const& b, shared& s) {
    round_left(b, s.left);
    round_right(b, s.right);
  }
  /// Computes the scores of `count` middle nodes.  The scores are scaled later.
  TRIAD_DEVICE static void make_scores(block const& b, shared& s, problem<T> const& p, int count) {
    if constexpr (OwnKey)
      own_scores(b, s, p.width);
    else if constexpr (of_tiles)
      score_products(b, s, count);
    else
      score_tile(b, s, count, p.width);
  }

 private:
  TRIAD_DEVICE static void start_left(block const& b, T (&to)[tile_l][tile_i][stride], columns<T const> const& x,
                                      one_head<T> const& at, int i0, int l0, int filled) {
    start_rows<threads, Width, tile_l * tile_i, tile_i, stride, tile_i * stride>(
        b, x, at.width, filled, {at.row(i0, l0), at.n, 1, at.n - i0, at.n - l0}, &to[0][0][0]);
  }
  TRIAD_DEVICE static void start_right(block const& b, T (&to)[tile_l][tile_j][stride], columns<T const> const& x,
                                       one_head<T> const& at, int l0, int j0, int filled) {
    start_rows<threads, Width, tile_l * tile_j, tile_j, stride, tile_j * stride>(
        b, x, at.width, filled, {at.row(l0, j0), 1, at.n, at.n - j0, at.n - l0}, &to[0][0][0]);
  }

  TRIAD_DEVICE static void round_left(block const& b, T (&rows)[tile_l][tile_i][stride]) {
    round_rows<Factors, threads, Width, tile_l * tile_i, tile_i, stride, tile_i * stride>(b, &rows[0][0][0]);
  }
  TRIAD_DEVICE static void round_right(block const& b, T (&rows)[tile_l][tile_j][stride]) {
    round_rows<Factors, threads, Width, tile_l * tile_j, tile_j, stride, tile_j * stride>(b, &rows[0][0][0]);
  }
  /// Sets p(i, l, j) to q(i, l) . k(l, j), which is scaled later.  A warp computes 16 rows of one l.
  TRIAD_DEVICE static void score_products(block const& b, shared& s, int count) {
    constexpr int tiles = tile_j / 8;
    tile_lane const lane(b);
    TRIAD_NO_UNROLL  // unrolled code would take registers from the sums of values
    for (int t = b.row(); t < count * (tile_i / 16); t += threads / warp) {
      int const i = t % (tile_i / 16) * 16, l = t / (tile_i / 16);
      T sum[tiles][4] = {};
      add_tile_product<Path, Factors, Width>(
          lane, [&](int r) -> float const* { return s.query[l][i + r]; },
          [&](int j) -> float const* { return s.key[l][j]; }, sum);
      TRIAD_UNROLL
      for (int tile = 0; tile < tiles; ++tile) TRIAD_UNROLL
      for (int e = 0; e < 4; ++e) {
        // A query or key that is infinite in f16 makes its scores NaN, because a score of -infinity would be hidden.
        T const score = Factors == arithmetic::f16 ? sum[tile][e] + T(0) * sum[tile][e] : sum[tile][e];
        s.p[l][i + lane.row() + e / 2 * 8][8 * tile + lane.column() + e % 2] = score;
      }
    }
  }
  /// Computes the same scores with exact factors, as one product of two matrices for each l.
  TRIAD_DEVICE static void score_tile(block const& b, shared& s, int count, int width) {
    using place = score_place;
    for (int t = b.thread(); t < count * place::places; t += threads) {
      place const at(t);
      T sum[place::each_i][place::each_j] = {};
      for (int c = 0; c < width; c += 4) {
        quad<T> k[place::each_j];
        TRIAD_UNROLL
        for (int e = 0; e < place::each_j; ++e) k[e] = quad_at(&s.key[at.l][at.j + e * place::step_j][c]);
        TRIAD_UNROLL
        for (int r = 0; r < place::each_i; ++r) {
          quad<T> const q = quad_at(&s.query[at.l][at.i + r * place::step_i][c]);
          TRIAD_UNROLL
          for (int e = 0; e < place::each_j; ++e) sum[r][e] = dot(q, k[e], sum[r][e]);
        }
      }
      TRIAD_UNROLL
      for (int r = 0; r < place::each_i; ++r) TRIAD_UNROLL
      for (int e = 0; e < place::each_j; ++e) s.p[at.l][at.i + r * place::step_i][at.j + e * place::step_j] = sum[r][e];
    }
  }
  /// Sets p(i, l, j) to q(i, l) . k(i, j), which is scaled later, as one product of two matrices for each i.
  TRIAD_DEVICE static void own_scores(block const& b, shared& s, int width) {
    using place = own_score_place;
    for (int t = b.thread(); t < tile_i * place::places; t += threads) {
      place const at(t);
      T sum[2][2] = {};
      for (int c = 0; c < width; c += 4) {
        quad<T> const k[2] = {quad_at(&s.own_key[at.i][at.j][c]), quad_at(&s.own_key[at.i][at.j + place::step_j][c])};
        TRIAD_UNROLL
        for (int r = 0; r < 2; ++r) {
          quad<T> const q = quad_at(&s.query[at.l + r * place::step_l][at.i][c]);
          TRIAD_UNROLL
          for (int e = 0; e < 2; ++e) sum[r][e] = dot(q, k[e], sum[r][e]);
        }
      }
      TRIAD_UNROLL
      for (int r = 0; r < 2; ++r) TRIAD_UNROLL
      for (int e = 0; e < 2; ++e) s.p[at.l + r * place::step_l][at.i][at.j + e * place::step_j] = sum[r][e];
    }
  }
};

}  // namespace triad::cuda::triangles
