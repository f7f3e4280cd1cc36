// The steps that both tiled backward kernels of triangular attention take on a tile.  A tile has some middle nodes l,
// rows i and columns j of one head.
// SPDX-License-Identifier: Apache-2.0
//
//   s = q . k / sqrt(k),  p = exp(s - m) / z,  dp = sum_c do v1 v2      3 operations an element of (i, l, j, c)
//   w = dropout(p),  ds = p (dropout'(dp) - delta) / sqrt(k)            kept in shared memory for the sums that follow
//
// If the arithmetic rounds q and k, a thread rounds them in shared memory, where it has copied them.  Then everything
// is computed as in float32, so the gradients are those of the rounded scores.  On an H200, kernels that also computed
// dq and dk on tensor cores were slower: they read ds, q and k by columns.
#pragma once

#include "triad/cuda/device/launch.cuh"
#include "triad/cuda/triangle/parts.cuh"
#include "triad/cuda/triangle/round_rows.cuh"

namespace triad::cuda::triangles {

struct backward_shape {
  int tile_ij;  // rows i, and the same number of columns j
  int tile_l;   // middle nodes l
  int threads;
};

/// The sizes for heads of up to Width columns.
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

template <class T, int Width, bool OwnKey, bool RightValue>
struct backward_tile {
  static constexpr backward_shape shape = backward_tiles<T, Width, OwnKey>();
  static constexpr int threads = shape.threads, tile_i = shape.tile_ij, tile_j = shape.tile_ij, tile_l = shape.tile_l;
  static constexpr int stride = Width + 4;  // backward.cuh has the table of banks
  static constexpr int plane = tile_i * stride + (Width == 16 ? 16 : 8), edge_plane = tile_j * stride + 16;
  static constexpr int weight_stride = tile_j + 4, weights = tile_i * weight_stride + 4;

  struct shared {
    alignas(16) T d_o[tile_i][edge_plane];                                // do(i, j)
    alignas(16) T own_key[OwnKey ? tile_i : 1][OwnKey ? edge_plane : 4];  // k(i, j)
    alignas(16) T query[tile_l][plane], left[tile_l][plane];              // q(i, l), v1(i, l)
    alignas(16) T key[OwnKey ? 1 : tile_l][plane];                        // k(l, j)
    alignas(16) T right[RightValue ? tile_l : 1][plane];                  // v2(l, j)
    alignas(16) T w[tile_l][weights], ds[tile_l][weights];                // (i, l, j)
    T maximum[tile_i][tile_j], inverse_sum[tile_i][tile_j], delta[tile_i][tile_j];
  };
  static_assert(
      sizeof(shared) <= most_shared_bytes,
      "triad: a tile of the triangle's backward kernels is larger than the 163 KiB of shared memory of a block");

  // These functions start copies, and the caller waits for the copies.  The statistics are stored at once.
  /// Copies do(i, j) and the statistics.  If OwnKey is true, also copies k(i, j).
  TRIAD_DEVICE static void copy_pairs(block const& b, shared& s, one_head<T> const& at, columns<T const> const& d_o,
                                      statistics_views<T> const& statistics, int i0, int j0) {
    edge_grid const edges{at.row(i0, j0), 1, at.n, at.n - j0, at.n - i0};
    start_rows<threads, Width, tile_i * tile_j, tile_j, stride, edge_plane>(b, d_o, at.width, at.width, edges,
                                                                            s.d_o[0]);
    if constexpr (OwnKey)
      start_rows<threads, Width, tile_i * tile_j, tile_j, stride, edge_plane>(b, at.key, at.width, at.width, edges,
                                                                              s.own_key[0]);
    for (int t = b.thread(); t < tile_i * tile_j; t += threads) {
      int const from = at.edge(i0 + t / tile_j, j0 + t % tile_j);
      if (from < 0) continue;
      s.maximum[t / tile_j][t % tile_j] = at.number(statistics.maximum, from);
      s.inverse_sum[t / tile_j][t % tile_j] = at.number(statistics.inverse_sum, from);
      s.delta[t / tile_j][t % tile_j] = at.number(statistics.delta, from);
    }
  }
  /// Copies q(i, l) and v1(i, l).
  TRIAD_DEVICE static void copy_left(block const& b, shared& s, one_head<T> const& at, int i0, int l0) {
    edge_grid const edges{at.row(i0, l0), at.n, 1, at.n - i0, at.n - l0};
    start_middle_nodes(b, at.query, at.width, edges, s.query);
    start_middle_nodes(b, at.left, at.width, edges, s.left);
  }
  /// Copies k(l, j) if OwnKey is false, and v2(l, j).
  TRIAD_DEVICE static void copy_right(block const& b, shared& s, one_head<T> const& at, int l0, int j0) {
    edge_grid const edges{at.row(l0, j0), 1, at.n, at.n - j0, at.n - l0};
    if constexpr (!OwnKey) start_middle_nodes(b, at.key, at.width, edges, s.key);
    if constexpr (RightValue) start_middle_nodes(b, at.right, at.width, edges, s.right);
  }
  TRIAD_DEVICE static void start_middle_nodes(block const& b, columns<T const> const& x, int width,
                                              edge_grid const& edges, T (&to)[tile_l][plane]) {
    start_rows<threads, Width, tile_l * tile_i, tile_i, stride, plane>(b, x, width, width, edges, to[0]);
  }
  /// Rounds q(i, l), if they are new, and k(l, j), after waiting for this thread's copies.
  TRIAD_DEVICE static void round_scored(block const& b, shared& s, problem<T> const& p, bool new_queries) {
    if constexpr (rounds_scores<T, Width, OwnKey>) {
      if (p.factors == arithmetic::float32) return;
      auto const round = [&](T(&rows)[tile_l][plane]) {
        round_floats<threads, Width, tile_l * tile_i, tile_i, stride, plane>(b, p.factors, p.width, rows[0]);
      };
      if (new_queries) round(s.query);
      round(s.key);
    }
  }

