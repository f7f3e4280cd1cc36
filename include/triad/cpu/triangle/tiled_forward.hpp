// Triangular attention forward in tiles.  A task computes `tile` columns j of one head of one graph, with all middle
// nodes l.  The task computes `group` rows i at a time.
// SPDX-License-Identifier: Apache-2.0
//
//   pack k(., j) transposed and v2(., j), once: they stay in the second-level cache for all rows i
//   for every block of rows i:  scores of all l;  exp(s - max) and its sum;  o += p v1 v2;  o / sum
//
// The last block of rows ends at the last row of the graph, so it may overlap the block before it.  The rows in the
// overlap are computed and written twice.  In the causal form, an edge does not use all middle nodes: a middle node is
// open to the edges that use it, and closed to the other edges.  A block of edges computes every middle node that is
// open to any edge of the block.  If a middle node is closed to an edge, its score is -infinity.
#pragma once

#include "triad/core/finite.hpp"
#include "triad/cpu/triangle/panels.hpp"
#include "triad/cpu/triangle/small.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS::triangles {

/// The number of middle nodes l in one pass of the output kernel.  With this number, panels of 4 rows by 32 channels
/// fit into the first-level cache.
inline constexpr index_t chunk = 32;

/// Copies the rows of one l to blocks of R rows, as [row / R][pair of vectors][l][row % R][pair].  The rows
/// [count, rows_wanted) become copies of row count - 1.
template <int R>
inline void pack_pairs(in_rows x, index_t count, index_t rows_wanted, index_t k, index_t l, index_t n, float* to) {
  auto const vectors = simd::vectors(k);
  for (index_t r = 0; r < rows_wanted; ++r) {
    float const* const row = x[std::min(r, count - 1)];
    float* const block = to + (r / R) * vectors * n * R * lanes;
    simd::each_vector(k, [&](index_t c, auto part) __attribute__((always_inline)) {
      index_t const v = c / lanes, pair = v / 2 * 2, width = std::min<index_t>(2, vectors - pair);
      simd::store(block + (pair * n * R + (l * R + r % R) * width + v - pair) * lanes, part.load(row + c));
    });
  }
}

struct forward_tiles {
  index_t n, width;
  index_t vectors() const { return simd::vectors(width); }
  // The number of floats in each part of the scratch.
  index_t keys() const { return n * width * tile; }                  // [l][c][tile], or [i][c][tile] for own keys
  index_t right() const { return n * vectors() * lanes * tile; }     // [j / 2][pair][l][2][pair]
  index_t left() const { return n * vectors() * lanes * group; }     // [i / half][pair][l][half][pair]
  index_t probabilities() const { return n * group * tile; }         // [l][group][tile]
  index_t statistics() const { return 2 * group * tile; }            // maximum, sum
  index_t sums() const { return group * tile * vectors() * lanes; }  // [i / half][pair][j / 2][half][2][pair]
  index_t floats() const { return keys() + right() + left() + probabilities() + statistics() + sums(); }
};

/// Computes the exponentials of the softmax for `height` rows and the vectors of one tile.  Replaces the scores s of
/// the middle nodes [0, end) by exp(s - maximum), and sets `sum` to the sum of the exponentials.  Then sets the
/// elements of s that dropout does not keep to zero.  The caller divides by the sum, and multiplies by 1 / (1 - rate).
inline void exponentials(head const& x, float* s, index_t layer, index_t end, index_t i0, index_t height, index_t j0,
                         index_t width, float const* maximum, float* sum) {
  for (index_t t = 0; t < height * width; t += lanes) simd::store(sum + t, floats{});
  for (index_t l = 0; l < end; ++l, s += layer)
    for (index_t i = 0; i < height; ++i)
      for (index_t j = 0; j < width; j += lanes) {
        index_t const t = i * width + j;
        floats e = simd::exp_nonpositive(simd::load(s + t) - simd::load(maximum + t));
        simd::store(sum + t, simd::load(sum + t) + e);
        if (x.bits != nullptr)
          e = simd::keep(e, x.bits, x.first + static_cast<std::uint64_t>((l * x.n + i0 + i) * x.n + j0 + j));
        simd::store(s + t, e);
      }
}

/// Sets the masked scores in the rows [i0, i0 + height) of one l to `fill`.
inline void mask_scores(head const& x, index_t l, index_t i0, index_t height, index_t j0, index_t columns, float* s,
                        index_t ld, float fill) {
  for (index_t i = 0; i < height; ++i)
    for (index_t j = 0; j < columns; ++j)
      if (x.masked[((i0 + i) * x.n + l) * x.n + j0 + j] != 0) s[i * ld + j] = fill;
}

