// What the attention kernels have in common: the rows of a block, the keys that a query attends to, and products of
// tiles of rows in shared memory.
// SPDX-License-Identifier: Apache-2.0
//
// A block keeps sixteen rows, which are queries or keys, and computes 128 columns of a head for these rows.  Each of
// its four warps has four of the kept rows.  The passing rows are the keys if the kept rows are queries, else the
// queries.  The block reads the passing rows in tiles of 32 rows, one row for each lane, and in pieces of 32 columns.
// The sums of the kept rows stay in registers until all passing rows are read.  So any number of rows and any width are
// possible.  If a head has more than 128 columns, there is one block for each 128 columns, and each of these blocks
// computes the scores.
//
//                       scores: lane t has passing row t     sums: lane t has columns t, 32 + t, 64 + t, 96 + t
//   kept rows  0 ..  3      warp 0: 4 scores a lane            warp 0: 16 sums a lane
//              4 ..  7      warp 1                             warp 1
//              8 .. 11      warp 2                             warp 2
//             12 .. 15      warp 3                             warp 3
//
// Bank conflicts: shared memory serves several threads together: 32 threads that access 4 bytes each, 16 threads that
// access 8 bytes each, or 8 threads that access 16 bytes each.  Each number of the table is the largest number of
// different words in one bank that these threads access.  1 means that there is no bank conflict.
// tests/cuda_on_host/banks_test.cpp checks these numbers: it counts the accesses to each bank.  Rows are 36 elements
// apart.  So in float, if eight lanes read 16 bytes of a row each, they read from all 32 banks.
//
//   bytes of an element                                     4    8
//   copies of 16 bytes                                      1    2
//   copies of single elements                               1    1
//   scores: the kept row                                    1    1
//   scores: the passing rows                                1    2
//   scores: stored                                          1    1
//   values: the weight                                      1    1
//   values: the passing row                                 1    1
#pragma once

#include <cstdint>
#include <cuda/std/cmath>

#include "triad/cuda/device/launch.cuh"
#include "triad/ops/attention.hpp"

namespace triad::cuda {

namespace detail {

inline constexpr int attention_warps = 4, attention_warp_rows = 4,
                     attention_tile_rows = attention_warps * attention_warp_rows,  // rows of a block
    attention_pieces = 4, attention_columns = attention_pieces * warp,             // columns of a block
    attention_stride = warp + 4;

template <class T>
using kept_tile = T[attention_tile_rows][attention_stride];
template <class T>
using passing_tile = T[warp][attention_stride];
/// The sums of a lane, for the warp's four rows and for one column of each piece.
template <class T>
using attention_sums = T[attention_warp_rows][attention_pieces];

/// Four neighbouring columns of a tile.  Their address is a multiple of 16 bytes.
template <class T>
struct alignas(16) four_columns {
  T at[4];
};
template <class T>
TRIAD_DEVICE four_columns<T> four_at(T const* x) {
  return *reinterpret_cast<four_columns<T> const*>(x);
}

/// The options, and the values that the host computes from the options for the kernels.
template <class T>
struct attention_rule {
  attention_options options;
  attention_sequences sequences;
  int width;   // of a head
  int groups;  // the number of groups of 128 columns in a head
  bool fours;  // whether every operand can be copied four columns at a time
  T scale, kept;
  std::uint64_t threshold;  // of dropout; the host computes it, because a GPU is slow in double; 0: all are kept

  attention_rule(attention_options const& o, attention_sequences const& s, attention_operands<T const> const& x,
                 matrix<T const> dc = no_matrix<T const>())
      : options(o),
        sequences(s),
        width(static_cast<int>(x.query.extent(1) / o.heads)),
        groups(static_cast<int>(blocks_for(width, attention_columns))),
        fours(in_fours(x.query) && in_fours(x.key) && in_fours(x.value) && in_fours(dc)),
        scale(T(1) / ::cuda::std::sqrt(T(width))),
        kept(o.dropout.active() ? T(o.dropout.scale()) : T(1)),
        threshold(o.dropout.active() ? o.dropout.threshold() : 0) {}

  /// The number of blocks for all sequences.  Every sequence gets as many blocks as the longest sequence needs.
  index_t blocks(sequence_batch const& rows) const {
    return rows.count * options.heads * groups * blocks_for(rows.longest, attention_tile_rows);
  }

