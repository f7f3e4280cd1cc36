// What both tiled backward kernels of triangular attention do with a tile: some middle nodes l, rows i and columns j of one head.
// SPDX-License-Identifier: Apache-2.0
//
//   s = q . k / sqrt(k),  p = exp(s - m) / z,  dp = sum_c do v1 v2      3 slots an element of (i, l, j, c)
//   w = dropout(p),  ds = p (dropout'(dp) - delta) / sqrt(k)            kept in shared memory for the sums that follow
#pragma once

#include "triad/cuda/launch.cuh"
#include "triad/cuda/triangle_parts.cuh"

namespace triad::cuda::triangles {

struct backward_shape {
  int tile;     // rows i, and columns j
  int middles;  // middle nodes l
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

/// What softmax leaves for backward, and delta(i, j) = sum_c do o.
template <class T>
struct statistics_views {
  matrix<T const> maximum, inverse_sum, delta;  // (rows, h) each
};

template <class T, int Width, bool OwnKey, bool RightValue>
struct backward_tile {
  static constexpr backward_shape shape = backward_tiles<T, Width, OwnKey>();
  static constexpr int threads = shape.threads, tile = shape.tile, middles = shape.middles;
  static constexpr int stride = Width + 4;  // neighbouring rows begin in other banks, and so do neighbouring l and i:
  static constexpr int slab = tile * stride + (Width == 16 ? 16 : 8), edge_slab = tile * stride + 16;
  static constexpr int weight_stride = tile + 4, weights = tile * weight_stride + 4;

  struct shared {
    alignas(16) T d_o[tile][edge_slab];                         // do(i, j)
    alignas(16) T own[OwnKey ? tile : 1][OwnKey ? edge_slab : 4];  // k(i, j)
    alignas(16) T query[middles][slab], left[middles][slab];    // q(i, l), v1(i, l)
    alignas(16) T key[OwnKey ? 1 : middles][slab];              // k(l, j)
    alignas(16) T right[RightValue ? middles : 1][slab];        // v2(l, j)
    alignas(16) T w[middles][weights], ds[middles][weights];    // (i, l, j)
    T maximum[tile][tile], inverse_sum[tile][tile], delta[tile][tile];
  };
  static_assert(sizeof(shared) <= most_shared_bytes,
                "triad: a tile of the triangle's backward kernels is larger than the 163 KiB of shared memory of a block");

  TRIAD_DEVICE static index_t edge(one_head<T> const& at, int i, int j) { return i < at.n && j < at.n ? at.row(i, j) : -1; }

  /// do(i, j), the statistics, and k(i, j) where keys are own.
  TRIAD_DEVICE static void copy_pairs(block const& b, shared& s, problem<T> const& p, one_head<T> const& at, columns<T const> const& d_o,
                                      statistics_views<T> const& statistics, int i0, int j0) {
    auto const row = [&](int r) { return edge(at, i0 + r / tile, j0 + r % tile); };
    copy_rows<threads, Width>(b, d_o, p.width, tile * tile, row, [&](int r) { return &s.d_o[r / tile][r % tile * stride]; });
    if constexpr (OwnKey) copy_rows<threads, Width>(b, at.key, p.width, tile * tile, row, [&](int r) { return &s.own[r / tile][r % tile * stride]; });
    for (int t = b.thread(); t < tile * tile; t += threads) {
      auto const from = row(t);
      if (from < 0) continue;
      s.maximum[t / tile][t % tile] = statistics.maximum(from, at.head);
      s.inverse_sum[t / tile][t % tile] = statistics.inverse_sum(from, at.head);
      s.delta[t / tile][t % tile] = statistics.delta(from, at.head);
    }
  }
  /// q(i, l) and v1(i, l).
  TRIAD_DEVICE static void copy_left(block const& b, shared& s, problem<T> const& p, one_head<T> const& at, int i0, int l0) {
    auto const row = [&](int r) { return edge(at, i0 + r % tile, l0 + r / tile); };
    copy_rows<threads, Width>(b, at.query, p.width, middles * tile, row, [&](int r) { return &s.query[r / tile][r % tile * stride]; });
    copy_rows<threads, Width>(b, at.left, p.width, middles * tile, row, [&](int r) { return &s.left[r / tile][r % tile * stride]; });
  }
  /// k(l, j), unless keys are own, and v2(l, j).
  TRIAD_DEVICE static void copy_right(block const& b, shared& s, problem<T> const& p, one_head<T> const& at, int l0, int j0) {
    auto const row = [&](int r) { return edge(at, l0 + r / tile, j0 + r % tile); };
    if constexpr (!OwnKey)
      copy_rows<threads, Width>(b, at.key, p.width, middles * tile, row, [&](int r) { return &s.key[r / tile][r % tile * stride]; });
    if constexpr (RightValue)
      copy_rows<threads, Width>(b, at.right, p.width, middles * tile, row, [&](int r) { return &s.right[r / tile][r % tile * stride]; });
  }

