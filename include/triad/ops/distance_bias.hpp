// A bias of attention scores that depends on the distance of a key from its query, as in MPNet and T5.
// SPDX-License-Identifier: Apache-2.0
//
//   bias(i, c n + r) = scale table(bucket(r - R), c)                  table (32, heads), bias (rows, heads n)
//   dtable(k, c) += scale sum_{r: bucket(r - R) = k} dsum(c n + r)    dsum(x) = sum_i dbias(i, x)
//
// R is the largest distance that has an offset of its own, and n = 2R + 1 (ops/attention.hpp reads `bias`).  Offset r
// is that of key j = i + r - R from query i.  Keys that are further away than R have the bucket of R.  16 buckets are
// for keys up to the query, and 16 for keys after it.  In each half, the distances 0 to 7 have a bucket each, and the
// others share buckets whose bounds grow by a factor of 2^(1/2):
//
//   bucket(a) = (a > 0 ? 16 : 0) + (|a| < 8 ? |a| : min(15, 8 + floor(2 log2(|a| / 8))))
#pragma once

#include "triad/core/backend.hpp"
#include "triad/core/views.hpp"
#include "triad/ops/attention.hpp"

namespace triad {

/// The number of buckets.
inline constexpr index_t distance_buckets = 32;
/// R: all distances from 91 on have the same bucket.
inline constexpr index_t distance_reach = 91;

/// Returns the bucket of a key that is `ahead` tokens after its query.
TRIAD_HOST_DEVICE constexpr index_t distance_bucket(index_t ahead) {
  constexpr index_t half = distance_buckets / 2, exact = half / 2;
  index_t const distance = ahead < 0 ? -ahead : ahead, first = ahead > 0 ? half : 0;
  if (distance < exact) return first + distance;
  if (distance >= distance_reach) return first + half - 1;
  // |a| >= 8 2^(k / 2) is a^2 >= 64 2^k, which integers decide exactly.
  index_t k = 0;
  while (distance * distance >= exact * exact * (index_t{2} << k)) ++k;
  return first + exact + k;
}

namespace detail {
template <class Table>
index_t expect_distance_table(char const* name, Table const& table) {
  expect_extent(name, "rows of table", table.extent(0), distance_buckets);
  return table.extent(1) * relative_offsets(distance_reach);
}
}  // namespace detail

/// Computes the bias.  Every row of `bias` is the same.  Overwrites `bias`.
template <backend Ex, class T>
void distance_bias(Ex& ex, T scale, matrix<T const> table, matrix<T> bias) {
  expect_extent("distance_bias", "columns of bias", bias.extent(1),
                detail::expect_distance_table("distance_bias", table));
  if constexpr (executes<Ex>) do_distance_bias(ex, scale, table, bias);
}

/// Computes the gradient of the table from the sums of the columns of the bias's gradient.  Adds to d_table.
template <backend Ex, class T>
void distance_bias_grad(Ex& ex, T scale, vec<T const> d_sum, matrix<T> d_table) {
  expect_extent("distance_bias_grad", "d_sum", d_sum.extent(0),
                detail::expect_distance_table("distance_bias_grad", d_table));
  if constexpr (executes<Ex>) do_distance_bias_grad(ex, scale, d_sum, d_table);
}

}  // namespace triad
