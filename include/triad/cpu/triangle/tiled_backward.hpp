// Triangular attention backward in tiles.  A task computes a block of middle nodes l of one head of one graph, with all
// i and j.
// SPDX-License-Identifier: Apache-2.0
//
// The gradients dq(., l), dv1(., l), dk(l, .) and dv2(l, .) depend on one l alone, so exactly one task writes them.
// Panels of k, v2, dk and dv2 of the block stay in the second-level cache.  Every block reads `do`, the gradient of o.
// So `do` is packed once for all blocks, and then read from memory:
//
//   for a block of rows i, for a tile of columns j:
//     p = exp(s - m) / z;  dP = sum_c do v1 v2;  dS = p (dP - delta) / sqrt(k);  dv1, dv2 from p;  dq, dk from dS
//
// In the causal form, an edge (i, j) with i, j < l does not use middle node l if l is not a source: l is closed to the
// edge.  These edges form a square.  Tiles that lie inside the square are skipped.  Inside a tile, the register kernels
// skip the rows and columns that lie inside the square.  For the other edges inside the square, p and dS are zero.
#pragma once

#include "triad/cpu/triangle/panels.hpp"
#include "triad/cpu/triangle/tiled_forward.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS::triangles {

/// The number of rows i in a block.
inline constexpr index_t block_rows = 2 * group;

struct backward_tiles {
  index_t n, width;
  index_t vectors() const { return simd::vectors(width); }
  index_t tiles() const { return (n + tile - 1) / tile; }
  /// The number of middle nodes in a block: 16 if the panels of 16 middle nodes fit into the second-level cache, else
  /// 8.
  index_t block() const { return 16 * columns_of_one() * 4 <= 1600000 ? 16 : 8; }
  index_t turned() const { return tiles() * tile * width; }             // for one l: [tile][c][tile]
  index_t panel() const { return tiles() * tile * vectors() * lanes; }  // for one l: [tile][c / lanes][tile][lanes]
  index_t columns_of_one() const { return 2 * turned() + 4 * panel(); }
  index_t rows_of_one() const { return block_rows * vectors() * lanes; }  // for one l: [c / lanes][block_rows][lanes]
  index_t floats() const { return block() * (columns_of_one() + 4 * rows_of_one() + 2 * block_rows * tile); }
  index_t row_blocks() const { return (n + block_rows - 1) / block_rows; }
  /// The number of floats in `do` of one tile: [i][c][tile] transposed, and then the panel [c / lanes][i][tile][lanes].
  index_t gradient() const { return block_rows * tile * (width + vectors() * lanes); }
  /// The number of floats in `do` of one head.  The order of its tiles is [i / block_rows][tile].
  index_t gradients() const { return row_blocks() * tiles() * gradient(); }
  /// The largest number of floats for any graph of up to n nodes.  A smaller graph may have larger blocks of l, and so
  /// need more floats.
  index_t most_floats() const {
    index_t most = 0;
    for (index_t m = tile; m < n + tile; m += tile) most = std::max(most, backward_tiles{m, width}.floats());
    return most;
  }
};

/// Calls f(j0, vectors) for the tiles of n columns.  A tile has two vectors.  The last tile has one vector if one is
/// enough.
template <class F>
void each_tile(index_t n, F&& f) {
  for (index_t j0 = 0; j0 < n; j0 += tile) {
    if (n - j0 > lanes) {
      f(j0, size<2>());
    } else {
      f(j0, size<1>());
    }
  }
}

/// Packs block number `block` of the rows of `do`.  `packed` has gradients() floats for all blocks.
inline void pack_gradient(backward_tiles const& t, in_rows d_o, index_t block, float* packed) {
  index_t const i0 = block * block_rows, height = (std::min(block_rows, t.n - i0) + half - 1) / half * half;
  each_tile(t.n, [&](index_t j0, auto v) {
    constexpr index_t width = decltype(v)::value * lanes;
    float* const to = packed + (block * t.tiles() + j0 / tile) * t.gradient();
    for (index_t i = 0; i < height; ++i) {
      auto const row = d_o.from(std::min(i0 + i, t.n - 1) * t.n + j0);
      index_t const columns = std::min(width, t.n - j0);
      turn(row, columns, t.width, to + i * t.width * width, width);
      pack_panel(row, columns, width, t.width, to + block_rows * tile * t.width + i * width * lanes,
                 block_rows * width);
    }
  });
}

/// The softmax statistics and delta of one head for all edges of a graph, in the order of edges.  Kernels may read up
/// to a tile beyond the last edge.
struct edge_statistics {
  float const *maximum, *inverse_sum, *delta;
};

