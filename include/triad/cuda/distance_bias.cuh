// The bias of attention scores by distance.  A block computes one row of the bias, or one row of the table's gradient.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/cuda/device/rows.cuh"
#include "triad/ops/distance_bias.hpp"

namespace triad::cuda {

namespace detail {

template <class T>
struct distance_bias_row {
  static constexpr char const* name = "distance_bias";
  static constexpr int threads = row_threads;

  TRIAD_DEVICE void operator()(block const& b, T scale, matrix<T const> table, matrix<T> bias) const {
    index_t const n = relative_offsets(distance_reach);
    for (index_t q = b.thread(); q < bias.extent(1); q += threads)
      bias(b.index(), q) = scale * table(distance_bucket(q % n - distance_reach), q / n);
  }
};

template <class T>
struct distance_bias_grad_row {
  static constexpr char const* name = "distance_bias_grad";
  static constexpr int threads = row_threads;

  TRIAD_DEVICE void operator()(block const& b, T scale, vec<T const> d_sum, matrix<T> d_table) const {
    index_t const n = relative_offsets(distance_reach), k = b.index();
    for (index_t c = b.thread(); c < d_table.extent(1); c += threads) {
      T sum = 0;
      for (index_t r = 0; r < n; ++r)
        if (distance_bucket(r - distance_reach) == k) sum += d_sum(c * n + r);
      d_table(k, c) += scale * sum;
    }
  }
};

}  // namespace detail

template <class T>
void do_distance_bias(backend& ex, T scale, matrix<T const> table, matrix<T> bias) {
  launch(ex, detail::distance_bias_row<T>{}, bias.extent(0), scale, table, bias);
}

template <class T>
void do_distance_bias_grad(backend& ex, T scale, vec<T const> d_sum, matrix<T> d_table) {
  launch(ex, detail::distance_bias_grad_row<T>{}, distance_buckets, scale, d_sum, d_table);
}

}  // namespace triad::cuda
