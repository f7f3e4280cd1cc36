// gelu and its gradient on whole vectors of floats.  std::erf alone would take longer than the matrix products before
// and after gelu.
// SPDX-License-Identifier: Apache-2.0
//
//   z = |x| / sqrt 2,  t = 1 / (1 + p z),  erfc(z) = (a1 t + ... + a5 t^5) exp(-z^2)      Abramowitz and Stegun 7.1.26
//   below(x) = erfc(z) / 2 if x < 0, else 1 - erfc(z) / 2: the formula's absolute error is 8e-8, 2.4e-7 in floats
//   gelu(x) = x below(x),  gelu'(x) = below(x) + x exp(-z^2) / sqrt(2 pi), with the same exponential
#pragma once

#include "triad/cpu/kernels/simd.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS::normal {

/// For each lane: bell = exp(-x^2 / 2), and below = the probability that a standard normal variable is less than x.
struct lanes {
  simd::floats bell, below;

  [[gnu::always_inline]] explicit lanes(simd::floats x) {
    simd::floats const size = simd::max(x, -x), z = size * 0.70710678f, t = 1.0f / (1.0f + z * 0.3275911f);
    simd::floats p = 1.421413741f + t * (-1.453152027f + t * 1.061405429f);
    p = 0.254829592f + t * (-0.284496736f + t * p);
    bell = simd::exp_nonpositive(x * x * -0.5f);
    simd::floats const tail = 0.5f * t * p * bell;
    below = x < 0.0f ? tail : 1.0f - tail;
  }
};

[[gnu::always_inline]] inline simd::floats gelu(simd::floats x) { return x * lanes(x).below; }
[[gnu::always_inline]] inline simd::floats gelu_grad(simd::floats x, simd::floats dy) {
  lanes const v(x);
  return dy * (v.below + x * v.bell * 0.39894228f);
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS::normal
