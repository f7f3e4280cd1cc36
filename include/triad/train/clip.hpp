// The norm of all gradients together, and scaling them down to at most a given norm.
// SPDX-License-Identifier: Apache-2.0
//
//   length(0) = sqrt(sum g^2);  g *= min(1, max_norm / (length + 1e-6))
#pragma once

#include "triad/core/finite.hpp"
#include "triad/ops/adam.hpp"
#include "triad/ops/reduce.hpp"

namespace triad {

/// Over one flat gradient.  Overwrites length (1), the norm before clipping, which stays where the gradient is; scales
/// `gradient` in place.  Without a bound (max_norm 0) it only measures.
template <backend Ex, class T>
void clip_gradient(Ex& ex, arena& scratch, double max_norm, vec<T> gradient, vec<T> length) {
  TRIAD_EXPECTS(!is_nan(max_norm) && max_norm >= 0,
                "clip_gradient: the largest norm is not negative; 0 leaves the gradient as it is");
  TRIAD_EXPECTS(length.extent(0) == 1, "clip_gradient: the norm is one number");
  norm(ex, scratch, gradient, length);
  if (max_norm > 0) clip(ex, max_norm, length, gradient);
}

}  // namespace triad