/// Replaces the scores p by probabilities with dropout, and replaces the gradients of probabilities in ds by gradients
/// of scores.  Also writes the gradient of the bias.  Masked elements of ds become zero.  In p and in ds, the rows from
/// `height` on become zero, and the edges to which l is closed become zero too.
inline void score_gradients(head const& x, edge_statistics const& e, index_t l, index_t i0, index_t height,
                            index_t padded_height, index_t j0, index_t columns, index_t width, float* p, float* ds) {
  auto const n = x.n;
  if (x.bias.data != nullptr) add_bias(x, l, i0, height, j0, columns, p, width);
  if (x.masked != nullptr) mask_scores(x, l, i0, height, j0, columns, p, width, x.fill);
  for (index_t i = 0; i < height; ++i)
    for (index_t j = 0; j < width; j += lanes) {
      index_t const edge = (i0 + i) * n + j0 + j, t = i * width + j;
      floats const probability =
          simd::exp_nonpositive(simd::load(p + t) - simd::load(e.maximum + edge)) * simd::load(e.inverse_sum + edge);
      floats dropped = probability, dp = simd::load(ds + t);
      if (x.bits != nullptr) {
        auto const position = x.first + static_cast<std::uint64_t>((l * n + i0 + i) * n + j0 + j);
        dropped = simd::keep(probability * x.kept, x.bits, position);
        dp = simd::keep(dp * x.kept, x.bits, position);
      }
      simd::store(p + t, dropped);
      simd::store(ds + t, probability * (dp - simd::load(e.delta + edge)) * x.scale);
    }
  if (x.masked != nullptr) mask_scores(x, l, i0, height, j0, columns, ds, width, 0);
  close(x, l, i0, height, j0, columns, p, width, 0);
  close(x, l, i0, height, j0, columns, ds, width, 0);
  if (x.d_bias.data != nullptr) write_bias_gradient(x, l, i0, height, j0, columns, ds, width);
  for (index_t t = height * width; t < padded_height * width; t += lanes) {
    simd::store(p + t, floats{});
    simd::store(ds + t, floats{});
  }
}

/// Computes all gradients of the middle nodes [l0, l0 + count).
template <bool RightValue>
class backward_block {
 public:
  backward_block(head const& x_, edge_statistics const& e_, float const* d_o_, out_rows dq_, out_rows dk_,
                 out_rows dv1_, out_rows dv2_, index_t l0_, index_t count_, float* scratch)
      : x(x_),
        e(e_),
        d_o(d_o_),
        to_query(dq_),
        to_key(dk_),
        to_left(dv1_),
        to_right(dv2_),
        l0(l0_),
        count(count_),
        size_of{x_.n, x_.width},
        n(x_.n),
        k(x_.width),
        vectors(size_of.vectors()) {
    float* next = scratch;
    auto const take = [&](index_t floats_wanted) { return std::exchange(next, next + floats_wanted); };
    auto const l = size_of.block();
    key_turned = take(l * size_of.turned());
    right_turned = take(l * size_of.turned());
    key = take(l * size_of.panel());
    right = take(l * size_of.panel());
    dk = take(l * size_of.panel());
    dv2 = take(l * size_of.panel());
    query = take(l * size_of.rows_of_one());
    left = take(l * size_of.rows_of_one());
    dq = take(l * size_of.rows_of_one());
    dv1 = take(l * size_of.rows_of_one());
    p = take(l * block_rows * tile);
    ds = take(l * block_rows * tile);
  }

