// What both tiled backward kernels of triangular attention do with a tile: some middle nodes l, rows i and columns j of
// one head.
// SPDX-License-Identifier: Apache-2.0
//
//   s = q . k / sqrt(k),  p = exp(s - m) / z,  dp = sum_c do v1 v2      3 slots an element of (i, l, j, c)
//   w = dropout(p),  ds = p (dropout'(dp) - delta) / sqrt(k)            kept in shared memory for the sums that follow
//
// Where the policy is not exact float32, s is a product of tiles, and 2 slots are left.
#pragma once

#include "triad/cuda/device/launch.cuh"
#include "triad/cuda/triangle/parts.cuh"

namespace triad::cuda::triangles {

struct backward_shape {
  int tile;          // rows i, and columns j
  int middle_nodes;  // middle nodes l
  int threads;
};

/// By the room for columns of a head.
template <class T, int Width, bool OwnKey>
constexpr backward_shape backward_tiles() {
  if constexpr (sizeof(T) == 4) {
    if (Width == 16) return {16, 16, 256};
    if (Width == 32) return {16, 8, 256};
    if (Width == 64) return OwnKey ? backward_shape{8, 8, 256} : backward_shape{16, 4, 256};
    return {8, 4, 256};
  } else {
    if (Width == 16) return {8, 16, 256};
    if (Width == 32) return {8, 8, 256};
    return {8, 4, 256};
  }
}

template <class T, int Width, bool OwnKey, bool RightValue, product_path Path = product_path::exact>
struct backward_tile {
  static constexpr backward_shape shape = backward_tiles<T, Width, OwnKey>();
  static constexpr int threads = shape.threads, tile = shape.tile, middle_nodes = shape.middle_nodes;
  static constexpr int stride = Width + 4;  // neighbouring rows begin in other banks, and so do neighbouring l and i:
  static constexpr int plane = tile * stride + (Width == 16 ? 16 : 8), edge_plane = tile * stride + 16;
  static constexpr int weight_stride = tile + 4, weights = tile * weight_stride + 4;
  static constexpr bool of_tiles = Path != product_path::exact;  // scores and their gradients are products of tiles
  static_assert(
      !of_tiles || takes_tile_products<T, Width, OwnKey>,
      "triad: scores are products of tiles in float, for heads of up to 64 columns, and where keys are not own");

  struct shared {
    alignas(16) T d_o[tile][edge_plane];                                  // do(i, j)
    alignas(16) T own[OwnKey ? tile : 1][OwnKey ? edge_plane : 4];        // k(i, j)
    alignas(16) T query[middle_nodes][plane], left[middle_nodes][plane];  // q(i, l), v1(i, l)
    alignas(16) T key[OwnKey ? 1 : middle_nodes][plane];                  // k(l, j)
    alignas(16) T right[RightValue ? middle_nodes : 1][plane];            // v2(l, j)
    alignas(16) T w[middle_nodes][weights], ds[middle_nodes][weights];    // (i, l, j)
    T maximum[tile][tile], inverse_sum[tile][tile], delta[tile][tile];
  };
  static_assert(
      sizeof(shared) <= most_shared_bytes,
      "triad: a tile of the triangle's backward kernels is larger than the 163 KiB of shared memory of a block");