  /// w and ds of the whole tile; zeros outside the graph.  The threads of a warp differ in l first, which all read the same do.
  TRIAD_DEVICE static void make_weights(block const& b, shared& s, problem<T> const& p, one_head<T> const& at, keeper const& keep, int i0, int l0,
                                        int j0) {
    constexpr int each = middles * tile * tile / threads;
    constexpr int tall = each >= 8 ? 4 : each >= 4 ? 2 : 1, wide = each >= 2 ? 2 : 1;
    constexpr int down = tile / tall, across = tile / wide;
    constexpr int near_l = middles < 4 ? middles : 4, near_j = across < 4 ? across : 4, near_i = down < 2 ? down : 2;
    for (int t = b.thread(); t < middles * down * across; t += threads) {
      int rest = t, l = digit(rest, near_l), j = digit(rest, near_j), i = digit(rest, near_i);
      j += near_j * digit(rest, across / near_j);
      i += near_i * digit(rest, down / near_i);
      l += near_l * rest;
      T score[tall][wide] = {}, dp[tall][wide] = {};
      for (int c = 0; c < p.width; c += 4) {
        quad<T> key[wide] = {}, right[wide] = {};
        TRIAD_UNROLL
        for (int e = 0; e < wide; ++e) {
          if constexpr (!OwnKey) key[e] = quad_at(&s.key[l][(j + e * across) * stride + c]);
          if constexpr (RightValue) right[e] = quad_at(&s.right[l][(j + e * across) * stride + c]);
        }
        TRIAD_UNROLL
        for (int r = 0; r < tall; ++r) {
          int const row = i + r * down;
          quad<T> const query = quad_at(&s.query[l][row * stride + c]), left = quad_at(&s.left[l][row * stride + c]);
          TRIAD_UNROLL
          for (int e = 0; e < wide; ++e) {
            int const column = (j + e * across) * stride + c;
            quad<T> const d_o = quad_at(&s.d_o[row][column]);
            if constexpr (OwnKey)
              score[r][e] = dot(query, quad_at(&s.own[row][column]), score[r][e]);
            else
              score[r][e] = dot(query, key[e], score[r][e]);
            if constexpr (RightValue)
              dp[r][e] = dot(d_o, left, right[e], dp[r][e]);
            else
              dp[r][e] = dot(d_o, left, dp[r][e]);
          }
        }
      }
      TRIAD_UNROLL
      for (int r = 0; r < tall; ++r)
        TRIAD_UNROLL
        for (int e = 0; e < wide; ++e) {
          int const row = i + r * down, column = j + e * across, gi = i0 + row, gl = l0 + l, gj = j0 + column;
          T w = 0, ds = 0;
          if (gi < at.n && gl < at.n && gj < at.n) {
            bool const shut = at.masked(gi, gl, gj);
            T const probability =
                exponential((shut ? p.fill : score[r][e] * p.scale) - s.maximum[row][column]) * s.inverse_sum[row][column];
            T const kept = keep.keeps(at.element(gi, gl, gj)) ? p.kept : T(0);
            w = probability * kept;
            if (!shut) ds = probability * (dp[r][e] * kept - s.delta[row][column]) * p.scale;
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

  TRIAD_DEVICE void operator()(block const& b, columns<T const> o, columns<T const> d_o, index_t rows, index_t heads, int width,
                               matrix<T> delta) const {
    index_t const r = b.index() * (threads / warp) + b.row();
    bool const live = r < rows;
    for (index_t c = 0; c < heads; ++c) {
      auto const x = o.of_head(c, width), y = d_o.of_head(c, width);
      T sum = 0;
      if (live)
        for (int e = b.lane(); e < width; e += warp) sum += x.at(r, e) * y.at(r, e);
      sum = warp_sum(b, sum);
      if (live && b.lane() == 0) delta(r, c) = sum;
    }
  }
};

}  // namespace triad::cuda::triangles
