// The bias of attention scores by distance, directly from its definition in ops/distance_bias.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/ops/distance_bias.hpp"
#include "triad/reference/backend.hpp"

namespace triad::TRIAD_REFERENCE {

template <class T>
void do_distance_bias(backend&, T scale, matrix<T const> table, matrix<T> bias) {
  if (bias.extent(0) == 0) return;
  index_t const n = relative_offsets(distance_reach);
  for (index_t c = 0; c < table.extent(1); ++c)
    for (index_t r = 0; r < n; ++r) bias(0, c * n + r) = scale * table(distance_bucket(r - distance_reach), c);
  for (index_t i = 1; i < bias.extent(0); ++i)  // all rows are the same
    for (index_t q = 0; q < bias.extent(1); ++q) bias(i, q) = bias(0, q);
}

template <class T>
void do_distance_bias_grad(backend&, T scale, vec<T const> d_sum, matrix<T> d_table) {
  index_t const n = relative_offsets(distance_reach);
  for (index_t k = 0; k < distance_buckets; ++k)
    for (index_t c = 0; c < d_table.extent(1); ++c) {
      T sum = 0;
      for (index_t r = 0; r < n; ++r)
        if (distance_bucket(r - distance_reach) == k) sum += d_sum(c * n + r);
      d_table(k, c) += scale * sum;
    }
}

}  // namespace triad::TRIAD_REFERENCE
