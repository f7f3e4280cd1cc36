// Dropout of a matrix.  The mask is computed from a counter, so the backward pass computes the same mask again.
// SPDX-License-Identifier: Apache-2.0
//
//   y(r, c) = keep(r, c) x(r, c) / (1 - rate);  the gradient is the same map of dy.       x, y (rows, columns)
//
// A dropped element becomes 0 even if it is NaN.  A NaN that is kept stays NaN.
#pragma once

#include "triad/core/backend.hpp"
#include "triad/core/random.hpp"
#include "triad/core/views.hpp"

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

/// Returns the gradient of the input of dropout.  If the mask drops no elements, returns dy.  Otherwise writes the
/// gradient to `memory` and returns `memory`.
template <backend Ex, class View>
const_view<View> undropped(Ex& ex, dropout_mask mask, const_view<View> dy, View memory) {
  if (!mask.active()) return dy;
  dropout_grad(ex, mask, dy, memory);
  return memory;
}

}  // namespace triad