  // Copies are started, and are the caller's to wait for; the statistics are stored at once.
  /// do(i, j), the statistics, and k(i, j) where keys are own.
  TRIAD_DEVICE static void copy_pairs(block const& b, shared& s, one_head<T> const& at, columns<T const> const& d_o,
                                      statistics_views<T> const& statistics, int i0, int j0) {
    auto const row = [&](int r) { return at.edge(i0 + r / tile, j0 + r % tile); };
    start_rows<threads, Width, tile * tile>(b, d_o, at.width, at.width, row,
                                            [&](int r) { return &s.d_o[r / tile][r % tile * stride]; });
    if constexpr (OwnKey)
      start_rows<threads, Width, tile * tile>(b, at.key, at.width, at.width, row,
                                              [&](int r) { return &s.own[r / tile][r % tile * stride]; });
    for (int t = b.thread(); t < tile * tile; t += threads) {
      int const from = row(t);
      if (from < 0) continue;
      s.maximum[t / tile][t % tile] = at.number(statistics.maximum, from);
      s.inverse_sum[t / tile][t % tile] = at.number(statistics.inverse_sum, from);
      s.delta[t / tile][t % tile] = at.number(statistics.delta, from);
    }
  }
  /// q(i, l) and v1(i, l).
  TRIAD_DEVICE static void copy_left(block const& b, shared& s, one_head<T> const& at, int i0, int l0) {
    auto const row = [&](int r) { return at.edge(i0 + r % tile, l0 + r / tile); };
    start_middle_nodes(b, at.query, at.width, scored(at), row, s.query);
    start_middle_nodes(b, at.left, at.width, at.width, row, s.left);
  }
  /// k(l, j), unless keys are own, and v2(l, j).
  TRIAD_DEVICE static void copy_right(block const& b, shared& s, one_head<T> const& at, int l0, int j0) {
    auto const row = [&](int r) { return at.edge(l0 + r / tile, j0 + r % tile); };
    if constexpr (!OwnKey) start_middle_nodes(b, at.key, at.width, scored(at), row, s.key);
    if constexpr (RightValue) start_middle_nodes(b, at.right, at.width, at.width, row, s.right);
  }
  /// Columns of q and k, with zeros up to whole steps of a product of tiles.
  TRIAD_DEVICE static int scored(one_head<T> const& at) { return of_tiles ? terms_of(at.width) : at.width; }
  template <class From>
  TRIAD_DEVICE static void start_middle_nodes(block const& b, columns<T const> const& x, int width, int filled,
                                              From from, T (&to)[middle_nodes][plane]) {
    start_rows<threads, Width, middle_nodes * tile>(b, x, width, filled, from,
                                                    [&](int r) { return &to[r / tile][r % tile * stride]; });
  }

  /// ds(i, l, j) = q(i, l) . k(l, j) for make_weights: a warp has 16 rows and 8 columns of one l.
  TRIAD_DEVICE static void score_products(block const& b, shared& s, problem<T> const& p) {
    tile_lane const lane(b);
    for (int t = b.row(); t < middle_nodes * (tile / 16) * (tile / 8); t += threads / warp) {
      int rest = t;
      int const j = 8 * digit(rest, tile / 8), i = 16 * digit(rest, tile / 16), l = rest;
      T sum[1][4] = {};
      add_tile_product<Path, 1>(
          p.factors, lane, terms_of(p.width), [&](int r, int c) { return s.query[l][(i + r) * stride + c]; },
          [&](int c, int e) { return s.key[l][(j + e) * stride + c]; }, sum);
      TRIAD_UNROLL
      for (int e = 0; e < 4; ++e)
        s.ds[l][(i + lane.row() + e / 2 * 8) * weight_stride + j + lane.column() + e % 2] = sum[0][e];
    }
  }

