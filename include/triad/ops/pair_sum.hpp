// Computes, for every edge (ordered pair of nodes) of a graph, the sum of a vector of the first node and a vector of
// the second node.
// SPDX-License-Identifier: Apache-2.0
//
//   y(i, j) = residual(i, j) + drop(a(i) + b(j))            a, b (nodes, d); residual, y (rows, d), over a ragged batch
//   da(i) = sum_j dz(i, j),  db(j) = sum_i dz(i, j),          dz = dropout'(dy);  dresidual = dy
//
// A dropped element becomes 0 even if it is NaN.  A NaN that is kept stays NaN.
#pragma once

#include "triad/core/backend.hpp"
#include "triad/core/graphs.hpp"
#include "triad/core/random.hpp"
#include "triad/core/views.hpp"

namespace triad {

namespace detail {
template <class A, class B, class Y>
void expect_pairs(graph_batch const& g, A const& a, B const& b, Y const& y, dropout_mask const& dropout) {
  expect_extent("pair_sum", "rows of a", a.extent(0), g.dims.nodes);
  expect_same_shape("pair_sum", "b", b, a);
  expect_shape("pair_sum", "y", y, {g.dims.rows, a.extent(1)});
  expect_rate("pair_sum", dropout);
}
}  // namespace detail

/// Computes a(i) + b(j), applies dropout, and adds the residual unless the residual is empty.  Overwrites y with the
/// result.  y may be the residual.  In dropout, an element of y has the number that dropout_element() returns.
template <backend Ex, class T>
void pair_sum(Ex& ex, graph_batch const& g, matrix<T const> a, matrix<T const> b, dropout_mask dropout,
              matrix<T const> residual, matrix<T> y) {
  detail::expect_pairs(g, a, b, y, dropout);
  if (residual.extent(0) != 0) expect_same_shape("pair_sum", "residual", residual, y);
  if constexpr (executes<Ex>) do_pair_sum(ex, g, a, b, dropout, residual, y);
}

/// Computes the gradients.  Overwrites da and db.
template <backend Ex, class T>
void pair_sum_grad(Ex& ex, graph_batch const& g, dropout_mask dropout, matrix<T const> dy, matrix<T> da, matrix<T> db) {
  detail::expect_pairs(g, da, db, dy, dropout);
  if constexpr (executes<Ex>) do_pair_sum_grad(ex, g, dropout, dy, da, db);
}

}  // namespace triad
