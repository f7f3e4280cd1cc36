// Dropout of a matrix.  The mask is computed from a counter, so the backward pass computes the same mask again.
// SPDX-License-Identifier: Apache-2.0
//
//   y(r, c) = keep(r, c) x(r, c) / (1 - rate);  the gradient is the same map of dy.       x, y (rows, columns)
//   y(r, c) = keep(r, c) f(x(r, c)) / (1 - rate),  dx(r, c) = f'(x(r, c)) keep(r, c) dy(r, c) / (1 - rate),
//   in one pass over the memory
//
// A dropped element of y becomes 0 even if it is NaN.  A NaN that is kept stays NaN.  dx is NaN where f'(x) is.
#pragma once

#include <concepts>

#include "triad/core/backend.hpp"
#include "triad/core/random.hpp"
#include "triad/core/views.hpp"
#include "triad/ops/elementwise.hpp"

namespace triad {

/// Computes y = keep x / (1 - rate).  y may be x.
template <backend Ex, class X, class Y>
void dropout(Ex& ex, dropout_mask mask, X x, Y y) {
  using T = element_t<Y>;
  expect_same_shape("dropout", "y", y, x);
  expect_rate("dropout", mask);
  if constexpr (executes<Ex>) do_dropout(ex, mask, matrix<T const>(as_matrix(x)), as_matrix(y));
}

/// Computes dx = keep dy / (1 - rate).  dx may be dy.
template <backend Ex, class Dy, class Dx>
void dropout_grad(Ex& ex, dropout_mask mask, Dy dy, Dx dx) {
  dropout(ex, mask, dy, dx);
}

/// The two hooks below by the hooks of the function and of dropout, for backends that do not compute both at once.
template <class Ex, class F, class T>
void dropout_of_by_parts(Ex& ex, dropout_mask mask, F f, matrix<T const> x, matrix<T> y) {
  index_t const count = x.extent(0) * x.extent(1);
  do_transform(ex, f, make_vec<T const>(x.data_handle(), count), make_vec(y.data_handle(), count));
  do_dropout(ex, mask, matrix<T const>(y), y);
}
template <class Ex, class F, class T>
void dropout_of_grad_by_parts(Ex& ex, dropout_mask mask, F f, matrix<T const> x, matrix<T const> dy, matrix<T> dx) {
  index_t const count = x.extent(0) * x.extent(1);
  auto const values = make_vec(dx.data_handle(), count);
  do_dropout(ex, mask, dy, dx);
  do_transform(ex, f, make_vec<T const>(x.data_handle(), count), vec<T const>(values), values);
}

/// Computes y = keep f(x) / (1 - rate).  f is as in ops/elementwise.hpp.  x and y are contiguous, and y may be x.
template <backend Ex, class F, class X, class Y>
  requires std::invocable<F, element_t<Y>>
void dropout(Ex& ex, dropout_mask mask, F f, X x, Y y) {
  using T = element_t<Y>;
  expect_same_shape("dropout", "y", y, x);
  expect_rate("dropout", mask);
  if (!mask.active()) return transform(ex, f, x, y);
  if constexpr (executes<Ex>) do_dropout_of(ex, mask, f, matrix<T const>(as_matrix(x)), as_matrix(y));
}
/// Computes dx = f(x, keep dy / (1 - rate)), where f(x, dy) is the gradient of the function.  All are contiguous.  dx
/// may be dy, and must not be x.
template <backend Ex, class F, class X, class Dy, class Dx>
  requires std::invocable<F, element_t<Dx>, element_t<Dx>>
void dropout_grad(Ex& ex, dropout_mask mask, F f, X x, Dy dy, Dx dx) {
  using T = element_t<Dx>;
  expect_same_shape("dropout_grad", "dy", dy, x);
  expect_same_shape("dropout_grad", "dx", dx, x);
  expect_rate("dropout_grad", mask);
  TRIAD_EXPECTS(x.data_handle() == nullptr || dx.data_handle() != x.data_handle(),  // null while memory is measured
                "dropout_grad: dx in the memory of x, expected memory of its own, or that of dy");
  if (!mask.active()) return transform(ex, f, x, dy, dx);
  if constexpr (executes<Ex>)
    do_dropout_of_grad(ex, mask, f, matrix<T const>(as_matrix(x)), matrix<T const>(as_matrix(dy)), as_matrix(dx));
}

/// Returns the gradient of the input of dropout.  If the mask drops no elements, returns dy.  Otherwise writes the
/// gradient to `memory` and returns `memory`.
template <backend Ex, class View>
const_view<View> undropped(Ex& ex, dropout_mask mask, const_view<View> dy, View memory) {
  if (!mask.active()) return dy;
  dropout_grad(ex, mask, dy, memory);
  return memory;
}

}  // namespace triad