  void run() {
    clear_bias_gradient(x, l0, count);
    std::fill(dk, dk + count * size_of.panel(), 0.0f);
    if constexpr (RightValue) std::fill(dv2, dv2 + count * size_of.panel(), 0.0f);
    each_tile(n, [&](index_t j0, auto v) {
      constexpr index_t width = decltype(v)::value * lanes;
      index_t const columns = std::min(width, n - j0);
      for (index_t l = 0; l < count; ++l) {
        if (l + 1 < count) {
          prefetch_rows(x.key.from((l0 + l + 1) * n + j0), columns, k);
          if constexpr (RightValue) prefetch_rows(x.right.from((l0 + l + 1) * n + j0), columns, k);
        }
        turn(x.key.from((l0 + l) * n + j0), columns, k, turned(key_turned, l, j0), width);
        pack_panel(x.key.from((l0 + l) * n + j0), columns, width, k, panel(key, l, j0), width);
        if constexpr (RightValue) {
          turn(x.right.from((l0 + l) * n + j0), columns, k, turned(right_turned, l, j0), width);
          pack_panel(x.right.from((l0 + l) * n + j0), columns, width, k, panel(right, l, j0), width);
        }
      }
    });
    for (index_t i0 = 0; i0 < n; i0 += block_rows) {
      height = std::min(block_rows, n - i0);
      padded_height = (height + half - 1) / half * half;
      std::fill(dq, dq + count * size_of.rows_of_one(), 0.0f);
      std::fill(dv1, dv1 + count * size_of.rows_of_one(), 0.0f);
      for (index_t l = 0; l < count; ++l) {
        pack_panel(x.query.from(i0 * n + l0 + l).every(n), height, padded_height, k, query + l * size_of.rows_of_one(),
                   block_rows);
        pack_panel(x.left.from(i0 * n + l0 + l).every(n), height, padded_height, k, left + l * size_of.rows_of_one(),
                   block_rows);
      }
      each_tile(n, [&](index_t j0, auto v) { this->template one_tile<decltype(v)::value>(i0, j0); });
      for (index_t l = 0; l < count; ++l) {
        unpack_panel(dq + l * size_of.rows_of_one(), block_rows, height, k, to_query.from(i0 * n + l0 + l).every(n));
        unpack_panel(dv1 + l * size_of.rows_of_one(), block_rows, height, k, to_left.from(i0 * n + l0 + l).every(n));
      }
    }
    each_tile(n, [&](index_t j0, auto v) {
      for (index_t l = 0; l < count; ++l) {
        constexpr index_t width = decltype(v)::value * lanes;
        unpack_panel(panel(dk, l, j0), width, std::min(width, n - j0), k, to_key.from((l0 + l) * n + j0));
        if constexpr (RightValue)
          unpack_panel(panel(dv2, l, j0), width, std::min(width, n - j0), k, to_right.from((l0 + l) * n + j0));
      }
    });
  }

 private:
  head const& x;
  edge_statistics e;
  float const* d_o;  // packed
  out_rows to_query, to_key, to_left, to_right;
  index_t l0, count;
  backward_tiles size_of;
  index_t n, k, vectors, height = 0, padded_height = 0;
  float *key_turned, *right_turned, *key, *right, *dk, *dv2;  // for the block's l: transposed or panels, by tiles of j
  float *query, *left, *dq, *dv1;                             // panels for the block's l and rows i
  float *p, *ds;                                              // [l][block_rows][tile]

  float* turned(float* base, index_t l, index_t j0) const { return base + l * size_of.turned() + j0 * k; }
  float* panel(float* base, index_t l, index_t j0) const { return base + l * size_of.panel() + j0 * vectors * lanes; }

  float const* gradient_of(index_t i0, index_t j0) const {
    return d_o + (i0 / block_rows * size_of.tiles() + j0 / tile) * size_of.gradient();
  }

  /// Returns head::begin() for middle node l0 + l and the edges with one end at `last` or before, counted from `begin`.
  index_t first_of(index_t l, index_t last, index_t begin) const {
    return std::max<index_t>(0, x.begin(l0 + l, last) - begin);
  }

  /// Prefetches what the next tile and the next block of rows will read, and what this block will write.  Each call
  /// prefetches one of `count` parts, one part for each l of a tile.
  void prefetch_next(index_t i0, index_t j0, index_t l) {
    bool const last_tile = j0 + tile >= n;
    if (float const* const next = gradient_of(i0, j0) + size_of.gradient(); next < d_o + size_of.gradients())
      for (index_t at = size_of.gradient() * l / count; at < size_of.gradient() * (l + 1) / count; at += 16)
        __builtin_prefetch(next + at, 0, 2);
    if (last_tile) {
      index_t const i = i0 + block_rows, next_height = std::min(block_rows, n - i);
      if (next_height > 0) {
        prefetch_rows(x.query.from(i * n + l0 + l).every(n), next_height, k);
        prefetch_rows(x.left.from(i * n + l0 + l).every(n), next_height, k);
      }
      prefetch_rows<true>(to_query.from(i0 * n + l0 + l).every(n), height, k);
      prefetch_rows<true>(to_left.from(i0 * n + l0 + l).every(n), height, k);
    }
    if (i0 + block_rows >= n) {
      prefetch_rows<true>(to_key.from((l0 + l) * n + j0), std::min<index_t>(tile, n - j0), k);
      if constexpr (RightValue)
        prefetch_rows<true>(to_right.from((l0 + l) * n + j0), std::min<index_t>(tile, n - j0), k);
    }
  }

