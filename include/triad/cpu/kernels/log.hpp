// The natural logarithm of vectors of floats.
// SPDX-License-Identifier: Apache-2.0
//
//   x = 2^k y with sqrt(1/2) <= y < sqrt(2),  log x = k log 2 + log(1 + z),  z = y - 1
//   log(1 + z) = z - z^2 / 2 + z^3 P(z), where P is the polynomial of degree 8 of the library Cephes
#pragma once

#include "triad/cpu/kernels/simd.hpp"

namespace triad::simd::inline TRIAD_CPU_FLAGS {

/// Divides each lane of x by a power of two, so that the lane is at least sqrt(1/2) and below sqrt(2).  Returns the
/// exponents.  x must be positive and not denormal.  A NaN or an infinity becomes a number in this interval.
[[gnu::always_inline]] inline ints take_exponent(floats& x) {
  constexpr std::int32_t root = 0x3f3504f3;  // the bits of sqrt(1/2)
  ints const above = (ints)x - root;
  x = (floats)((above & 0x7fffff) + root);
  return above >> 23;
}

/// Returns log(2^exponent x), where 2^exponent x must be positive, and x not denormal.  If 2^exponent x is at least
/// sqrt(1/2) and below sqrt(2), the result is log1p(`beyond_one`).  `beyond_one` is 2^exponent x - 1, computed so that
/// a small difference from 1 keeps its digits.
[[gnu::always_inline]] inline floats log(floats x, floats beyond_one, ints exponent) {
  exponent += take_exponent(x);
  floats const z = exponent == 0 ? beyond_one : x - 1.0f;
  floats p = -1.1514610310e-1f + z * 7.0376836292e-2f;
  p = 1.1676998740e-1f + z * p;
  p = -1.2420140846e-1f + z * p;
  p = 1.4249322787e-1f + z * p;
  p = -1.6668057665e-1f + z * p;
  p = 2.0000714765e-1f + z * p;
  p = -2.4999993993e-1f + z * p;
  p = 3.3333331174e-1f + z * p;
  // 0x4b400000 are the bits of 1.5 * 2^23, so the low bits of the sum are those of the exponent.
  floats const k = settled((floats)(exponent + 0x4b400000)) - 12582912.0f;
  floats const square = z * z;
  // log 2 = 0.693359375 - 2.12194440e-4.  The first number has few digits, so its product with k is exact.
  return k * 0.693359375f + (z + (z * square * p - (square * 0.5f + k * 2.12194440e-4f)));
}

/// Returns `value`, but NaN in each lane in which `source` is infinite or NaN.  Tests bits, so that flags that assume
/// finite numbers do not matter.
[[gnu::always_inline]] inline floats if_finite(floats source, floats value) {
  ints const bits = (ints)settled(source) & 0x7fffffff;
  return bits >= 0x7f800000 ? (floats)(ints{} + 0x7fc00000) : value;
}

}  // namespace triad::simd::inline TRIAD_CPU_FLAGS
