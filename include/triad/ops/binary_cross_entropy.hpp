// Cross entropy of several labels at once: each element of a matrix is a question with the answer yes or no.
// SPDX-License-Identifier: Apache-2.0
//
//   P(r, c) is the probability of label c in row r                                      x, target, dx (rows, labels)
//     logits:      P = sigmoid(x),                 dx = scale (P - target)
//     log_misses:  P = 1 - exp(s),  s = x - 1e-7,  dx = scale / (exp(-s) - 1) if the target is 1, -scale if it is 0
//
//   loss(0) = scale(0) sum of -log P where the target is 1, and of -log(1 - P) where it is 0
//
// An element with a target other than 0 and 1 is not counted: its dx is 0, and its x may hold any value.
//
// log_misses is the form of noisy_or's results: x = log(1 - P).  x must not be positive.  1e-7 keeps log P and its
// gradient finite where x = 0.  The loss and dx of one element are then 16.1 and 1e7, so a label that is missed with
// certainty still gets a gradient.
//
// A NaN in a counted x gives NaN in the loss, and in dx unless dx does not depend on x.
#pragma once

#include <cstdint>

#include "triad/core/arena.hpp"
#include "triad/core/backend.hpp"
#include "triad/core/views.hpp"

namespace triad {

/// What the elements of x are: logits, or logarithms of 1 - P.
enum class probability_form { logits, log_misses };

/// The number that is subtracted from x in the form log_misses.
inline constexpr double least_log_miss = 1e-7;

/// Computes the loss and its gradient.  Overwrites loss (1) and dx.  `scale` (1) is often 1 / the number of graphs of
/// the batch; it lies in the memory of the backend.
template <backend Ex, class T>
void binary_cross_entropy(Ex& ex, arena& scratch, probability_form form, matrix<T const> x,
                          matrix<std::uint8_t const> target, vec<T const> scale, vec<T> loss, matrix<T> dx) {
  expect_same_shape("binary_cross_entropy", "target", target, x);
  expect_same_shape("binary_cross_entropy", "dx", dx, x);
  expect_shape("binary_cross_entropy", "scale", scale, {1});
  expect_shape("binary_cross_entropy", "loss", loss, {1});
  with_workspace(ex, scratch, do_binary_cross_entropy_workspace(planning(ex), x),
                 [&](auto ws) { do_binary_cross_entropy(ex, form, x, target, scale, loss, dx, ws); });
}

}  // namespace triad
