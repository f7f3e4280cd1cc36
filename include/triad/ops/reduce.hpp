// Sums in a fixed order: of all elements, of all squares, and of the rows of a matrix.
// SPDX-License-Identifier: Apache-2.0
//
//   total(0) = sum x          norm(0) = sqrt(sum x^2)          s(c) += sum_r x(r, c)
#pragma once

#include "triad/core/arena.hpp"
#include "triad/core/backend.hpp"
#include "triad/core/views.hpp"

namespace triad {

/// Sets total(0) to the sum of x.
template <backend Ex, class X, class Y>
void sum(Ex& ex, arena& scratch, X x, Y total) {
  using T = element_t<Y>;
  expect_shape("sum", "total", as_vec(total), {1});
  vec<T const> const v = as_vec(x);
  with_workspace(ex, scratch, do_sum_workspace(planning(ex), v), [&](auto ws) { do_sum(ex, v, as_vec(total), ws); });
}

/// Sets length(0) to the Euclidean norm of x.
template <backend Ex, class X, class Y>
void norm(Ex& ex, arena& scratch, X x, Y length) {
  using T = element_t<Y>;
  expect_shape("norm", "length", as_vec(length), {1});
  vec<T const> const v = as_vec(x);
  with_workspace(ex, scratch, do_sum_workspace(planning(ex), v), [&](auto ws) { do_norm(ex, v, as_vec(length), ws); });
}

/// Adds the sum over r of x(r, c) to s(c).
template <backend Ex, class X, class S>
void column_sums_add(Ex& ex, arena& scratch, X x, S s) {
  using T = element_t<S>;
  matrix<T const> const m = as_matrix(x);
  expect_shape("column_sums_add", "s", as_vec(s), {m.extent(1)});
  with_workspace(ex, scratch, do_column_sums_workspace(planning(ex), m),
                 [&](auto ws) { do_column_sums_add(ex, m, as_vec(s), ws); });
}

}  // namespace triad