 private:
  bool in_fours(matrix<T const> m) const {
    return m.extent(0) == 0 || (m.stride(1) == 1 && width % 4 == 0 && m.stride(0) % 4 == 0 &&
                                reinterpret_cast<std::uintptr_t>(m.data_handle()) % 16 == 0);
  }
};

/// The sequence, head and group of 128 columns that a block computes.
template <class T>
struct attention_place {
  attention_rule<T> const& rule;
  index_t head, first_query, first_key;
  int queries, keys;        // of the sequence
  int first, first_column;  // the block's first query or key in the sequence, and its first column in the head

  TRIAD_DEVICE attention_place(block const& b, attention_rule<T> const& t, index_t longest) : rule(t) {
    index_t const tiles = (longest + attention_tile_rows - 1) / attention_tile_rows;
    index_t rest = b.index();
    first = static_cast<int>(rest % tiles) * attention_tile_rows;
    rest /= tiles;
    first_column = static_cast<int>(rest % t.groups) * attention_columns;
    rest /= t.groups;
    head = rest % t.options.heads;
    index_t const s = rest / t.options.heads;
    queries = static_cast<int>(t.sequences.queries.size(s));
    keys = static_cast<int>(t.sequences.keys.size(s));
    first_query = t.sequences.queries.begin(s);
    first_key = t.sequences.keys.begin(s);
  }

  TRIAD_DEVICE int seen(int i) const {
    auto const n = static_cast<int>(keys_before(rule.options.causal, queries, keys, i));
    return n < keys ? n : keys;
  }
  /// The first query that attends to key j.
  TRIAD_DEVICE int first_seeing(int j) const {
    int const i = rule.options.causal ? j - keys + queries : 0;
    return i > 0 ? i : 0;
  }
  TRIAD_DEVICE bool sees(int i, int j) const {
    return i < queries && j < seen(i) &&
           (rule.options.masked.extent(0) == 0 || rule.options.masked(first_key + j) == 0);
  }
  /// Whether this block also writes the results that do not belong to columns, such as statistics.
  TRIAD_DEVICE bool writes_rest() const { return first_column == 0; }
  TRIAD_DEVICE index_t statistic(int i) const { return head * rule.sequences.queries.rows + first_query + i; }
  TRIAD_DEVICE T kept(int i, int j) const {
    if (rule.threshold == 0) return T(1);
    auto const e = static_cast<std::uint64_t>(attention_weight(rule.sequences, head, first_query + i, j));
    auto const words = philox(rule.options.dropout.counter(e / 64 * 16 + e % 16), rule.options.dropout.key);
    auto const w = e % 64 / 16;  // selected by value, because indexed words would be stored in memory
    return (w < 2 ? w == 0 ? words[0] : words[1] : w == 2 ? words[2] : words[3]) >= rule.threshold ? rule.kept : T(0);
  }

