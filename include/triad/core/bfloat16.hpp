// The number type bfloat16: the upper half of a float.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace triad {

/// The upper half of a float.
struct bfloat16 {
  std::uint16_t bits;
};

// Both functions are always inlined.  Kernels for several instruction sets call them, and a linker would keep one copy
// of a function that is not inlined.

/// Rounds to the nearest bfloat16, and to an even last bit if two are equally near.  A value beyond the largest
/// bfloat16 becomes infinite.  A NaN stays a NaN.
[[gnu::always_inline]] inline bfloat16 to_bfloat16(float x) {
  auto const bits = std::bit_cast<std::uint32_t>(x);
  std::uint32_t const nearest = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  std::uint32_t const quiet = (bits >> 16) | 0x40u;  // rounding could carry a NaN into the sign
  return {static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? quiet : nearest)};
}

/// Returns the value of a bfloat16, which a float holds exactly.
[[gnu::always_inline]] inline float from_bfloat16(bfloat16 x) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16);
}

}  // namespace triad
