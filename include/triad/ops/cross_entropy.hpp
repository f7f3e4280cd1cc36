// Cross entropy of rows of logits against one target each.
// SPDX-License-Identifier: Apache-2.0
//
//   loss(0) = mean over rows with target >= 0 of -log softmax(logits(r, :))(target(r))         logits (rows, v)
//   dlogits(r, c) = (softmax(logits(r, :))(c) - [c = target(r)]) / count;  0 in rows with a negative target
#pragma once

#include "triad/core/backend.hpp"
#include "triad/core/views.hpp"

namespace triad {

/// Overwrites loss (1) and dlogits; a negative target leaves its row out.  No rows counted: loss 0.
template <backend Ex, class Logits, class Loss, class DLogits>
void cross_entropy(Ex& ex, Logits logits, vec<index_t const> target, Loss loss, DLogits dlogits) {
  using T = element_t<DLogits>;
  TRIAD_EXPECTS(same_shape(logits, dlogits), "cross_entropy: logits and dlogits have different shapes");
  TRIAD_EXPECTS(logits.extent(0) == target.extent(0), "cross_entropy: one target a row is needed");
  if constexpr (executes<Ex>) do_cross_entropy(ex, matrix<T const>(as_matrix(logits)), target, as_vec(loss), as_matrix(dlogits));
}

/// best(r) = the first column that holds the largest value of row r.
template <backend Ex, class X>
void argmax_rows(Ex& ex, X x, vec<index_t> best) {
  using T = element_t<X>;
  TRIAD_EXPECTS(x.extent(0) == best.extent(0), "argmax_rows: one result a row is needed");
  if constexpr (executes<Ex>) do_argmax_rows(ex, matrix<T const>(as_matrix(x)), best);
}

}  // namespace triad