  /// The elements whose w and ds a thread computes at a time.  The elements belong to one l, to each_i rows that are
  /// step_i apart, and to each_j columns that are step_j apart.  Threads that differ only in the lowest bit of their
  /// number read the same `do`.  Threads that differ only in the second bit read the same q and v1.
  struct weight_place {
    static constexpr int each = tile_l * tile_i * tile_j / threads,
                         each_i = each >= 8   ? 4
                                  : each >= 4 ? 2
                                              : 1,
                         each_j = each >= 2 ? 2 : 1;
    static constexpr int step_i = tile_i / each_i, step_j = tile_j / each_j, places = tile_l * step_i * step_j;
    int i, j, l;
    TRIAD_DEVICE explicit weight_place(int t) {
      static_assert(tile_l % 4 == 0 && step_j % 4 == 0 && step_i % 2 == 0);
      auto const [l0, j0, i0, l1, j1, i1, l2] = coordinates(t, 2, 2, 2, 2, step_j / 2, step_i / 2);
      l = l0 + 2 * l1 + 4 * l2;
      j = j0 + 2 * j1;
      i = i0 + 2 * i1;
    }
  };
  /// Computes w and ds of the whole tile.  w and ds are zero outside the graph, and if l is closed to the edge.
  TRIAD_DEVICE static void make_weights(block const& b, shared& s, problem<T> const& p, one_head<T> const& at, int i0,
                                        int l0, int j0) {
    keeper const keep(p);  // made for each tile, because a stored keeper would take registers from the sums
    // Whether the tile lies inside the graph, all its middle nodes are open, and nothing is masked or dropped.
    bool const whole = i0 + tile_i <= at.n && l0 + tile_l <= at.n && j0 + tile_j <= at.n &&
                       at.open(i0, l0 + tile_l - 1, j0) && at.mask == nullptr && p.threshold == 0;
    using place = weight_place;
    constexpr int each_i = place::each_i, each_j = place::each_j;
    for (int t = b.thread(); t < place::places; t += threads) {
      place const my(t);
      T score[each_i][each_j] = {}, dp[each_i][each_j] = {};
      for (int c = 0; c < p.width; c += 4) {
        quad<T> key[each_j] = {}, right[each_j] = {};
        TRIAD_UNROLL
        for (int e = 0; e < each_j; ++e) {
          if constexpr (!OwnKey) key[e] = quad_at(&s.key[my.l][(my.j + e * place::step_j) * stride + c]);
          if constexpr (RightValue) right[e] = quad_at(&s.right[my.l][(my.j + e * place::step_j) * stride + c]);
        }
        TRIAD_UNROLL
        for (int r = 0; r < each_i; ++r) {
          int const row = my.i + r * place::step_i;
          quad<T> const query = quad_at(&s.query[my.l][row * stride + c]);
          quad<T> const left = quad_at(&s.left[my.l][row * stride + c]);
          TRIAD_UNROLL
          for (int e = 0; e < each_j; ++e) {
            int const column = (my.j + e * place::step_j) * stride + c;
            quad<T> const d_o = quad_at(&s.d_o[row][column]);
            if constexpr (OwnKey)
              score[r][e] = dot(query, quad_at(&s.own_key[row][column]), score[r][e]);
            else
              score[r][e] = dot(query, key[e], score[r][e]);
            if constexpr (RightValue)
              dp[r][e] = dot(d_o, left, right[e], dp[r][e]);
            else
              dp[r][e] = dot(d_o, left, dp[r][e]);
          }
        }
      }
      // Calls f(row, column, scaled score, dP, w, ds) for each element, and stores the w and ds that f sets.
      auto const each_element = [&](auto&& f) {
        TRIAD_UNROLL
        for (int r = 0; r < each_i; ++r) TRIAD_UNROLL
        for (int e = 0; e < each_j; ++e) {
          int const row = my.i + r * place::step_i, column = my.j + e * place::step_j;
          T w = 0, ds = 0;
          f(row, column, score[r][e] * p.scale, dp[r][e], w, ds);
          s.w[my.l][row * weight_stride + column] = w;
          s.ds[my.l][row * weight_stride + column] = ds;
        }
      };
      auto const weigh = [&](int row, int column, T scaled, T change, T kept, T& w, T& ds) {
        T const probability = exponential(scaled - s.maximum[row][column]) * s.inverse_sum[row][column];
        w = probability * kept;
        ds = probability * (change * kept - s.delta[row][column]) * p.scale;
      };
      if (whole)
        each_element([&](int row, int column, T scaled, T change, T& w, T& ds) {
          weigh(row, column, scaled, change, p.kept, w, ds);
        });
      else
        each_element([&](int row, int column, T scaled, T change, T& w, T& ds) {
          int const i = i0 + row, l = l0 + my.l, j = j0 + column;
          if (i >= at.n || l >= at.n || j >= at.n || !at.open(i, l, j)) return;
          bool const masked = at.masked(i, l, j);
          weigh(row, column, masked ? p.fill : scaled, change, keep.keeps(at.element(i, l, j)) ? p.kept : T(0), w, ds);
          if (masked) ds = 0;
        });
    }
  }
};

/// Sets delta(r, c) to the sum of `do` times o over the columns of head c.  One warp computes one row.
template <class T>
struct delta_kernel {
  static constexpr char const* name = "triangle delta";
  static constexpr int threads = 256, resident = 4;

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
