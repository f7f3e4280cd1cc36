// Triangular attention of one head of a graph with a few nodes.  The kernels read the rows of edges in place, with
// lanes along the head width.
// SPDX-License-Identifier: Apache-2.0
//
// A kernel computes a dot product as one vector of partial sums.  The lanes of sixteen such vectors are added up at a
// time.  Forward keeps the scores of all l for a block of rows i.  Backward computes one l after the other, because the
// gradients dq(., l), dv1(., l), dk(l, .) and dv2(l, .) depend on one l alone.
//
// In the causal form, an edge (i, j) with i, j < l does not use middle node l if l is not a source: l is closed to the
// edge.  These edges form a square.  Blocks of edges that lie inside the square are skipped.  In blocks that lie partly
// inside the square, the weights of the edges inside are zero.
#pragma once

#include <algorithm>
#include <cmath>

#include "triad/core/finite.hpp"
#include "triad/cpu/triangle/kernels.hpp"
#include "triad/ops/triangle.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS::triangles {

/// One head of one graph.  Row i n + j belongs to edge (i, j).
struct head {
  index_t n, width;
  in_rows query, key, left, right;  // (n n, width); right.data is null if the form has no right value
  float scale;                      // 1 / sqrt(width)
  std::uint8_t const* masked;       // (n n n) [i][l][j] or null
  float fill;
  std::uint64_t const* bits;  // dropout, or null: bit first + (l n + i) n + j is for p(i, l, j)
  std::uint64_t first;
  float kept;           // the factor of kept probabilities
  index_t stat_stride;  // the distance between edges in `maximum` and `inverse_sum`
  index_t sources;      // causal: edge (i, j) has middle nodes l < sources, and others up to max(i, j); else n
  triangle_bias_head<float const> bias{};
  triangle_bias_head<float> d_bias{};  // backward: where this head's gradient of the bias is written, or null

  /// All middle nodes of the edges up to (i, j) are below this number.
  index_t end(index_t i, index_t j) const { return causal_end(sources, n, i, j); }
  /// Whether l is open to any edge up to (i, j).
  bool open(index_t l, index_t i, index_t j) const { return l < sources || l <= i || l <= j; }
  /// If one end of an edge is at most `last`, l is open to the edge only if the other end is at least this number.
  index_t begin(index_t l, index_t last) const { return open(l, last, last) ? 0 : l; }
};

/// Sets elements of s to `value` if l is closed to their edges.  s has the rows [i0, i0 + height) and the columns
/// [j0, j0 + columns) of one l.
inline void close(head const& x, index_t l, index_t i0, index_t height, index_t j0, index_t columns, float* s,
                  index_t ld, float value) {
  if (l < x.sources || l <= j0) return;
  for (index_t i = 0; i < std::min(height, l - i0); ++i) std::fill_n(s + i * ld, std::min(columns, l - j0), value);
}

/// Adds the bias to the scores s of one l, in the rows [i0, i0 + height) and the columns [j0, j0 + columns).
[[gnu::noinline]] inline void add_bias(head const& x, index_t l, index_t i0, index_t height, index_t j0,
                                       index_t columns, float* s, index_t ld) {
  for (index_t i = 0; i < height; ++i, s += ld) {
    float const* const row = &x.bias.at(i0 + i, l, j0);
    simd::each_vector(columns, [&](index_t j, auto part) __attribute__((always_inline)) {
      part.store(s + j, part.load(s + j) + (x.bias.step_j != 0 ? part.load(row + j) : simd::broadcast(*row)));
    });
  }
}

/// Whether an element of the head's gradient of the bias is a sum, or belongs to a triangle that may be skipped.
inline bool adds_bias_gradients(head const& x) {
  return x.d_bias.step_i == 0 || x.d_bias.step_j == 0 || x.sources < x.n;
}

/// Clears the gradient of the bias at the middle nodes [l0, l0 + count), if gradients are added to it later.
inline void clear_bias_gradient(head const& x, index_t l0, index_t count) {
  if (x.d_bias.data == nullptr || !adds_bias_gradients(x)) return;
  for (index_t i = 0; i < (x.d_bias.step_i != 0 ? x.n : 1); ++i)
    for (index_t l = l0; l < l0 + count; ++l) std::fill_n(&x.d_bias.at(i, l, 0), x.d_bias.step_j != 0 ? x.n : 1, 0.0f);
}

