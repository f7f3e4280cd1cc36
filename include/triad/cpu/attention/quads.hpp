// Dot products of the queries and the keys of a small head, computed in registers, and the layout of the results.
// SPDX-License-Identifier: Apache-2.0
//
// A group is `group` = lanes / 4 queries.  A vector of scores belongs to a group and to four keys: lane 4 q + r is the
// score of query q of the group and of key r of the four.  While a score is computed, the four lanes of a query are
// sums over every fourth channel.  So no operand is transposed, and a vector computes at most three keys and three
// queries that do not exist.
//
//   panel    [c / 4][G][lanes]             G groups of queries; lane 4 q + r is channel c + r of query q
//   scores   [group][four keys][lanes]     the groups are `jump` floats apart
//
// The order of the sum over the channels is the same for every score.  So the bits of a score do not depend on the
// other queries and keys.
#pragma once

#include <algorithm>
#include <type_traits>
#include <utility>

#include "triad/core/views.hpp"
#include "triad/cpu/kernels/simd.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

namespace attending {

using simd::floats;
using simd::ints;

/// The number of queries of a vector of scores.
inline constexpr index_t group = simd::lanes / 4;
/// The largest number of groups that multiply_groups() computes together.
inline constexpr index_t most_groups = simd::registers == 32 ? 5 : 3;

constexpr index_t groups(index_t queries) { return (queries + group - 1) / group; }
/// The number of vectors of four that hold `count` keys or channels.
constexpr index_t fours(index_t count) { return (count + 3) / 4; }

/// Rows of one head.  Row r begins at data + r stride.
template <class T>
struct head_rows {
  T* data;
  index_t stride;
  [[gnu::always_inline]] T* operator[](index_t r) const { return data + r * stride; }
  head_rows from(index_t r) const { return {data + r * stride, stride}; }
};

/// Returns the rows [0, count) of x so that whole vectors can be loaded.  Returns x if the width is a multiple of
/// `lanes`.  Otherwise copies the rows to `to` (count, padded(width)), with zeros after each row.
inline head_rows<float const> in_whole_vectors(head_rows<float const> x, index_t count, index_t width, float* to) {
  if (width % simd::lanes == 0) return x;
  index_t const across = simd::padded(width);
  for (index_t r = 0; r < count; ++r)
    simd::each_vector(width, [&](index_t c, auto part) __attribute__((always_inline)) {
      simd::store(to + r * across + c, part.load(x[r] + c));
    });
  return {to, across};
}

/// Copies the rows [0, count) of `queries` to a panel of G groups.  Rows that do not exist are copies of the last row.
template <int G>
inline void gather_panel(head_rows<float const> queries, index_t count, index_t channels, float* panel) {
  for (index_t g = 0; g < G; ++g) {
    float const* row[simd::lanes] = {};
    for (index_t q = 0; q < group; ++q) row[4 * q] = queries[std::min(g * group + q, count - 1)];
    for (index_t c = 0; c < fours(channels); ++c)
      simd::store(panel + (c * G + g) * simd::lanes, simd::load_fours(row, 4 * c));
  }
}

/// Computes the scores of the G groups of a panel with the keys [0, count).
template <int G>
[[gnu::noinline]] inline void multiply_groups(float const* panel, index_t channels, head_rows<float const> keys,
                                              index_t count, float* scores, index_t jump) {
  auto const order = std::make_integer_sequence<int, simd::lanes>();
  for (index_t j = 0; j < count; j += 4, scores += simd::lanes) {
    float const* k[4];
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) k[r] = keys[std::min(j + r, count - 1)];
    floats sum[std::size_t{G}][4] = {};
    float const* q = panel;
    for (index_t c = 0; c < channels; c += 4, q += G * simd::lanes) {
      floats query[std::size_t{G}];
#pragma GCC unroll 5
      for (int g = 0; g < G; ++g) query[g] = simd::load(q + g * simd::lanes);
#pragma GCC unroll 4
      for (int r = 0; r < 4; ++r) {
        floats const key = simd::broadcast_four(k[r] + c);
#pragma GCC unroll 5
        for (int g = 0; g < G; ++g) sum[g][r] = sum[g][r] + query[g] * key;
      }
    }
#pragma GCC unroll 5
    for (int g = 0; g < G; ++g)
      simd::store(scores + g * jump, simd::detail::fold<2>(simd::detail::fold<1>(sum[g][0], sum[g][1], order),
                                                           simd::detail::fold<1>(sum[g][2], sum[g][3], order), order));
  }
}

/// Cuts `count` groups into runs of similar sizes, and calls f(first, size) for each run.
template <class F>
void each_run(index_t count, F&& f) {
  index_t const runs = (count + most_groups - 1) / most_groups;
  for (index_t first = 0, left = runs; left > 0; --left) {
    index_t const size = (count - first + left - 1) / left;
    switch (size) {
      case 1:
        f(first, std::integral_constant<int, 1>());
        break;
      case 2:
        f(first, std::integral_constant<int, 2>());
        break;
      default:
        if (size == 3) f(first, std::integral_constant<int, 3>());
        if constexpr (most_groups > 3) {
          if (size == 4) f(first, std::integral_constant<int, 4>());
          if (size == 5) f(first, std::integral_constant<int, 5>());
        }
    }
    first += size;
  }
}

}  // namespace attending
}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