  /// The element of m (q rows, h (2R + 1)) for query i and offset r.  by_offset() returns the element for the offset of
  /// key j.
  template <class S>
  TRIAD_DEVICE S& offset(matrix<S> m, int i, index_t r) const {
    return m(first_query + i, head * relative_offsets(rule.options.reach) + r);
  }
  template <class S>
  TRIAD_DEVICE S& by_offset(matrix<S> m, int i, int j) const {
    return offset(m, i, relative_offset(rule.options.reach, queries, keys, i, j));
  }
  /// Calls f(offset) for each offset that belongs to the lane.
  template <class F>
  TRIAD_DEVICE void each_own_offset(block const& b, F&& f) const {
    for (index_t r = b.lane(); r < relative_offsets(rule.options.reach); r += warp) f(r);
  }
  /// For each offset, multiplies to(i, offset) by `shrink`, and adds the sum of x over the keys at this offset.  The
  /// sum has only the 32 keys from `begin` on.  If `begin` is 0, the sum overwrites `to`.  x belongs to query i, which
  /// is the warp's kept row r.  Between the writing of x and this call, there must be a sync().
  TRIAD_DEVICE void sum_by_offset(block const& b, kept_tile<T> const& x, int r, int i, int begin, T shrink,
                                  matrix<T> to) const {
    T const* const row = x[b.row() * attention_warp_rows + r];
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

  /// Starts copying columns e .. e + 31 of the head: tile(r, c) = m(first_row + r, column e + c of the head).  Elements
  /// beyond `rows` rows or beyond the head become zero.
  template <int Rows>
  TRIAD_DEVICE void stage(block const& b, T (&tile)[Rows][attention_stride], matrix<T const> const& m,
                          index_t first_row, int rows, int e) const {
    T const* const from = m.data_handle() + first_row * m.stride(0) + (head * rule.width + e) * m.stride(1);
    if (rule.fours) {
      constexpr int together = 16 / sizeof(T), step = attention_warps * 4;
      int const c = b.thread() % 8 * 4, down = b.thread() / 8;
      bool const live = e + c < rule.width;
      TRIAD_UNROLL
      for (int k = 0; k < Rows; k += step) {
        bool const inside = live && down + k < rows;
        T const* const row = inside ? from + (down + k) * m.stride(0) + c : from;
        TRIAD_UNROLL
        for (int part = 0; part < 4; part += together) b.start_copy<16>(&tile[down + k][c + part], row + part, inside);
      }
    } else {
      bool const live = e + b.lane() < rule.width;
      TRIAD_NO_UNROLL
      for (int r = b.row(); r < Rows; r += attention_warps) {
        bool const inside = live && r < rows;
        b.start_copy<sizeof(T)>(&tile[r][b.lane()], inside ? from + r * m.stride(0) + b.lane() * m.stride(1) : from,
                                inside);
      }
    }
  }
  /// Waits for the copies that were started.  Then every thread sees the tiles.
  TRIAD_DEVICE void finish_staging(block const& b) const {
    b.end_copies();
    b.wait_for_copies<0>();
    b.sync();
  }

  /// Calls f(piece, first column of the piece in the head) for the pieces of this block that lie in the head.
  template <class F>
  TRIAD_DEVICE void each_piece(F&& f) const {
    TRIAD_UNROLL
    for (int k = 0; k < attention_pieces; ++k)
      if (int const e = first_column + k * warp; e < rule.width) f(k, e);
  }
  /// Calls f(piece, column of the matrix) for the columns of the lane that belong to this block.
  template <class F>
  TRIAD_DEVICE void each_own_column(block const& b, F&& f) const {
    each_piece([&](int k, int e) {
      if (e + b.lane() < rule.width) f(k, head * rule.width + e + b.lane());
    });
  }
  /// Calls f(column of the matrix) for the columns of the lane that lie in the head.
  template <class F>
  TRIAD_DEVICE void each_column(block const& b, F&& f) const {
    TRIAD_NO_UNROLL
    for (int e = b.lane(); e < rule.width; e += warp) f(head * rule.width + e);
  }
};

/// Adds to sum[r] the dot product of the warp's kept row r and the lane's passing row, over 32 columns.
template <class T>
TRIAD_DEVICE void add_dots(block const& b, kept_tile<T> const& kept, passing_tile<T> const& passing,
                           T (&sum)[attention_warp_rows]) {
  TRIAD_UNROLL_TWICE
  for (int k = 0; k < warp; k += 4) {
    auto const y = four_at(&passing[b.lane()][k]);
    TRIAD_UNROLL
    for (int r = 0; r < attention_warp_rows; ++r) {
      auto const x = four_at(&kept[b.row() * attention_warp_rows + r][k]);
      TRIAD_UNROLL
      for (int e = 0; e < 4; ++e) sum[r] += x.at[e] * y.at[e];
    }
  }
}

/// Sets sum[r] to the sum over the 32 passing rows k of weight(kept row r of the warp, k) passing(k, lane).
template <class T>
TRIAD_DEVICE void weigh(block const& b, kept_tile<T> const& weight, passing_tile<T> const& passing,
                        T (&sum)[attention_warp_rows]) {
  TRIAD_UNROLL
  for (int r = 0; r < attention_warp_rows; ++r) sum[r] = 0;
  TRIAD_UNROLL_TWICE
  for (int k = 0; k < warp; k += 4) {
    T y[4];
    TRIAD_UNROLL
    for (int e = 0; e < 4; ++e) y[e] = passing[k + e][b.lane()];
    TRIAD_UNROLL
    for (int r = 0; r < attention_warp_rows; ++r) {
      auto const w = four_at(&weight[b.row() * attention_warp_rows + r][k]);
      TRIAD_UNROLL
      for (int e = 0; e < 4; ++e) sum[r] += w.at[e] * y[e];
    }
  }
}

}  // namespace detail
}  // namespace triad::cuda