/// Writes the gradient of the bias from the gradients ds of the scores of one l, which are scaled by 1 / sqrt(width).
[[gnu::noinline]] inline void write_bias_gradient(head const& x, index_t l, index_t i0, index_t height, index_t j0,
                                                  index_t columns, float const* ds, index_t ld) {
  float const factor = std::sqrt(static_cast<float>(x.width));
  bool const adds = adds_bias_gradients(x);
  for (index_t i = 0; i < height; ++i, ds += ld) {
    float* const row = &x.d_bias.at(i0 + i, l, j0);
    floats sum = {};
    simd::each_vector(columns, [&](index_t j, auto part) __attribute__((always_inline)) {
      floats const gradient = part.load(ds + j) * factor;
      if (x.d_bias.step_j == 0)
        sum = sum + gradient;
      else
        part.store(row + j, adds ? part.load(row + j) + gradient : gradient);
    });
    if (x.d_bias.step_j != 0) continue;
    alignas(64) float by_lane[lanes];
    simd::store(by_lane, sum);
    for (float const lane : by_lane) *row += lane;
  }
}

/// If a graph has at most this number of nodes, all its rows i are one block.
inline constexpr index_t whole_graph = 20;

/// The kernels of this file compute graphs of at most this number of nodes, and the kernels with tiles compute larger
/// graphs.  A kernel of this file adds up the lanes of a vector for each product of a query and a key.  If a head has
/// one or two vectors, these sums take a large part of the time.  So the limit for such heads is 12, a compromise
/// between widths.  The table has the time of both passes with tiles over the time without, for triangular attention
/// alone with four heads, AVX-512 and one thread, by the number of nodes.  Two builds gave it, with the limits 9 and 20
/// for all widths; `triad-bench --benchmark_filter=^triangle/` times some of these sizes.
///
///   | width | 10   | 12   | 14   | 16   | 18   | 20   | 28   |
///   | 8     | 1.14 | 1.00 | 0.87 | 0.81 | 0.97 | 0.83 |      |
///   | 16    | 1.15 | 0.99 | 0.74 | 0.59 | 0.58 | 0.55 |      |
///   | 32    | 0.95 | 0.78 | 0.84 | 0.81 | 1.02 | 1.07 |      |
///   | 50    | 1.66 | 1.34 | 1.31 | 1.12 | 1.31 | 1.16 | 1.0  |
///
/// AVX2 has vectors of half the length.  Its ratios at n = 12 and n = 20 are 0.92 and 0.76 for the width 16, and 1.20
/// and 1.19 for the width 32.
constexpr index_t most_small_nodes(index_t width) { return simd::vectors(width) <= 2 ? 12 : whole_graph; }
constexpr bool is_small(index_t n, index_t width) { return n <= most_small_nodes(width); }

constexpr index_t row_block(index_t n) { return n <= whole_graph ? n : 4; }

/// The number of floats in the copies that collected() may make.
constexpr index_t copied_floats(index_t n, index_t width) {
  return n <= whole_graph ? 4 * n * n * simd::padded(width) : 0;
}

/// The number of floats of scratch memory that small_forward() needs for a graph of n nodes.
constexpr index_t small_forward_floats(index_t n, index_t width) {
  auto const edges = simd::padded(row_block(n) * n);
  return edges * (n + lanes + 2) + copied_floats(n, width);
}
/// The number of edges in a row of scratch memory.  Blocks begin at any row, so the last vector of the last block may
/// end up to a vector after the last edge.
constexpr index_t backward_edges(index_t n) { return simd::padded(n * n) + lanes; }
constexpr index_t small_backward_floats(index_t n, index_t width) {
  auto const edges = backward_edges(n), block = simd::padded(row_block(n) * n);
  return 6 * edges + block * lanes + (n <= whole_graph ? n * n * simd::padded(width) : 0) + copied_floats(n, width);
}