  /// w and ds of the whole tile; zeros outside the graph and where l is closed to the edge.  Threads that differ in the
  /// lowest bit alone read the same do, and those that differ in the second alone the same q and v1.
  TRIAD_DEVICE static void make_weights(block const& b, shared& s, problem<T> const& p, one_head<T> const& at, int i0,
                                        int l0, int j0) {
    keeper const keep(p);  // made for each tile: kept, it would take registers from the sums
    constexpr int each = middle_nodes * tile * tile / threads;
    constexpr int rows_each = each >= 8 ? 4 : each >= 4 ? 2 : 1, columns_each = each >= 2 ? 2 : 1;
    constexpr int down = tile / rows_each, across = tile / columns_each;
    static_assert(middle_nodes % 4 == 0 && across % 4 == 0 && down % 2 == 0);
    for (int t = b.thread(); t < middle_nodes * down * across; t += threads) {
      int rest = t, l = digit(rest, 2), j = digit(rest, 2), i = digit(rest, 2);
      l += 2 * digit(rest, 2);
      j += 2 * digit(rest, across / 2);
      i += 2 * digit(rest, down / 2);
      l += 4 * rest;
      T score[rows_each][columns_each] = {}, dp[rows_each][columns_each] = {};
      for (int c = 0; c < p.width; c += 4) {
        quad<T> key[columns_each] = {}, right[columns_each] = {};
        TRIAD_UNROLL
        for (int e = 0; e < columns_each; ++e) {
          if constexpr (!OwnKey && !of_tiles) key[e] = quad_at(&s.key[l][(j + e * across) * stride + c]);
          if constexpr (RightValue) right[e] = quad_at(&s.right[l][(j + e * across) * stride + c]);
        }
        TRIAD_UNROLL
        for (int r = 0; r < rows_each; ++r) {
          int const row = i + r * down;
          quad<T> query{};
          if constexpr (!of_tiles) query = quad_at(&s.query[l][row * stride + c]);
          quad<T> const left = quad_at(&s.left[l][row * stride + c]);
          TRIAD_UNROLL
          for (int e = 0; e < columns_each; ++e) {
            int const column = (j + e * across) * stride + c;
            quad<T> const d_o = quad_at(&s.d_o[row][column]);
            if constexpr (OwnKey)
              score[r][e] = dot(query, quad_at(&s.own[row][column]), score[r][e]);
            else if constexpr (!of_tiles)
              score[r][e] = dot(query, key[e], score[r][e]);
            if constexpr (RightValue)
              dp[r][e] = dot(d_o, left, right[e], dp[r][e]);
            else
              dp[r][e] = dot(d_o, left, dp[r][e]);
          }
        }
      }
      TRIAD_UNROLL
      for (int r = 0; r < rows_each; ++r) TRIAD_UNROLL
      for (int e = 0; e < columns_each; ++e) {
        int const row = i + r * down, column = j + e * across, gi = i0 + row, gl = l0 + l, gj = j0 + column;
        T w = 0, ds = 0;
        if constexpr (of_tiles) score[r][e] = s.ds[l][row * weight_stride + column];
        if (gi < at.n && gl < at.n && gj < at.n && at.open(gi, gl, gj)) {
          bool const masked = at.masked(gi, gl, gj);
          T const probability = exponential((masked ? p.fill : score[r][e] * p.scale) - s.maximum[row][column]) *
                                s.inverse_sum[row][column];
          T const kept = keep.keeps(at.element(gi, gl, gj)) ? p.kept : T(0);
          w = probability * kept;
          if (!masked) ds = probability * (dp[r][e] * kept - s.delta[row][column]) * p.scale;
        }
        s.w[l][row * weight_stride + column] = w;
        s.ds[l][row * weight_stride + column] = ds;
      }
    }
  }
};

/// delta(r, c) = sum of do o over the columns of head c: one warp a row.
template <class T>
struct delta_kernel {
  static constexpr char const* name = "triangle delta";
  static constexpr int threads = 256;

  TRIAD_DEVICE void operator()(block const& b, columns<T const> o, columns<T const> d_o, index_t rows, index_t heads,
                               int width, matrix<T> delta) const {
    index_t const r = b.index() * (threads / warp) + b.row();
    bool const live = r < rows;
    for (index_t c = 0; c < heads; ++c) {
      T sum = 0;
      if (live) {
        auto const x = o.of_head(c, width, r), y = d_o.of_head(c, width, r);
        for (int e = b.lane(); e < width; e += warp) sum += x.at(0, e) * y.at(0, e);
      }
      sum = warp_sum(b, sum);
      if (live && b.lane() == 0) delta(r, c) = sum;
    }
  }
};

}  // namespace triad::cuda::triangles
