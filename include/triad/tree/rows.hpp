// Loops over contiguous arrays for the tree algebra, written so that compilers vectorise the loops.  The order of every
// sum is fixed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/core/mdspan.hpp"

namespace triad::detail {

/// y += w x
template <class T>
void add_row(T w, T const* x, T* y, index_t count) {
  for (index_t i = 0; i < count; ++i) y[i] += w * x[i];
}

/// Returns sum_i x_i y_i.  Adds the products into sixteen partial sums, then adds the partial sums.
template <class T>
T dot(T const* x, T const* y, index_t count) {
  constexpr index_t lanes = 16;
  T sums[lanes] = {};
  index_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (index_t lane = 0; lane < lanes; ++lane) sums[lane] += x[i + lane] * y[i + lane];
  T total = 0;
  for (index_t lane = 0; lane < lanes; ++lane) total += sums[lane];
  for (; i < count; ++i) total += x[i] * y[i];
  return total;
}

template <class T>
void fill_row(T* y, index_t count, T value) {
  for (index_t i = 0; i < count; ++i) y[i] = value;
}

}  // namespace triad::detail