/// If the distance between rows is a multiple of 512 bytes, copies the rows to `room`, one after the other, and returns
/// a head that refers to the copies.  Otherwise returns x.  Rows at such a distance are mapped to a few sets of the
/// first-level cache, and would evict each other.
inline head collected(head x, float* room) {
  if (x.n < 4 || x.n > whole_graph || x.query.stride % 128 != 0) return x;
  auto const row = simd::padded(x.width);
  for (auto* part : {&x.query, &x.key, &x.left, &x.right}) {
    if (part->data == nullptr) continue;
    for (index_t r = 0; r < x.n * x.n; ++r)
      simd::each_vector(x.width, [&](index_t c, auto some) __attribute__((always_inline)) {
        simd::store(room + r * row + c, some.load((*part)[r] + c));
      });
    *part = {room, row};
    room += x.n * x.n * row;
  }
  return x;
}

template <int I, int J>
inline constexpr bool pairs = I == J || (I >= 3 && I <= 4 && J >= 3 && J <= 4);

/// Calls f(i, size, j, size) for blocks of rows [0, height) by columns [0, n).  height is n, or at most 4 if n > 5.
template <class F>
[[gnu::always_inline]] inline void each_block(index_t height, index_t n, F&& f) {
  each_run(height, [&](index_t i, auto rows_here) {
    constexpr int I = decltype(rows_here)::value;
    each_run(n, [&](index_t j, auto columns_here) {
      if constexpr (pairs<I, decltype(columns_here)::value>) f(i, rows_here, j, columns_here);
    });
  });
}

/// Computes the scores of one l for the rows [i0, i0 + height): s[t] = scale q(i, l) . k(l, j), where t is (i - i0) n +
/// j.  If OwnKey is true, the key is k(i, j).
template <bool OwnKey>
inline void score_rows(head const& x, index_t l, index_t i0, index_t height, float* partial, float* s) {
  auto const n = x.n;
  if constexpr (OwnKey) {
    for (index_t i = 0; i < height; ++i)
      each_run(n, [&](index_t j, auto w) {
        constexpr int J = decltype(w)::value;
        if (!x.open(l, i0 + i, j + J - 1)) return;
        dots<1, J>(x.query.from((i0 + i) * n + l), x.key.from((i0 + i) * n + j), x.width, partial + (i * n + j) * lanes,
                   n);
      });
  } else {
    each_block(height, n, [&](index_t i, auto h, index_t j, auto w) {
      constexpr int I = decltype(h)::value, J = decltype(w)::value;
      if (!x.open(l, i0 + i + I - 1, j + J - 1)) return;
      dots<I, J>(x.query.from((i0 + i) * n + l).every(n), x.key.from(l * n + j), x.width, partial + (i * n + j) * lanes,
                 n);
    });
  }
  for (index_t t = 0; t < height * n; t += lanes) simd::store(s + t, simd::sums(partial + t * lanes) * x.scale);
  if (x.bias.data != nullptr) add_bias(x, l, i0, height, 0, n, s, n);
  if (x.masked != nullptr)
    for (index_t i = 0; i < height; ++i)
      for (index_t j = 0; j < n; ++j)
        if (x.masked[((i0 + i) * n + l) * n + j] != 0) s[i * n + j] = x.fill;
  close(x, l, i0, height, 0, n, s, n, below_all<float>);
}

/// Replaces the scores s[l][t] by their softmax over l, with dropout.  Stores the statistics of the softmax.
inline void softmax_rows(head const& x, index_t i0, index_t height, index_t layer, float* s, float* maximum,
                         float* inverse_sum, float* out_maximum, float* out_inverse_sum) {
  auto const n = x.n;
  for (index_t t = 0; t < height * n; t += lanes) {
    floats m = simd::load(s + t);
    for (index_t l = 1; l < n; ++l) m = simd::max(m, simd::load(s + l * layer + t));
    floats z = {};
    for (index_t l = 0; l < n; ++l) {
      floats const e = simd::exp_nonpositive(simd::load(s + l * layer + t) - m);
      simd::store(s + l * layer + t, e);
      z = z + e;
    }
    floats const inverse = 1.0f / z;
    simd::store(maximum + t, m);
    simd::store(inverse_sum + t, inverse);
    if (x.bits == nullptr) {
      for (index_t l = 0; l < n; ++l) simd::store(s + l * layer + t, simd::load(s + l * layer + t) * inverse);
    } else {
      floats const weight = inverse * x.kept;
      for (index_t l = 0; l < n; ++l) {
        auto const position = x.first + static_cast<std::uint64_t>((l * n + i0) * n + t);
        simd::store(s + l * layer + t, simd::keep(simd::load(s + l * layer + t) * weight, x.bits, position));
      }
    }
  }
  for (index_t t = 0; t < height * n; ++t) {
    out_maximum[(i0 * n + t) * x.stat_stride] = maximum[t];
    out_inverse_sum[(i0 * n + t) * x.stat_stride] = inverse_sum[t];
  }
}

