// Adds a bias to every row.  Each row has a factor for each head, which multiplies the head's bias.
// SPDX-License-Identifier: Apache-2.0
//
//   y(r, h k + e) = x(r, h k + e) + s(r, h) b(h k + e)        x, y (rows, heads k), s (rows, heads), b (heads k)
//   dx = dy;  ds(r, h) = sum_e dy(r, h k + e) b(h k + e);  db(h k + e) += sum_r s(r, h) dy(r, h k + e)
#pragma once

#include "triad/core/arena.hpp"
#include "triad/core/backend.hpp"
#include "triad/core/views.hpp"
#include "triad/ops/reduce.hpp"

namespace triad {

namespace detail {
template <class S, class B, class Y>
void expect_head_bias(S const& s, B const& b, Y const& y) {
  expect_extent("head_bias", "rows of s", s.extent(0), y.extent(0));
  expect_heads("head_bias", y.extent(1), s.extent(1));
  expect_shape("head_bias", "b", b, {y.extent(1)});
}
}  // namespace detail

/// Adds s(r, head of column c) b(c) to y(r, c).
template <backend Ex, class T>
void head_bias_add(Ex& ex, tensor<T const, dyn, dyn> s, vec<T const> b, tensor<T, dyn, dyn> y) {
  detail::expect_head_bias(s, b, y);
  if constexpr (executes<Ex>) do_head_bias_add(ex, s, b, y);
}

/// Computes the gradients.  Overwrites ds.  Adds to db.
template <backend Ex, class T>
void head_bias_grad(Ex& ex, arena& scratch, tensor<T const, dyn, dyn> s, vec<T const> b, tensor<T const, dyn, dyn> dy,
                    tensor<T, dyn, dyn> ds, vec<T> db) {
  detail::expect_head_bias(s, b, dy);
  expect_same_shape("head_bias_grad", "ds", ds, s);
  expect_same_shape("head_bias_grad", "db", db, b);
  auto const frame = scratch.open();
  auto const measured = scratch.make<tensor<T, dyn, dyn>>(dy.extent(0), dy.extent(1));  // s dy
  if constexpr (executes<Ex>) do_head_bias_grad(ex, s, b, dy, ds, measured);
  column_sums_add(ex, scratch, measured, db);
}

}  // namespace triad
