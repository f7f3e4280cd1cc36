// How far trees are from what they should be, position by position, and which symbols they hold.
// SPDX-License-Identifier: Apache-2.0
//
// x(r, v): score of symbol v at row r (a position of a tree); symbol 0 is <empty> and has no score.  t(r): the right
// symbol.
//
//   loss = 1 / rows * sum_r  { sum_{v > 0} (x(r, v) - [v = t(r)])^2    where t(r) > 0                 the loss of the
//                            released program { |x(r, 1..)|                             where t(r) = 0
//   dx(r, v) = 2 (x - [v = t]) / rows,  or x / |x| / rows (0 where x = 0);  dx(r, 0) = 0
//
//   symbol(r) = the v with the largest score, 0 counting as score 0, where |x(r, 1..)| > threshold; else 0
#pragma once

#include "triad/core/arena.hpp"
#include "triad/core/backend.hpp"
#include "triad/core/views.hpp"
#include "triad/ops/reduce.hpp"

namespace triad {

/// Overwrites loss (1) and dx (rows, v).
template <backend Ex, class T>
void tree_loss(Ex& ex, arena& scratch, matrix<T const> x, vec<index_t const> target, vec<T> loss, matrix<T> dx) {
  TRIAD_EXPECTS(same_shape(x, dx), "tree_loss: scores and their gradient have different shapes");
  TRIAD_EXPECTS(x.extent(0) == target.extent(0), "tree_loss: one right symbol a row is needed");
  auto const frame = scratch.open();
  auto const of_rows = scratch.make<vec<T>>(x.extent(0));
  if constexpr (executes<Ex>) do_tree_loss(ex, x, target, of_rows, dx);
  sum(ex, scratch, of_rows, loss);
}

/// Overwrites symbols (rows).
template <backend Ex, class T>
void decode_rows(Ex& ex, matrix<T const> x, double threshold, vec<index_t> symbols) {
  TRIAD_EXPECTS(x.extent(0) == symbols.extent(0), "decode_rows: one symbol a row is needed");
  if constexpr (executes<Ex>) do_decode_rows(ex, x, threshold, symbols);
}

}  // namespace triad