/// Computes o (n n, width) and the statistics of one graph and head.
template <bool OwnKey, bool RightValue>
void small_forward(head const& scattered, out_rows o, float* out_maximum, float* out_inverse_sum, float* scratch) {
  auto const n = scattered.n, height_limit = row_block(n), layer = simd::padded(height_limit * n);
  float* const s = scratch;  // [l][layer]
  float* const partial = s + n * layer;
  float* const maximum = partial + layer * lanes;
  float* const inverse_sum = maximum + layer;
  head const x = collected(scattered, inverse_sum + layer);
  auto const block = [&](index_t i0, index_t height) {
    for (index_t l = 0; l < n; ++l) score_rows<OwnKey>(x, l, i0, height, partial, s + l * layer);
    softmax_rows(x, i0, height, layer, s, maximum, inverse_sum, out_maximum, out_inverse_sum);
    if constexpr (RightValue) {
      each_block(height, n, [&](index_t i, auto h, index_t j, auto w) {
        constexpr int I = decltype(h)::value, J = decltype(w)::value;
        values<I, J>({s + i * n + j, layer, n}, x.left.from((i0 + i) * n), x.right.from(j), n,
                     x.end(i0 + i + I - 1, j + J - 1), x.width, o.from((i0 + i) * n + j));
      });
    } else {
      for (index_t i = 0; i < height; ++i)
        each_run(n, [&](index_t j, auto w) {
          constexpr int J = decltype(w)::value;
          mix<J>({s + i * n + j, 1, layer}, x.end(i0 + i, j + J - 1), x.left.from((i0 + i) * n), x.width,
                 o.from((i0 + i) * n + j), false);
        });
    }
  };
  if (height_limit == n) return block(0, n);
  each_run(n, [&](index_t i0, auto h) { block(i0, decltype(h)::value); });
}

