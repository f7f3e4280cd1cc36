// Rounds floats to the precision of an `arithmetic`.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cuda/std/bit>

#include "triad/cuda/device/blas.cuh"
#include "triad/cuda/device/half_pair.cuh"

namespace triad::cuda {

/// Rounds a float to 10 bits (tf32, f16) or to 7 bits (bf16), and returns a float.  Ties are rounded away from zero in
/// tf32, and to even in f16 and bf16.  A NaN stays a NaN.  In f16, a number below 2^-14 has fewer bits, and from 65520
/// on it becomes infinite; tf32 and bf16 have the range of float.
class rounding {
 public:
  TRIAD_HOST_DEVICE explicit rounding(arithmetic how)
      : dropped_(how == arithmetic::bf16 ? 16 : 13),
        odd_(how == arithmetic::tf32 ? 1 : 0),
        f16_(how == arithmetic::f16) {}

  TRIAD_HOST_DEVICE float operator()(float x) const {
    if (f16_) return first_of(rounded_pair(x, x));
    auto const bits = ::cuda::std::bit_cast<std::uint32_t>(x);
    std::uint32_t const below = (1u << (dropped_ - 1)) - 1, odd = (bits >> dropped_ & 1u) | odd_,
                        nearest = (bits + below + odd) & ~(2 * below + 1);
    bool const nan = (bits & 0x7fffffffu) > 0x7f800000u;
    // A NaN gets a bit that is not dropped.
    return ::cuda::std::bit_cast<float>(nan ? bits | 0x00400000u : nearest);
  }

 private:
  std::uint32_t dropped_, odd_;  // the number of bits that are dropped; 1 if the last bit that is left counts as odd
  bool f16_;
};

/// Returns two numbers, rounded to bf16 or f16, in the bits of a float.
template <arithmetic How>
TRIAD_DEVICE float packed(float first, float second) {
  static_assert(How == arithmetic::bf16 || How == arithmetic::f16);
  if constexpr (How == arithmetic::f16) {
    return as_float(rounded_pair(first, second));
  } else {
#if defined(__CUDA_ARCH__)
    unsigned both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
    return __uint_as_float(both);
#else
    auto const bits = [](float x) { return ::cuda::std::bit_cast<std::uint32_t>(rounding(arithmetic::bf16)(x)); };
    return ::cuda::std::bit_cast<float>(bits(first) >> 16 | (bits(second) & 0xffff0000u));
#endif
  }
}
/// Returns x rounded to tf32, as `rounding` does, for tensor cores, which ignore the last 13 bits.  On a device, these
/// bits are not specified.
TRIAD_DEVICE float in_tf32(float x) {
#if defined(__CUDA_ARCH__)
  unsigned y;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(x));
  return __uint_as_float(y);
#else
  return rounding(arithmetic::tf32)(x);
#endif
}

}  // namespace triad::cuda