  template <int V>
  void one_tile(index_t i0, index_t j0) {
    constexpr index_t width = V * lanes;
    index_t const columns = std::min(width, n - j0), layer = block_rows * width, rows_of_l = size_of.rows_of_one();
    index_t const last_row = i0 + height - 1, last_column = j0 + columns - 1;
    index_t open =
        x.end(last_row, last_column) - l0;  // middle nodes of the block that are open to some edge of the tile
    if (open <= 0) return;
    if constexpr (!RightValue)
      open = (open + group - 1) / group * group;  // because `accumulate` adds whole groups of l
    index_t const here = std::min(count, open);
    float const* const gradient_turned = gradient_of(i0, j0);
    float const* const gradient = gradient_turned + block_rows * tile * k;
    for (index_t l = 0; l < here; ++l) {
      prefetch_next(i0, j0, l);
      each_group(padded_height, [&](index_t i, auto r) {
        constexpr int R = decltype(r)::value;
        if (!x.open(l0 + l, i0 + i + R - 1, last_column)) return;
        scores<R, V>({query + l * rows_of_l + i * lanes, lanes}, block_rows * lanes, turned(key_turned, l, j0), k,
                     x.scale, p + l * layer + i * width, width);
      });
    }
    if constexpr (RightValue) {
      for (index_t i = 0; i < padded_height; i += half)
        each_pair(here, [&](index_t l, auto two) {
          if (!x.open(l0 + l, i0 + i + half - 1, last_column)) return;
          weight_gradients<decltype(two)::value, V>(gradient_turned + i * k * width, left + l * rows_of_l + i * lanes,
                                                    rows_of_l, block_rows, turned(right_turned, l, j0),
                                                    size_of.turned(), k, ds + l * layer + i * width, layer, width);
        });
    } else {
      for (index_t i = 0; i < height; ++i)
        each_group(here, [&](index_t l, auto r) {
          scores<decltype(r)::value, V>({left + l * rows_of_l + i * lanes, rows_of_l}, block_rows * lanes,
                                        gradient_turned + i * k * width, k, 1.0f, ds + l * layer + i * width, layer);
        });
    }
    for (index_t l = 0; l < here; ++l)
      score_gradients(x, e, l0 + l, i0, height, padded_height, j0, columns, width, p + l * layer, ds + l * layer);

    if constexpr (RightValue) {
      for (index_t v = 0; v < vectors; ++v)
        each_group(padded_height, [&](index_t i, auto r) {
          constexpr int R = decltype(r)::value;
          for (index_t l = 0; l < here; ++l) {
            index_t const from = first_of(l, i0 + i + R - 1, j0), at_row = l * rows_of_l + (v * block_rows + i) * lanes,
                          at_column = (v * width + from) * lanes;
            if (from >= columns) break;
            value_gradients<R>(p + l * layer + i * width + from, width,
                               gradient + ((v * block_rows + i) * width + from) * lanes, width * lanes, left + at_row,
                               panel(right, l, j0) + at_column, columns - from, dv1 + at_row,
                               panel(dv2, l, j0) + at_column);
          }
        });
    } else {
      for (index_t i = 0; i < height; ++i)
        each_pair(vectors, [&](index_t v, auto pair) {
          each_group(here, [&](index_t l, auto r) {
            accumulate<decltype(r)::value, decltype(pair)::value>(
                {p + l * layer + i * width, layer, 1}, columns, gradient + (v * block_rows + i) * width * lanes,
                block_rows * width * lanes, dv1 + l * rows_of_l + (v * block_rows + i) * lanes, rows_of_l,
                block_rows * lanes);
          });
        });
    }
    for (index_t l = 0; l < here; ++l)
      each_pair(vectors, [&](index_t v, auto pair) {
        constexpr int W = decltype(pair)::value;
        each_group(padded_height, [&](index_t i, auto r) {
          constexpr int R = decltype(r)::value;
          index_t const from = first_of(l, i0 + i + R - 1, j0);
          if (from >= columns) return;
          accumulate<R, W>({ds + l * layer + i * width + from, width, 1}, columns - from,
                           panel(key, l, j0) + (v * width + from) * lanes, width * lanes,
                           dq + l * rows_of_l + (v * block_rows + i) * lanes, lanes, block_rows * lanes);
        });
        each_group(columns, [&](index_t j, auto r) {
          constexpr int R = decltype(r)::value;
          index_t const from = first_of(l, j0 + j + R - 1, i0);
          if (from >= height) return;
          accumulate<R, W>({ds + l * layer + from * width + j, 1, width}, height - from,
                           query + l * rows_of_l + (v * block_rows + from) * lanes, block_rows * lanes,
                           panel(dk, l, j0) + (v * width + j) * lanes, lanes, width * lanes);
        });
      });
  }
};

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS::triangles
