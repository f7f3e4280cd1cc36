// Functions that return whether a number is finite, infinite or NaN.  The functions test the bits of the number, so
// they are correct even if the compiler assumes that all numbers are finite.
// SPDX-License-Identifier: Apache-2.0
//
// With -ffinite-math-only (part of -ffast-math and -Ofast) a compiler may treat x != x, x - x == 0 and std::isnan(x) as
// constants.  The functions in this header read the bits of x from memory.  An empty assembler instruction hides the
// origin of the bits from the compiler.
#pragma once

#include <cstdint>
#include <cuda/std/bit>
#include <limits>
#include <type_traits>

#include "triad/core/contracts.hpp"

namespace triad {

namespace detail {

/// Returns the bits of a float or double without its sign, as an unsigned integer.  A larger magnitude gives a larger
/// integer.  Infinity gives a larger integer than all finite numbers, and NaN gives a larger integer than infinity.
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

/// Returns true if x is NaN, even if the compiler assumes that there is no NaN.
template <class T>
[[nodiscard]] TRIAD_HOST_DEVICE constexpr bool is_nan(T const& x) {
  return detail::magnitude_bits(x) > detail::infinity_bits<T>;
}

/// Returns true if x is positive or negative infinity.
template <class T>
[[nodiscard]] TRIAD_HOST_DEVICE constexpr bool is_infinite(T const& x) {
  return detail::magnitude_bits(x) == detail::infinity_bits<T>;
}

/// Returns true if x is neither infinite nor NaN.
template <class T>
[[nodiscard]] TRIAD_HOST_DEVICE constexpr bool is_finite(T const& x) {
  return detail::magnitude_bits(x) < detail::infinity_bits<T>;
}

/// The initial value of a maximum, and the score of a masked element.  The value is minus infinity, or the lowest
/// finite number if the compiler may assume that there is no infinity.  Do not pass `Finite`: its default value depends
/// on the compiler flags of the translation unit.
template <class T, bool Finite = __FINITE_MATH_ONLY__ != 0>
inline constexpr T below_all = Finite ? std::numeric_limits<T>::lowest() : -std::numeric_limits<T>::infinity();

}  // namespace triad
