// Computes the loss of trees at each position of their target trees, and decodes scores to symbols.
// SPDX-License-Identifier: Apache-2.0
//
// x(r, v) is the score of symbol v in row r.  Each row is a position of a tree.  Symbol 0 is <empty>.  The score of
// <empty> is not read.  t(r) is the target symbol of row r.
//
//   loss = 1 / rows * sum_r  { h(x(r, t(r))) + sum_{v > 0, v != t(r)} x(r, v)^2    where t(r) > 0
//                            { e |x(r, 1..)|                                       where t(r) = 0
//   h(x) = (x - 1)^2                                              squared: with e = 1 the released program's loss
//        = x - 1 - log x; for x < floor, its tangent at the floor  divergence
//   dx(r, v) = h'(x) / rows where v = t, else 2 x / rows;  or e x / |x| / rows (0 where x = 0);  dx(r, 0) = 0
//   h'(x) = 2 (x - 1),  or 1 - 1 / max(x, floor)
//
// Why the divergence helps: suppose that a tree machine draws each of its choices at random, and that a symbol comes
// from the input.  Then x(r, v) is the probability that the resulting tree has symbol v at position r.  A path is a
// sequence of k choices, with weights p_i, that moves the symbol to position r.  The path contributes p_1 ... p_k to
// x(r, v).  The derivative of the squared distance with respect to log p_i is at most 2 x.  The derivative is almost
// zero while the right path is unlikely, so the machine does not learn this path.  If x is above the floor, the
// derivative of the divergence is (1 - x) times the fraction of x that comes from the path.  If x is below the floor,
// the derivative of the divergence is 1 / (2 floor) times the derivative of the squared distance.  h is the
// Kullback-Leibler divergence (for measures) of x from 1.  h is 0 only at x = 1.
//
//   symbol(r) = the v with the largest score, with score 0 for v = 0, if |x(r, 1..)| > threshold; 0 otherwise
//
// If a score is NaN, the loss is NaN, and so is every gradient of the row that depends on this score.  The score of
// <empty> may have any value.  decode_rows decodes a row with a NaN to symbol 0, because no comparison with NaN is
// true.
#pragma once

#include "triad/core/arena.hpp"
#include "triad/core/backend.hpp"
#include "triad/core/finite.hpp"
#include "triad/core/views.hpp"
#include "triad/ops/reduce.hpp"

namespace triad {

/// The distance between 1 and the score of the target symbol.
enum class tree_distance { squared, divergence };

struct tree_loss_options {
  tree_distance distance = tree_distance::squared;
  double floor = 1e-3;      // of the divergence; above 0, at most 1
  double empty_weight = 1;  // e, the weight of positions whose target is <empty>; not negative
};

/// Computes the loss of scores against target symbols and its gradient.  Overwrites loss (1) and dx (rows, v).
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

/// Decodes each row of scores to its symbol.  Overwrites symbols (rows).
template <backend Ex, class T>
void decode_rows(Ex& ex, matrix<T const> x, double threshold, vec<index_t> symbols) {
  expect_shape("decode_rows", "symbols", symbols, {x.extent(0)});
  if constexpr (executes<Ex>) do_decode_rows(ex, x, threshold, symbols);
}

}  // namespace triad