/// Computes o and the statistics of the columns [j0, j0 + columns).  V is the number of vectors in a row of the tile.
template <bool OwnKey, bool RightValue, int V>
void tiled_forward(head const& x, index_t j0, index_t columns, out_rows o, float* out_maximum, float* out_inverse_sum,
                   float* scratch) {
  constexpr index_t width = V * lanes;
  forward_tiles const size_of{x.n, x.width};
  auto const n = x.n, k = x.width, vectors = size_of.vectors(), layer = group * width;
  float* const keys = scratch;
  float* const right = keys + size_of.keys();
  float* const left = right + size_of.right();
  float* const p = left + size_of.left();
  float* const maximum = p + size_of.probabilities();
  float* const sum = maximum + group * tile;
  float* const sums = sum + group * tile;
  index_t const pairs_j = (columns + 1) / 2;

  for (index_t l = 0; l < n; ++l) {
    if (l + 2 < n) {
      prefetch_rows(x.key.from((l + 2) * n + j0), OwnKey ? 0 : columns, k);
      prefetch_rows(x.right.from((l + 2) * n + j0), RightValue ? columns : 0, k);
    }
    if constexpr (!OwnKey) turn(x.key.from(l * n + j0), columns, k, keys + l * k * width, width);
    if constexpr (RightValue) pack_pairs<2>(x.right.from(l * n + j0), columns, 2 * pairs_j, k, l, n, right);
  }

  each_group(n, [&](index_t begin, auto rows_here) {
    constexpr int R = decltype(rows_here)::value;
    index_t const i0 = std::min<index_t>(begin, n - R), next = std::min<index_t>(i0 + R, n - R),
                  end = x.end(i0 + R - 1, j0 + columns - 1);

    for (index_t t = 0; t < R * width; t += lanes) simd::store(maximum + t, simd::broadcast(below_all<float>));
    if constexpr (OwnKey) {
      for (index_t i = 0; i < R; ++i) {
        turn(x.key.from((i0 + i) * n + j0), columns, k, keys, width);
        each_group(end, [&](index_t l, auto h) {
          index_t const first = std::min<index_t>(l, end - decltype(h)::value);  // end >= R; if R is `half`, end is n
          scores<decltype(h)::value, V>(x.query.from((i0 + i) * n + first), lanes, keys, k, x.scale,
                                        p + first * layer + i * width, layer);
        });
      }
    }
    for (index_t l = 0; l < end; ++l) {
      float* const s = p + l * layer;
      if constexpr (!OwnKey)
        scores<R, V>(x.query.from(i0 * n + l).every(n), lanes, keys + l * k * width, k, x.scale, s, width);
      if (x.bias.data != nullptr) add_bias(x, l, i0, R, j0, columns, s, width);
      if (x.masked != nullptr) mask_scores(x, l, i0, R, j0, columns, s, width, x.fill);
      close(x, l, i0, R, j0, columns, s, width, below_all<float>);
      for (index_t t = 0; t < R * width; t += lanes)
        simd::store(maximum + t, simd::max(simd::load(maximum + t), simd::load(s + t)));
      prefetch_rows(x.left.from(i0 * n + l).every(n), R, k);
    }
    exponentials(x, p, layer, end, i0, R, j0, width, maximum, sum);
    for (index_t i = 0; i < R; ++i)
      for (index_t j = 0; j < columns; ++j) {
        float const inverse = 1 / sum[i * width + j];
        sum[i * width + j] = inverse * x.kept;
        index_t const edge = (i0 + i) * n + j0 + j;
        out_maximum[edge * x.stat_stride] = maximum[i * width + j];
        out_inverse_sum[edge * x.stat_stride] = inverse;
      }

    if constexpr (RightValue) {
      for (index_t l = 0; l < end; ++l) {
        pack_pairs<half>(x.left.from(i0 * n + l).every(n), R, R, k, l, n, left);
        prefetch_rows(x.query.from(next * n + l).every(n), R, k);
      }
      for (index_t h = 0; h < R / half; ++h)
        each_pair(vectors, [&](index_t v, auto pair) {
          constexpr int W = decltype(pair)::value;
          auto const block = h * vectors + v;
          for (index_t l = 0; l < end; l += chunk)
            for (index_t j = 0; j < pairs_j; ++j) {
              index_t const here = std::min(chunk, x.end(i0 + h * half + half - 1, j0 + 2 * j + 1) - l);
              if (here <= 0) continue;
              outputs<W>(p + l * layer + h * half * width + 2 * j, layer, width,
                         left + (block * n + l * W) * half * lanes, right + ((j * vectors + v) * n + l * W) * 2 * lanes,
                         here, l == 0, sums + (block * pairs_j + j * W) * half * 2 * lanes);
            }
          for (index_t i = 0; i < half; ++i)
            for (index_t j = 0; j < columns; ++j) {
              float const scale = sum[(h * half + i) * width + j];
              float const* const acc = sums + ((block * pairs_j + j / 2 * W) * half * 2 + (i * 2 + j % 2) * W) * lanes;
              float* const row = o[(i0 + h * half + i) * n + j0 + j];
#pragma GCC unroll 2
              for (int w = 0; w < W; ++w) {
                index_t const c = (v + w) * lanes;
                floats const y = simd::load(acc + w * lanes) * scale;
                if (c + lanes <= k) {
                  simd::store(row + c, y);
                } else {
                  simd::tail(k - c).store(row + c, y);
                }
              }
            }
        });
    } else {
      for (index_t l = 0; l < end; ++l)
        for (index_t t = 0; t < R * width; t += lanes)
          simd::store(p + l * layer + t, simd::load(p + l * layer + t) * simd::load(sum + t));
      for (index_t i = 0; i < R; ++i)
        each_run(columns, [&](index_t j, auto w) {
          constexpr int J = decltype(w)::value;
          mix<J>({p + i * width + j, 1, layer}, x.end(i0 + i, j0 + j + J - 1), x.left.from((i0 + i) * n), k,
                 o.from((i0 + i) * n + j0 + j), false);
        });
    }
  });
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS::triangles
