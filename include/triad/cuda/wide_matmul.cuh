// Products with one very wide matrix: cuBLAS, which reads the factor as it is, a batch of chunks at once and what is left.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/cuda/matmul.cuh"
#include "triad/cuda/reduce.cuh"
#include "triad/ops/matmul.hpp"
#include "triad/ops/wide_matmul.hpp"

namespace triad::cuda {

namespace detail {

/// Whole chunks, but for the columns of the product that takes the bias, of which there are some.
constexpr index_t chunks_without_bias(index_t used) { return (used - 1) / wide_chunk; }

/// The sums of those chunks, one behind the other: (chunks, m n).
template <class T>
matrix<T> wide_partial(arena& place, index_t used, tensor<T, dyn, dyn> y) {
  return as_matrix(place.make<tensor<T, dyn, dyn>>(chunks_without_bias(used), y.extent(0) * y.extent(1)));
}

}  // namespace detail

template <class T>
std::size_t do_wide_factor_workspace(backend&, matrix<T const>, index_t) { return 0; }

template <class T>
void do_wide_factor(backend&, wide_factor<T> const&) {}

template <class T>
std::size_t do_wide_matmul_workspace(backend& ex, wide_factor<T> const&, index_t used, tensor<T, dyn, dyn> y) {
  return planned_bytes([&](arena& place) {
    auto const partial = detail::wide_partial(place, used, y);
    (void)place.make_workspace(do_column_sums_workspace(ex, matrix<T const>(partial)));
  });
}

template <class T>
void do_wide_matmul(backend& ex, matrix<T const> x, wide_factor<T> const& factor, index_t used, vec<T const> bias, tensor<T, dyn, dyn> y, workspace ws) {
  arena place(ws.data, ws.bytes);
  auto const partial = detail::wide_partial(place, used, y);
  index_t const chunks = partial.extent(0), done = chunks * wide_chunk, m = y.extent(0), n = y.extent(1);
  epilogue<T> add;
  add.bias = bias;
  matmul(ex, column_block(x, done, used - done), transposed(column_block(factor.w, done, used - done)), y, add);
  if (chunks == 0) return;
  batched_matmul(ex, make_matrices(x.data_handle(), chunks, m, wide_chunk, wide_chunk, x.stride(0)),
                 make_matrices(factor.w.data_handle(), chunks, wide_chunk, n, wide_chunk, 1, factor.w.stride(0)),
                 make_matrices(partial.data_handle(), chunks, m, n, m * n, n));
  do_column_sums_add(ex, matrix<T const>(partial), as_vec(y), place.make_workspace(do_column_sums_workspace(ex, matrix<T const>(partial))));
}

template <class T>
void do_wide_matmul_back(backend& ex, matrix<T const> dy, wide_factor<T> const& factor, index_t used, matrix<T> dx) {
  matmul_add(ex, dy, column_block(factor.w, 0, used), column_block(dx, 0, used));
}

}  // namespace triad::cuda
