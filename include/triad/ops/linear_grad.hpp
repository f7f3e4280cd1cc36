// The gradients of an affine map of rows, in one operation, so that a backend may read the gradient of the result once.
// SPDX-License-Identifier: Apache-2.0
//
//   y = drop(x w' + b)      x (rows, in), w (out, in), b (out) or none, y (rows, out)
//   dz = drop(dy),  dw += dz' x,  db += column sums of dz,  dx = after(dz w)
//
// A NaN or an infinity in dz, x or w affects every gradient that is computed from this value.  A dropped element of dy
// becomes 0 even if it is NaN.
#pragma once

#include "triad/core/arena.hpp"
#include "triad/core/backend.hpp"
#include "triad/core/random.hpp"
#include "triad/core/views.hpp"
#include "triad/ops/dropout.hpp"
#include "triad/ops/matmul.hpp"
#include "triad/ops/reduce.hpp"

namespace triad {

/// What the gradients are computed from, and where they are written.
template <class T>
struct linear_grad_operands {
  matrix<T const> x, w, dy;
  matrix<T> dx;           // (rows, in), or without rows: not computed, and w is not read
  matrix<T> dw;           // (out, in)
  vec<T> db{nullptr, 0};  // (out), or (0): there is no bias
  epilogue<T> after{};    // of dx
  // (rows, in) each, or empty: bfloat16 that takes the place of x, and of the gate of `after`.  Only for a backend that
  // rounds the factors of products.
  matrix<bfloat16 const> rounded_x = no_matrix<bfloat16 const>(), rounded_gate = no_matrix<bfloat16 const>();
  dropout_mask dropout{};  // of y; dropout_element(row, column, out) numbers the elements

  constexpr index_t in() const { return dw.extent(1); }
};

namespace detail {
/// Whether dx is neither x nor the residual.  Views have no memory yet while memory is planned.
template <class T>
bool is_separate(matrix<T> dx, matrix<T const> x, matrix<T const> residual) {
  auto const* const data = dx.data_handle();
  return data == nullptr || (data != x.data_handle() && data != residual.data_handle());
}
template <class T>
void expect_linear_grad(linear_grad_operands<T> const& o) {
  bool const rounded = o.rounded_x.extent(0) != 0;
  index_t const rows = o.dy.extent(0), out = o.dy.extent(1), in = rounded ? o.rounded_x.extent(1) : o.x.extent(1);
  if (rounded)
    expect_shape("linear_grad", "x", o.rounded_x, {rows, in});
  else
    expect_shape("linear_grad", "x", o.x, {rows, in});
  expect_shape("linear_grad", "dw", o.dw, {out, in});
  expect_rate("linear_grad", o.dropout);
  if (o.db.extent(0) != 0) expect_shape("linear_grad", "db", o.db, {out});
  if (o.dx.extent(0) == 0) return;
  expect_shape("linear_grad", "w", o.w, {out, in});
  expect_product<T>(o.dy, o.w, o.dx, o.after);
  if (o.rounded_gate.extent(0) != 0) expect_shape("linear_grad", "gate", o.rounded_gate, {rows, in});
  TRIAD_EXPECTS(!o.dropout.active() || is_separate(o.dx, o.x, o.after.residual),
                "linear_grad: dropout, and dx in the memory of x or of the residual, expected its own memory");
}
}  // namespace detail

/// Adds to dw and db, and overwrites dx.  Without dropout, dx may be the memory of x or of the residual.
template <backend Ex, class T>
void linear_grad(Ex& ex, arena& scratch, linear_grad_operands<T> const& o) {
  detail::expect_linear_grad(o);
  with_workspace(ex, scratch, do_linear_grad_workspace(planning(ex), o), [&](auto ws) { do_linear_grad(ex, o, ws); });
}

namespace detail {
/// The bytes of drop(dy), or 0 without dropout.
template <class T>
std::size_t dropped_bytes(linear_grad_operands<T> const& o) {
  return o.dropout.active() ? arena_stride(static_cast<std::size_t>(o.dy.size()) * sizeof(T)) : 0;
}
}  // namespace detail

/// The workspace of linear_grad_by_products().
template <class Ex, class T>
std::size_t products_of_linear_grad_workspace(Ex& ex, linear_grad_operands<T> const& o) {
  return detail::dropped_bytes(o) + (o.db.extent(0) != 0 ? do_column_sums_workspace(ex, o.dy) : 0);
}
/// Computes the gradients one after the other.  A backend without a faster way calls this function in its hook.
template <class Ex, class T>
void linear_grad_by_products(Ex& ex, linear_grad_operands<T> o, workspace ws) {
  if (o.dropout.active()) {
    auto const used = detail::dropped_bytes(o);
    index_t const rows = o.dy.extent(0), out = o.dy.extent(1);
    auto const dropped = make_matrix(reinterpret_cast<T*>(ws.data), rows, out, out);
    do_dropout(ex, o.dropout, o.dy, dropped);
    o.dy = dropped;
    ws = {ws.data + used, ws.bytes - used};
  }
  do_matmul(ex, matrix<T const>(transposed(o.dy)), o.x, o.dw, true, epilogue<T>{});
  if (o.db.extent(0) != 0) do_column_sums_add(ex, o.dy, o.db, ws);
  if (o.dx.extent(0) != 0) do_matmul(ex, o.dy, o.w, o.dx, false, o.after);
}

}  // namespace triad
