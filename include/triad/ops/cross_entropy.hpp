// Cross entropy of logits against one target for each row, with optional label smoothing.
// SPDX-License-Identifier: Apache-2.0
//
//   p = softmax(logits(r, :))                                                        logits (rows, v)
//   q(c) = 1 - epsilon where c = target(r), else epsilon / (v - 1)
//   loss(0) = mean over rows with target >= 0 of the sum over c of -q(c) log p(c)
//   dlogits(r, c) = (p(c) - q(c)) / count;  0 in rows with a negative target
//
// With epsilon = 0 the loss of a row is -log p(target).  With e = epsilon / (v - 1), fairseq writes the loss of a row
// as:
//   (1 - epsilon - e) nll + e smooth,  nll = -log p(target),  smooth = sum over all c of -log p(c)
//
// A logit that is NaN or +infinity gives NaN in the loss and in the gradient of its row.  A class whose logit is
// -infinity has probability 0.  Rows with a negative target may hold any values.
#pragma once

#include "triad/core/backend.hpp"
#include "triad/core/finite.hpp"
#include "triad/core/views.hpp"

namespace triad {

/// Label smoothing: the target's class has the probability 1 - epsilon, and the other classes share epsilon equally.
/// 0 <= epsilon < 1.
struct label_smoothing {
  double epsilon = 0;

  /// hit() returns the smoothed probability q of the target class.  miss(v) returns that of each of the other v - 1
  /// classes.
  constexpr double hit() const { return 1 - epsilon; }
  constexpr double miss(index_t v) const { return epsilon > 0 ? epsilon / static_cast<double>(v - 1) : 0; }
};

/// Computes the mean cross entropy and its gradient.  Overwrites loss (1) and dlogits.  Ignores rows with a negative
/// target.  If all targets are negative, the loss is 0.
template <backend Ex, class Logits, class Loss, class DLogits>
void cross_entropy(Ex& ex, Logits logits, vec<index_t const> target, Loss loss, DLogits dlogits,
                   label_smoothing const& smoothing = {}) {
  using T = element_t<DLogits>;
  expect_same_shape("cross_entropy", "dlogits", dlogits, logits);
  expect_shape("cross_entropy", "target", target, {logits.extent(0)});
  expect_shape("cross_entropy", "loss", as_vec(loss), {1});
  TRIAD_EXPECTS(
      !is_nan(smoothing.epsilon) && smoothing.epsilon >= 0 && smoothing.epsilon < 1,
      "cross_entropy: label smoothing is " + std::to_string(smoothing.epsilon) + ", expected at least 0 and below 1");
  TRIAD_EXPECTS(smoothing.epsilon == 0 || logits.extent(1) > 1, "cross_entropy: label smoothing with " +
                                                                    std::to_string(logits.extent(1)) +
                                                                    " classes, expected 2 or more; set it to 0");
  if constexpr (executes<Ex>)
    do_cross_entropy(ex, matrix<T const>(as_matrix(logits)), target, as_vec(loss), as_matrix(dlogits), smoothing);
}

/// Sets best(r) to the column of the largest value of row r, or to -1 if the row has a NaN.  If several columns have
/// the largest value, takes the first of these columns.
template <backend Ex, class X>
void argmax_rows(Ex& ex, X x, vec<index_t> best) {
  using T = element_t<X>;
  expect_shape("argmax_rows", "best", best, {x.extent(0)});
  if constexpr (executes<Ex>) do_argmax_rows(ex, matrix<T const>(as_matrix(x)), best);
}

}  // namespace triad
