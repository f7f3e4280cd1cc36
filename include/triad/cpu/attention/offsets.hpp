// Relative positions of a small head, on scores in the layout of cpu/attention/quads.hpp.
// SPDX-License-Identifier: Apache-2.0
//
// Key j of query i has the offset j + shift(i), clipped to [0, 2 R].  Four keys that follow one another have four
// offsets that follow one another, except where the offsets are clipped.
#pragma once

#include <algorithm>

#include "triad/cpu/attention/quads.hpp"
#include "triad/cpu/kernels/attention_rows.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

namespace attending {

/// The offsets of a group of queries, which begins with query i.
struct group_offsets {
  index_t rows, count,
      shift;  // the queries that exist, the number of offsets, and shift(i); shift(i + q) = shift(i) - q

  group_offsets(head<float> const& at, index_t i)
      : rows(std::min(group, at.queries - i)),
        count(relative_offsets(at.t.reach)),
        shift(at.t.reach - (i + at.keys - at.queries)) {}
  index_t of(index_t q, index_t j) const { return std::clamp<index_t>(j + shift - q, 0, count - 1); }
  /// Whether no offset of query q and of the keys [j, j + 4) is clipped.
  bool unclipped(index_t q, index_t j) const { return j + shift - q >= 0 && j + 3 + shift - q < count; }
};

/// Adds to the `vectors` vectors of a group the elements of m (q rows, h (2 R + 1)) for the offsets of the keys.
inline void add_offsets(head<float> const& at, index_t i, index_t vectors, matrix<float const> m, float* x) {
  group_offsets const offsets(at, i);
  float const* row[group];
  for (index_t q = 0; q < group; ++q)
    row[q] = &m(at.first_query + i + std::min(q, offsets.rows - 1), at.c * offsets.count);
  for (index_t v = 0; v < vectors; ++v, x += simd::lanes) {
    if (offsets.unclipped(0, 4 * v) && offsets.unclipped(group - 1, 4 * v)) {
      float const* from[simd::lanes] = {};
      for (index_t q = 0; q < group; ++q) from[4 * q] = row[q] + 4 * v + offsets.shift - q;
      simd::store(x, simd::load(x) + simd::load_fours(from, 0));
    } else {
      for (index_t q = 0; q < offsets.rows; ++q)
        for (index_t r = 0; r < 4; ++r) x[4 * q + r] += row[q][offsets.of(q, 4 * v + r)];
    }
  }
}

/// Sets the elements of m for each query of a group to the sums of its numbers with equal offsets.  The numbers of keys
/// that the query may not attend to must be 0.
inline void sum_offsets(head<float> const& at, index_t i, index_t vectors, float const* x, matrix<float> m) {
  group_offsets const offsets(at, i);
  for (index_t q = 0; q < offsets.rows; ++q) {
    float* const to = &m(at.first_query + i + q, at.c * offsets.count);
    std::fill(to, to + offsets.count, 0.0f);
    for (index_t v = 0; v < vectors; ++v) {
      float const* const four = x + v * simd::lanes + 4 * q;
      if (offsets.unclipped(q, 4 * v)) {
        float* const sums = to + 4 * v + offsets.shift - q;
#pragma omp simd
        for (index_t r = 0; r < 4; ++r) sums[r] += four[r];
      } else {
        for (index_t r = 0; r < 4; ++r) to[offsets.of(q, 4 * v + r)] += four[r];
      }
    }
  }
}

}  // namespace attending
}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
