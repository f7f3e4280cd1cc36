// Updates a flat range of parameters with Adam or AdamW, and clips a gradient by its norm.
// SPDX-License-Identifier: Apache-2.0
//
//   Adam:  g += weight_decay p          AdamW:  p *= 1 - rate weight_decay              t = step + 1
//   m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2
//   p -= rate / (1 - beta1^t) m / (sqrt(v) / sqrt(1 - beta2^t) + epsilon)
//   clip:  g *= min(1, max_norm / (norm + 1e-6))
//
// adam: a NaN in a gradient, a moment or the rate makes the parameter NaN.  If the square of a gradient overflows, v is
// infinite and the parameter does not change.
// clip: a norm that is NaN makes the whole gradient NaN.  An infinite norm sets finite elements of the gradient to 0
// and infinite elements to NaN.
#pragma once

#include "triad/core/backend.hpp"
#include "triad/core/finite.hpp"
#include "triad/core/views.hpp"
#include "triad/ops/reduce.hpp"

namespace triad {

struct adam_options {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double weight_decay = 0;
  bool decoupled = false;  // true: AdamW
};

/// Updates the parameters p with the gradient g.  Overwrites p and the moments m and v.  `rate` (1) and `step` must be
/// in the backend's memory.
template <backend Ex, class P, class G, class M, class V>
void adam(Ex& ex, adam_options const& options, vec<double const> rate, std::uint64_t const* step, P p, G g, M m, V v) {
  using T = element_t<P>;
  expect_shape("adam", "rate", rate, {1});
  auto const size = static_cast<long long>(p.size());
  expect_extent("adam", "values of the gradient", static_cast<long long>(g.size()), size);
  expect_extent("adam", "values of the first moments", static_cast<long long>(m.size()), size);
  expect_extent("adam", "values of the second moments", static_cast<long long>(v.size()), size);
  if constexpr (executes<Ex>)
    do_adam(ex, options, rate, step, as_vec(p), vec<T const>(as_vec(g)), as_vec(m), as_vec(v));
}

/// Scales g in place so that its norm becomes at most max_norm.  norm (1) is the norm of g before scaling.
template <backend Ex, class Norm, class G>
void clip(Ex& ex, double max_norm, Norm norm, G g) {
  using T = element_t<G>;
  expect_shape("clip", "norm", as_vec(norm), {1});
  if constexpr (executes<Ex>) do_clip(ex, T(max_norm), vec<T const>(as_vec(norm)), as_vec(g));
}

/// Computes the norm of a flat gradient and clips the gradient to max_norm.  Overwrites `length` (1), which must be in
/// the backend's memory, with the norm before clipping.  Scales `gradient` in place.  If max_norm is 0, the gradient is
/// not clipped.
template <backend Ex, class T>
void clip_gradient(Ex& ex, arena& scratch, double max_norm, vec<T> gradient, vec<T> length) {
  TRIAD_EXPECTS(!is_nan(max_norm) && max_norm >= 0, "clip_gradient: max_norm is " + std::to_string(max_norm) +
                                                        ", expected 0 or more; 0 leaves the gradient as it is");
  expect_shape("clip_gradient", "length", length, {1});
  norm(ex, scratch, gradient, length);
  if (max_norm > 0) clip(ex, max_norm, length, gradient);
}

}  // namespace triad
