// The loss of trees against their targets, position by position, and the symbols that they hold.
// SPDX-License-Identifier: Apache-2.0
//
// x(r, v): score of symbol v at row r (a position of a tree); symbol 0 is <empty> and has no score.  t(r): the right
// symbol.
//
//   loss = 1 / rows * sum_r  { h(x(r, t(r))) + sum_{v > 0, v != t(r)} x(r, v)^2    where t(r) > 0
//                            { e |x(r, 1..)|                                       where t(r) = 0
//   h(x) = (x - 1)^2                                              squared: with e = 1 the released program's loss
//        = x - 1 - log x, below the floor its tangent there       divergence
//   dx(r, v) = h'(x) / rows where v = t, else 2 x / rows;  or e x / |x| / rows (0 where x = 0);  dx(r, 0) = 0
//   h'(x) = 2 (x - 1),  or 1 - 1 / max(x, floor)
//
// Where each choice of a machine is a draw, and a symbol was moved from the input, x(r, v) is the probability that the
// tree which comes out has v at r, and a path of k choices with weights p_i gives it  p_1 ... p_k.  The slope of the
// square with respect to log p_i is at most 2 x, so it vanishes while a path is unlikely, and choices that lead
// elsewhere go on.  That of the divergence is 1 - x times the path's share of x down to the floor, and below it 1 / (2
// floor) times the square's.  h is the divergence of x from 1 (of Kullback and Leibler, of measures): 0 at 1 alone.
//
//   symbol(r) = the v with the largest score, 0 counting as score 0, where |x(r, 1..)| > threshold; else 0
//
// A score that is NaN makes the loss NaN, and every gradient of its row that depends on it; the score of <empty>, which
// is not read, may be anything.  decode_rows does not show it: no comparison with NaN is true, so its row has no
// symbol.
#pragma once

#include "triad/core/arena.hpp"
#include "triad/core/backend.hpp"
#include "triad/core/finite.hpp"
#include "triad/core/views.hpp"
#include "triad/ops/reduce.hpp"

namespace triad {

/// The distance of the score of the target symbol from 1.
enum class tree_distance { squared, divergence };

struct tree_loss_options {
  tree_distance distance = tree_distance::squared;
  double floor = 1e-3;      // of divergence: above 0, at most 1
  double empty_weight = 1;  // e: what positions count where no symbol should be; not negative
};

/// The loss of scores against target symbols, and its gradient.  Overwrites loss (1) and dx (rows, v).
template <backend Ex, class T>
void tree_loss(Ex& ex, arena& scratch, matrix<T const> x, vec<index_t const> target, vec<T> loss, matrix<T> dx,
               tree_loss_options const& o = {}) {
  expect_same_shape("tree_loss", "dx", dx, x);
  expect_shape("tree_loss", "target", target, {x.extent(0)});
  TRIAD_EXPECTS(!is_nan(o.empty_weight) && o.empty_weight >= 0,
                "tree_loss: empty_weight is " + std::to_string(o.empty_weight) + ", expected 0 or more");
  TRIAD_EXPECTS(!is_nan(o.floor) && o.floor > 0 && o.floor <= 1,
                "tree_loss: floor is " + std::to_string(o.floor) + ", expected above 0 and at most 1");
  auto const frame = scratch.open();
  auto const of_rows = scratch.make<vec<T>>(x.extent(0));
  if constexpr (executes<Ex>) do_tree_loss(ex, x, target, of_rows, dx, o);
  sum(ex, scratch, of_rows, loss);
}

/// The symbol of each row of scores.  Overwrites symbols (rows).
template <backend Ex, class T>
void decode_rows(Ex& ex, matrix<T const> x, double threshold, vec<index_t> symbols) {
  expect_shape("decode_rows", "symbols", symbols, {x.extent(0)});
  if constexpr (executes<Ex>) do_decode_rows(ex, x, threshold, symbols);
}

}  // namespace triad
