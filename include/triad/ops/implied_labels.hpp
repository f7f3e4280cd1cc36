// Removes labels of nodes that edges imply.  A query often leaves out a label that an edge of the node already says:
// with "?x0 film.director.film M0", it has no "?x0 a film.director".  Which relation implies which label is learned.
// SPDX-License-Identifier: Apache-2.0
//
//   E(a, r)  = 1 - exp(sum over b of s((a, b), r))              the probability that an edge r leaves column a
//   y(a, u)  = sum over r of log(1 - kappa p(r, u) E(a, r))     <= 0
//   P'(a, u) = P(a, u) exp(y(a, u)),  P = 1 - exp(x),  x' = log(1 - P')
//
//   x  (columns, U): log(1 - P(a, u)), where P is the probability of label u of column a without this operation
//   s  (pairs, R):   log(1 - the probability of an edge r from a to b);  b: the columns of the same grid
//   p  (R, U):       the probability that an edge r implies label u of its first node, so that the label is left out
//
//   dx(a, u) = dx'(a, u) dx'/dx,    dx'/dx = exp(x + y - x')
//   dp(r, u) = -sum over all columns a of dx'(a, u) dx'/dy kappa E(a, r) / (1 - kappa p(r, u) E(a, r)),
//              dx'/dy = -P' / (1 - P') = -P' exp(-x')
//
// E is a constant of the gradient: s gets none, because labels must not change edges.  kappa is noisy_or_kappa, so y is
// finite if p = E = 1.  With y = 0, x' equals x exactly.  x' is finite for each finite x <= 0, also where exp(x)
// underflows.  There dx'/dy can exceed every float, so -x' counts as at most most_implied_exponent in it.  This matters
// only if all p E are below exp(-40): for other p, p dx'/dp is at most 1.  NaN in s, x or p gives NaN in each result
// that depends on this number.
#pragma once

#include "triad/core/backend.hpp"
#include "triad/core/grids.hpp"
#include "triad/core/views.hpp"
#include "triad/ops/noisy_or.hpp"

namespace triad {

/// The limit of -x' in dx'/dy.
inline constexpr int most_implied_exponent = 40;

namespace detail {
template <class P, class M>
void expect_implied_labels(grid_batch const& g, P const& implied, M const& edge, M const& of_x) {
  expect_shape("implied_labels", "edge", edge, {g.dims.columns, implied.extent(0)});
  expect_shape("implied_labels", "of_x", of_x, {g.dims.columns, implied.extent(1)});
}
}  // namespace detail

/// Computes x', and what the gradient needs: edge = E (columns, R), of_x = dx'/dx and of_y = dx'/dy (columns, U).
/// `implied` is p.  Overwrites edge, of_x, of_y and result (columns, U), which is x'.  result may be x.
template <backend Ex, class T>
void implied_labels(Ex& ex, grid_batch const& g, matrix<T const> s, matrix<T const> x, matrix<T const> implied,
                    matrix<T> edge, matrix<T> of_x, matrix<T> of_y, matrix<T> result) {
  expect_shape("implied_labels", "s", s, {g.dims.pairs, implied.extent(0)});
  expect_shape("implied_labels", "x", x, {g.dims.columns, implied.extent(1)});
  detail::expect_implied_labels(g, implied, edge, of_x);
  expect_same_shape("implied_labels", "of_y", of_y, of_x);
  expect_same_shape("implied_labels", "result", result, of_x);
  if constexpr (executes<Ex>) do_implied_labels(ex, g, s, x, implied, edge, of_x, of_y, result);
}

/// Computes the gradients from dresult (columns, U) and from what implied_labels() computed.  Overwrites dx (columns,
/// U) and dimplied (R, U).  The sums over columns have the same bits with any number of threads.
template <backend Ex, class T>
void implied_labels_grad(Ex& ex, grid_batch const& g, matrix<T const> implied, matrix<T const> edge,
                         matrix<T const> of_x, matrix<T const> of_y, matrix<T const> dresult, matrix<T> dx,
                         matrix<T> dimplied) {
  detail::expect_implied_labels(g, implied, edge, of_x);
  expect_same_shape("implied_labels_grad", "of_y", of_y, of_x);
  expect_same_shape("implied_labels_grad", "dresult", dresult, of_x);
  expect_same_shape("implied_labels_grad", "dx", dx, of_x);
  expect_same_shape("implied_labels_grad", "dimplied", dimplied, implied);
  if constexpr (executes<Ex>) do_implied_labels_grad(ex, implied, edge, of_x, of_y, dresult, dx, dimplied);
}

}  // namespace triad