/// Overwrites all gradients of one graph and head.
template <bool OwnKey, bool RightValue>
void small_backward(head const& scattered, in_rows o, in_rows d_o, float const* maximum, float const* inverse_sum,
                    out_rows dq, out_rows dk, out_rows dv1, out_rows dv2, float* scratch) {
  auto const n = scattered.n, width = scattered.width, height_limit = row_block(n), edges = backward_edges(n);
  float* const m = scratch;  // [edge], as all arrays up to ds
  float* const inverse = m + edges;
  float* const delta = inverse + edges;
  float* const p = delta + edges;  // scores, then their softmax
  float* const dropped = p + edges;
  float* const ds = dropped + edges;
  float* const partial = ds + edges;
  float* const packed = partial + simd::padded(height_limit * n) * lanes;
  head const x = collected(scattered, packed + (n <= whole_graph ? n * n * simd::padded(width) : 0));

  for (index_t t = 0; t < n * n; ++t) {
    m[t] = maximum[t * x.stat_stride];
    inverse[t] = inverse_sum[t * x.stat_stride];
  }
  // In a small graph, the rows of `do` are read n times.  So aligned and padded copies save more time than the copying
  // takes.
  bool const pack = height_limit == n;
  in_rows const gradient = pack ? in_rows{packed, simd::padded(width)} : d_o;
  for (index_t t0 = 0; t0 < n * n; t0 += lanes) {
    for (index_t t = t0; t < std::min(t0 + lanes, n * n); ++t) {
      floats acc = {};
      simd::each_vector(width, [&](index_t c, auto part) __attribute__((always_inline)) {
        floats const g = part.load(d_o[t] + c);
        if (pack) simd::store(packed + t * simd::padded(width) + c, g);
        acc = acc + g * part.load(o[t] + c);
      });
      simd::store(partial + (t - t0) * lanes, acc);
    }
    simd::store(delta + t0, simd::sums(partial));
  }

  clear_bias_gradient(x, 0, n);
  for (index_t l = 0; l < n; ++l) {
    auto const block = [&](index_t i0, index_t height) {
      auto const begin = i0 * n, end = (i0 + height) * n;
      score_rows<OwnKey>(x, l, i0, height, partial, p + begin);
      for (index_t t = begin; t < end; t += lanes) {
        floats const probability =
            simd::exp_nonpositive(simd::load(p + t) - simd::load(m + t)) * simd::load(inverse + t);
        simd::store(p + t, probability);
        if (x.bits != nullptr)
          simd::store(dropped + t,
                      simd::keep(probability * x.kept, x.bits, x.first + static_cast<std::uint64_t>(l * n * n + t)));
      }
      float* const weight = x.bits != nullptr ? dropped : p;
      close(x, l, i0, height, 0, n, weight + begin, n, 0);
      each_block(height, n, [&](index_t i, auto h, index_t j, auto w) {
        constexpr int J = decltype(w)::value;
        auto const part = [&](index_t r, auto tall) {
          constexpr int I = decltype(tall)::value;
          auto const row = i0 + r, last_row = row + I - 1, last = j + J - 1;
          if (!x.open(l, last_row, last)) return;
          gradients<I, J, RightValue>(weight + row * n + j, n, gradient.from(row * n + j), n, width,
                                      x.left.from(row * n + l).every(n), x.right.from(l * n + j),
                                      dv1.from(row * n + l).every(n), j > x.begin(l, last_row), dv2.from(l * n + j),
                                      row > x.begin(l, last), partial + (r * n + j) * lanes);
        };
        if constexpr (decltype(h)::value == 5) {  // 5 x 5 accumulators of dP need too many registers
          part(i, size<3>());
          part(i + 3, size<2>());
        } else {
          part(i, h);
        }
      });
      for (index_t t = begin; t < end; t += lanes) {
        floats dp = simd::sums(partial + (t - begin) * lanes);
        if (x.bits != nullptr)
          dp = simd::keep(dp * x.kept, x.bits, x.first + static_cast<std::uint64_t>(l * n * n + t));
        simd::store(ds + t, simd::load(p + t) * (dp - simd::load(delta + t)) * x.scale);
      }
      if (x.masked != nullptr)
        for (index_t i = i0; i < i0 + height; ++i)
          for (index_t j = 0; j < n; ++j)
            if (x.masked[(i * n + l) * n + j] != 0) ds[i * n + j] = 0;
      close(x, l, i0, height, 0, n, ds + begin, n, 0);
      if (x.d_bias.data != nullptr) write_bias_gradient(x, l, i0, height, 0, n, ds + begin, n);
    };
    if (height_limit == n) {
      block(0, n);
    } else {
      each_run(n, [&](index_t i0, auto h) { block(i0, decltype(h)::value); });
    }
    if constexpr (OwnKey) {
      for (index_t i = 0; i < n; ++i) {
        index_t const from = x.begin(l, i);
        mix<1>({ds + i * n + from, 0, 1}, n - from, x.key.from(i * n + from), width, dq.from(i * n + l), false);
        each_run(n, [&](index_t j, auto w) {
          constexpr int J = decltype(w)::value;
          if (!x.open(l, i, j + J - 1)) return;
          mix<J>({ds + i * n + j, 1, 0}, 1, x.query.from(i * n + l), width, dk.from(i * n + j), l > 0);
        });
      }
    } else {
      each_run(n, [&](index_t i, auto h) {
        constexpr int I = decltype(h)::value;
        index_t const from = x.begin(l, i + I - 1);
        mix<I>({ds + i * n + from, n, 1}, n - from, x.key.from(l * n + from), width, dq.from(i * n + l).every(n),
               false);
        mix<I>({ds + from * n + i, 1, n}, n - from, x.query.from(from * n + l).every(n), width, dk.from(l * n + i),
               false);
      });
    }
  }
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS::triangles
