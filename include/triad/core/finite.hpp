// Whether a number is finite, infinite or NaN, by its bits: also where a compiler may assume that all are finite.
// SPDX-License-Identifier: Apache-2.0
//
// By -ffinite-math-only (in -ffast-math and -Ofast) a compiler may take x != x, x - x == 0 and std::isnan(x) for
// constants.  These read the bits of x from memory, and an empty instruction hides where the bits come from.
#pragma once

#include <cstdint>
#include <cuda/std/bit>
#include <limits>
#include <type_traits>

#include "triad/core/contracts.hpp"

namespace triad {

namespace detail {

/// The bits of a float or double without its sign, as an unsigned integer.  A larger magnitude has a larger integer;
/// infinity's is above those of all numbers, and NaN's above infinity's.
template <class T>
TRIAD_HOST_DEVICE constexpr auto magnitude_bits(T const& x) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>, "a float or a double");
  using word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  auto bits = ::cuda::std::bit_cast<word>(x);
#if !defined(__CUDA_ARCH__)
  if (!std::is_constant_evaluated()) asm("" : "+r"(bits));
#endif
  return static_cast<word>(bits & ~word{0} >> 1);
}

template <class T>
inline constexpr auto infinity_bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>(
    sizeof(T) == 4 ? 0x7f800000u : 0x7ff0000000000000u);

}  // namespace detail

/// Whether x is NaN, by its bits: also where flags let the compiler assume that none exists.
template <class T>
[[nodiscard]] TRIAD_HOST_DEVICE constexpr bool is_nan(T const& x) {
  return detail::magnitude_bits(x) > detail::infinity_bits<T>;
}

/// Whether x is positive or negative infinity, by its bits.
template <class T>
[[nodiscard]] TRIAD_HOST_DEVICE constexpr bool is_infinite(T const& x) {
  return detail::magnitude_bits(x) == detail::infinity_bits<T>;
}

/// Whether x is neither infinite nor NaN.
template <class T>
[[nodiscard]] TRIAD_HOST_DEVICE constexpr bool is_finite(T const& x) {
  return detail::magnitude_bits(x) < detail::infinity_bits<T>;
}

/// What a maximum begins with, and what masks put in place of a score: minus infinity, or the lowest number where a
/// compiler may take arithmetic with infinity for meaningless.  Finite: never given; units of other flags have another.
template <class T, bool Finite = __FINITE_MATH_ONLY__ != 0>
inline constexpr T below_all = Finite ? std::numeric_limits<T>::lowest() : -std::numeric_limits<T>::infinity();

}  // namespace triad
