// Softmax of rows.
// SPDX-License-Identifier: Apache-2.0
//
//   y(r, c) = exp(x(r, c) - max_c x(r, c)) / sum_c exp(...)        x, y (rows, columns)
//   dx = y (dy - sum_c y dy)
//
// If a row of x has NaN or +infinity, all elements of this row of y are NaN.  An element of -infinity becomes 0.
#pragma once

#include "triad/core/backend.hpp"
#include "triad/core/views.hpp"

namespace triad {

/// Sets each row of y to the softmax of the same row of x.  y may be x.
template <backend Ex, class X, class Y>
void softmax(Ex& ex, X x, Y y) {
  using T = element_t<Y>;
  expect_same_shape("softmax", "y", y, x);
  if constexpr (executes<Ex>) do_softmax(ex, matrix<T const>(as_matrix(x)), as_matrix(y));
}

/// Computes the gradient of softmax from its output y.  Overwrites dx, which may be dy.
template <backend Ex, class Y, class Dy, class Dx>
void softmax_grad(Ex& ex, Y y, Dy dy, Dx dx) {
  using T = element_t<Dx>;
  expect_same_shape("softmax_grad", "dy", dy, y);
  expect_same_shape("softmax_grad", "dx", dx, y);
  if constexpr (executes<Ex>)
    do_softmax_grad(ex, matrix<T const>(as_matrix(y)), matrix<T const>(as_matrix(dy)), as_matrix(dx));
}

}  // namespace triad
