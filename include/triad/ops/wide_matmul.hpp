// Products with a matrix that has many more columns than rows.  An example is the projection of whole trees to vectors.
// SPDX-License-Identifier: Apache-2.0
//
//   wide_matmul        y = x w' + b        x (m, k), w (n, k), b (n), y (m, n);  k much larger than m and n
//   wide_matmul_back   dx += dy w          dy (m, n), dx (m, k)
//
// Reading w takes longer than the arithmetic, so a backend may first copy w into the order in which both products read
// it.  The columns of x from `used` on must be zero.  These columns are not read, and the gradient of these columns is
// not computed.
#pragma once

#include "triad/core/arena.hpp"
#include "triad/core/backend.hpp"
#include "triad/core/views.hpp"
#include "triad/ops/matmul.hpp"
#include "triad/ops/reduce.hpp"

namespace triad {

/// A sum over k is divided into chunks of this number of columns.  Each chunk is summed separately, and the sums are
/// then added in order.  So rounding errors remain small.
inline constexpr index_t wide_chunk = 4096;

/// The matrix w, and a backend's copy of its first `used` columns.
template <class T>
struct wide_factor {
  matrix<T const> w{};
  index_t used = 0;
  workspace laid_out{};
};

namespace detail {
template <class T, class X>
void expect_wide(char const* operation, char const* what, X const& x, wide_factor<T> const& factor, index_t used) {
  TRIAD_EXPECTS(used > 0 && used <= factor.used, std::string(operation) + ": used is " + std::to_string(used) +
                                                     ", expected 1 to " + std::to_string(factor.used) +
                                                     ", the columns that the factor was laid out for");
  expect_shape(operation, what, x, {x.extent(0), factor.w.extent(1)});
  expect_unit_stride(operation, what, x);
}
}  // namespace detail

/// Prepares the products with the first `used` columns of w (n, k).  A backend may copy these columns to scratch
/// memory, in the order in which the products read the columns.  Later changes of w do not change the copy.
template <backend Ex, class T>
wide_factor<T> lay_out_wide(Ex& ex, arena& scratch, matrix<T const> w, index_t used) {
  TRIAD_EXPECTS(used > 0 && used <= w.extent(1), "lay_out_wide: used is " + std::to_string(used) + ", expected 1 to " +
                                                     std::to_string(w.extent(1)) + ", the columns of w");
  expect_unit_stride("lay_out_wide", "w", w);
  wide_factor<T> const factor{w, used, scratch.make_workspace(do_wide_factor_workspace(planning(ex), w, used))};
  if constexpr (executes<Ex>) do_wide_factor(ex, factor);
  return factor;
}

/// Computes y = x w' + bias.  Overwrites y (m, n).  Reads the first `used` columns of x (m, k).  `used` must be at most
/// factor.used.
template <backend Ex, class T>
void wide_matmul(Ex& ex, arena& scratch, matrix<T const> x, wide_factor<T> const& factor, index_t used,
                 vec<T const> bias, tensor<T, dyn, dyn> y) {
  detail::expect_wide("wide_matmul", "x", x, factor, used);
  expect_shape("wide_matmul", "y", y, {x.extent(0), factor.w.extent(0)});
  expect_shape("wide_matmul", "bias", bias, {factor.w.extent(0)});
  with_workspace(ex, scratch, do_wide_matmul_workspace(planning(ex), factor, used, y),
                 [&](auto ws) { do_wide_matmul(ex, x, factor, used, bias, y, ws); });
}

/// Adds dy w to the first `used` columns of dx (m, k).  `used` must be at most factor.used.
template <backend Ex, class T>
void wide_matmul_back(Ex& ex, matrix<T const> dy, wide_factor<T> const& factor, index_t used, matrix<T> dx) {
  detail::expect_wide("wide_matmul_back", "dx", dx, factor, used);
  expect_shape("wide_matmul_back", "dy", dy, {dx.extent(0), factor.w.extent(0)});
  expect_unit_stride("wide_matmul_back", "dy", dy);
  if constexpr (executes<Ex>) do_wide_matmul_back(ex, dy, factor, used, dx);
}

// ---- for backends that do not copy the factor: products of chunks of it -------------------------------------------

namespace detail {
/// Returns memory for the products of all chunks except the last chunk: (chunks, m n).  The bias is added to the
/// product of the last chunk.
template <class T>
matrix<T> wide_partial(arena& place, index_t used, tensor<T, dyn, dyn> y) {
  return as_matrix(place.make<tensor<T, dyn, dyn>>((used - 1) / wide_chunk, y.extent(0) * y.extent(1)));
}
}  // namespace detail

/// Returns the number of bytes of scratch memory that wide_by_chunks() needs.
template <backend Ex, class T>
std::size_t wide_chunks_workspace(Ex& ex, index_t used, tensor<T, dyn, dyn> y) {
  return planned_bytes([&](arena& place) {
    auto const partial = detail::wide_partial(place, used, y);
    (void)place.make_workspace(do_column_sums_workspace(ex, matrix<T const>(partial)));
  });
}

/// Computes the result y of wide_matmul() as a sum of the products of all chunks.
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
