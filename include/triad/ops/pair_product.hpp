// Computes, for every edge of a graph, the dot product of a vector of the first node and a vector of the second node.
// SPDX-License-Identifier: Apache-2.0
//
//   y(i, j) = a(i) . b(j)                                    a, b (nodes, d); y (rows), over a ragged batch
//   da(i) = sum_j dy(i, j) b(j),  db(j) = sum_i dy(i, j) a(i)
#pragma once

#include "triad/core/backend.hpp"
#include "triad/core/graphs.hpp"
#include "triad/core/views.hpp"

namespace triad {

namespace detail {
template <class A, class B>
void expect_pair_product(graph_batch const& g, A const& a, B const& b, index_t rows) {
  expect_extent("pair_product", "rows of a", a.extent(0), g.dims.nodes);
  expect_same_shape("pair_product", "b", b, a);
  expect_extent("pair_product", "values of y", rows, g.dims.rows);
}
}  // namespace detail

/// Computes y(i, j) = a(i) . b(j) for every edge.  Overwrites y.
template <backend Ex, class T>
void pair_product(Ex& ex, graph_batch const& g, matrix<T const> a, matrix<T const> b, vec<T> y) {
  detail::expect_pair_product(g, a, b, y.extent(0));
  if constexpr (executes<Ex>) do_pair_product(ex, g, a, b, y);
}

/// Computes the gradients.  Overwrites da and db.
template <backend Ex, class T>
void pair_product_grad(Ex& ex, graph_batch const& g, matrix<T const> a, matrix<T const> b, vec<T const> dy,
                       matrix<T> da, matrix<T> db) {
  detail::expect_pair_product(g, a, b, dy.extent(0));
  expect_same_shape("pair_product_grad", "da", da, a);
  expect_same_shape("pair_product_grad", "db", db, b);
  if constexpr (executes<Ex>) do_pair_product_grad(ex, g, a, b, dy, da, db);
}

}  // namespace triad
