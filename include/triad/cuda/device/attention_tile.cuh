// What attention's kernels share: which rows a block owns, which keys a query sees, tiles of rows in shared memory and
// their products.
// SPDX-License-Identifier: Apache-2.0
//
// A block owns sixteen rows of one side, four a warp.  The other side comes 32 rows at a time, a lane each, and heads
// 32 columns at a time, so any number of rows and any width do.
#pragma once

#include <cuda/std/cmath>

#include "triad/cuda/device/launch.cuh"
#include "triad/ops/attention.hpp"

namespace triad::cuda {

namespace detail {

inline constexpr int attention_warps = 4, attention_each = 4,
                     attention_own = attention_warps * attention_each;  // rows of a warp, of a block

template <class T>
using own_tile = T[attention_own][warp + 1];
template <class T>
using other_tile = T[warp][warp + 1];

/// What the kernels need of the options, of which the host computes all it can.
template <class T>
struct attention_rule {
  attention_options options;
  attention_sequences sequences;
  index_t width;
  T scale, kept;
  bool drops;

  attention_rule(attention_options const& t, attention_sequences const& s, index_t d)
      : options(t),
        sequences(s),
        width(d / t.heads),
        scale(T(1) / ::cuda::std::sqrt(T(width))),
        kept(t.dropout.active() ? T(t.dropout.scale()) : T(1)),
        drops(t.dropout.active()) {}
};

/// The head of a sequence that a block works on.
template <class T>
struct attention_place {
  attention_rule<T> const& rule;
  index_t head, first;  // the block's first query or key in the sequence
  index_t queries, keys, first_query, first_key;

  TRIAD_DEVICE attention_place(block const& b, attention_rule<T> const& t, index_t longest) : rule(t) {
    index_t const tiles = (longest + attention_own - 1) / attention_own, s = b.index() / tiles / t.options.heads;
    first = b.index() % tiles * attention_own;
    head = b.index() / tiles % t.options.heads;
    queries = t.sequences.queries.size(s);
    keys = t.sequences.keys.size(s);
    first_query = t.sequences.queries.first(s);
    first_key = t.sequences.keys.first(s);
  }

  TRIAD_DEVICE index_t seen(index_t i) const {
    index_t const n = keys_before(rule.options.causal, queries, keys, i);
    return n < keys ? n : keys;
  }
  /// The first query that sees key j.
  TRIAD_DEVICE index_t first_seeing(index_t j) const {
    index_t const i = rule.options.causal ? j - keys + queries : 0;
    return i > 0 ? i : 0;
  }
  TRIAD_DEVICE bool sees(index_t i, index_t j) const {
    return i < queries && j < seen(i) &&
           (rule.options.masked.extent(0) == 0 || rule.options.masked(first_key + j) == 0);
  }
  TRIAD_DEVICE index_t statistic(index_t i) const { return head * rule.sequences.queries.rows + first_query + i; }
  TRIAD_DEVICE T kept(index_t i, index_t j) const {
    if (!rule.drops) return T(1);
    return rule.options.dropout.keeps(
               static_cast<std::uint64_t>(attention_weight(rule.sequences, head, first_query + i, j)))
               ? rule.kept
               : T(0);
  }

  /// Where m (q rows, h (2R + 1)) has offset r of query i, and that of query i to key j.
  template <class S>
  TRIAD_DEVICE S& offset(matrix<S> m, index_t i, index_t r) const {
    return m(first_query + i, head * relative_offsets(rule.options.reach) + r);
  }
  template <class S>
  TRIAD_DEVICE S& by_offset(matrix<S> m, index_t i, index_t j) const {
    return offset(m, i, relative_offset(rule.options.reach, queries, keys, i, j));
  }
  /// f(offset) for the offsets of a lane.
  template <class F>
  TRIAD_DEVICE void each_own_offset(block const& b, F&& f) const {
    for (index_t r = b.lane(); r < relative_offsets(rule.options.reach); r += warp) f(r);
  }
  /// to(i, offset) = shrink to(i, offset) + the sum of x over the warp's 32 keys from `begin` on, which are the first
  /// where begin = 0. i: the query of the warp's own row r, of which x is; a sync() ago x was written.
  TRIAD_DEVICE void sum_by_offset(block const& b, own_tile<T> const& x, int r, index_t i, index_t begin, T shrink,
                                  matrix<T> to) const {
    T const* const row = x[b.row() * attention_each + r];
    index_t const reach = rule.options.reach, place = i + keys - queries, j = begin + b.lane();
    T const before = warp_sum(b, j <= place - reach ? row[b.lane()] : T(0)),
            after = warp_sum(b, j >= place + reach ? row[b.lane()] : T(0));
    if (i >= queries) return;
    each_own_offset(b, [&](index_t u) {
      index_t const column = place - reach + u - begin;
      T const sum = u == 0 ? before : u == 2 * reach ? after : column >= 0 && column < warp ? row[column] : T(0);
      T& all = offset(to, i, u);
      all = begin == 0 ? sum : all * shrink + sum;
    });
  }

  /// tile(r, lane) = m(first row + r, the head's column e + lane), zero beyond `rows` rows and the head.
  template <int Rows>
  TRIAD_DEVICE void stage(block const& b, T (&tile)[Rows][warp + 1], matrix<T const> m, index_t first_row, index_t rows,
                          index_t e) const {
    index_t const column = head * rule.width + e + b.lane();
    for (int r = b.row(); r < Rows; r += attention_warps)
      tile[r][b.lane()] = r < rows && e + b.lane() < rule.width ? m(first_row + r, column) : T(0);
  }
  /// f(column of the matrix) for the columns of a lane.
  template <class F>
  TRIAD_DEVICE void each_own_column(block const& b, F&& f) const {
    for (index_t e = b.lane(); e < rule.width; e += warp) f(head * rule.width + e);
  }
};

/// sum[r] += own row r of the warp . other row of the lane, over 32 columns.
template <class T>
TRIAD_DEVICE void add_dots(block const& b, own_tile<T> const& own, other_tile<T> const& other,
                           T (&sum)[attention_each]) {
  for (int k = 0; k < warp; ++k) {
    T const y = other[b.lane()][k];
    TRIAD_UNROLL
    for (int r = 0; r < attention_each; ++r) sum[r] += own[b.row() * attention_each + r][k] * y;
  }
}

/// sum over the 32 other rows of weight(r, row) other(row, lane).
template <class T>
TRIAD_DEVICE T weighted(block const& b, own_tile<T> const& weight, other_tile<T> const& other, int r) {
  T sum = 0;
  for (int k = 0; k < warp; ++k) sum += weight[b.row() * attention_each + r][k] * other[k][b.lane()];
  return sum;
}

/// Blocks for the rows of every sequence, were they all as long as the longest.
inline index_t attention_blocks(sequence_batch const& s, index_t heads) {
  return s.count * heads * blocks_for(s.longest, attention_own);
}

}  // namespace detail
}  // namespace triad::cuda
