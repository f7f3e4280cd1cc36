// A product with a very wide matrix as products of its chunks: for backends that read the factor as it is.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/ops/matmul.hpp"
#include "triad/ops/reduce.hpp"
#include "triad/ops/wide_matmul.hpp"

namespace triad {

namespace detail {
/// The sums of all chunks but the last, whose product takes the bias: (chunks, m n).
template <class T>
matrix<T> wide_partial(arena& place, index_t used, tensor<T, dyn, dyn> y) {
  return as_matrix(place.make<tensor<T, dyn, dyn>>((used - 1) / wide_chunk, y.extent(0) * y.extent(1)));
}
}  // namespace detail

template <backend Ex, class T>
std::size_t wide_chunks_workspace(Ex& ex, index_t used, tensor<T, dyn, dyn> y) {
  return planned_bytes([&](arena& place) {
    auto const partial = detail::wide_partial(place, used, y);
    (void)place.make_workspace(do_column_sums_workspace(ex, matrix<T const>(partial)));
  });
}

/// What wide_matmul does.
template <backend Ex, class T>
void wide_by_chunks(Ex& ex, matrix<T const> x, matrix<T const> w, index_t used, vec<T const> bias,
                    tensor<T, dyn, dyn> y, workspace ws) {
  arena place(ws.data, ws.bytes);
  auto const partial = detail::wide_partial(place, used, y);
  index_t const chunks = partial.extent(0), done = chunks * wide_chunk, m = y.extent(0), n = y.extent(1);
  epilogue<T> add;
  add.bias = bias;
  matmul(ex, column_block(x, done, used - done), transposed(column_block(w, done, used - done)), y, add);
  if (chunks == 0) return;
  batched_matmul(ex, make_matrices(x.data_handle(), chunks, m, wide_chunk, wide_chunk, x.stride(0)),
                 make_matrices(w.data_handle(), chunks, wide_chunk, n, wide_chunk, 1, w.stride(0)),
                 make_matrices(partial.data_handle(), chunks, m, n, m * n, n));
  column_sums_add(ex, place, matrix<T const>(partial), y);
}

}  // namespace triad
