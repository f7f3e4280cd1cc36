// Two numbers in f16 (IEEE binary16) in one word, which a GPU multiplies and adds by one instruction.
// SPDX-License-Identifier: Apache-2.0
//
//   a * b, a * b + c     each element is rounded once, to the nearest number with 10 bits; ties go to even
//
// A number has 10 bits after the first, between 2^-14 and 65504 in size.  Smaller numbers are multiples of 2^-24.  A
// result from 65520 on becomes infinite.  Only nvcc compiles the instructions.  A host compiler computes the same bits,
// except for those of a NaN.  __half2 of the toolkit is not used, because it would bring its header to every kernel,
// and has no arithmetic of the same bits on a host.
#pragma once

#include <cmath>
#include <cstdint>
#include <cuda/std/bit>

#include "triad/core/finite.hpp"
#include "triad/cuda/device/block.cuh"

namespace triad::cuda {

struct half_pair {
  std::uint32_t bits = 0;  // the first number is in the lower half
};

#if !defined(__CUDA_ARCH__)
namespace detail {

/// Rounds x to the nearest number in f16.  Returns its bits.
inline std::uint32_t half_bits(double x) {
  std::uint32_t const sign = std::signbit(x) ? 0x8000u : 0u;
  double const size = std::fabs(x);
  if (is_nan(x)) return sign | 0x7e00u;
  if (size >= 65520) return sign | 0x7c00u;
  if (size < 0x1p-14) return sign | static_cast<std::uint32_t>(std::nearbyint(std::ldexp(size, 24)));
  int exponent = 0;
  auto const steps = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(std::frexp(size, &exponent), 11)));
  // From 1024 to 2048 steps.  A carry into the exponent makes the next number.
  return sign | (steps + (static_cast<std::uint32_t>(exponent + 13) << 10));
}
inline float half_value(std::uint32_t bits) {
  int const exponent = static_cast<int>(bits >> 10 & 31u), steps = static_cast<int>(bits & 1023u);
  float const size = exponent == 31  ? (steps == 0 ? HUGE_VALF : NAN)
                     : exponent == 0 ? std::ldexp(static_cast<float>(steps), -24)
                                     : std::ldexp(static_cast<float>(1024 + steps), exponent - 25);
  return (bits & 0x8000u) != 0 ? -size : size;
}

}  // namespace detail
#endif

TRIAD_HOST_DEVICE inline float first_of(half_pair x) {
#if defined(__CUDA_ARCH__)
  float y;
  asm("{ .reg .b16 low, high; mov.b32 {low, high}, %1; cvt.f32.f16 %0, low; }" : "=f"(y) : "r"(x.bits));
  return y;
#else
  return detail::half_value(x.bits & 0xffffu);
#endif
}
TRIAD_HOST_DEVICE inline float second_of(half_pair x) {
#if defined(__CUDA_ARCH__)
  float y;
  asm("{ .reg .b16 low, high; mov.b32 {low, high}, %1; cvt.f32.f16 %0, high; }" : "=f"(y) : "r"(x.bits));
  return y;
#else
  return detail::half_value(x.bits >> 16);
#endif
}

/// Returns both numbers, rounded.
TRIAD_HOST_DEVICE inline half_pair rounded_pair(float first, float second) {
#if defined(__CUDA_ARCH__)
  half_pair y;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(y.bits) : "f"(second), "f"(first));
  return y;
#else
  return {detail::half_bits(first) | detail::half_bits(second) << 16};
#endif
}

TRIAD_DEVICE half_pair operator*(half_pair a, half_pair b) {
#if defined(__CUDA_ARCH__)
  half_pair y;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(y.bits) : "r"(a.bits), "r"(b.bits));
  return y;
#else
  return rounded_pair(first_of(a) * first_of(b), second_of(a) * second_of(b));  // a float holds these products exactly
#endif
}

/// Returns a * b + c.
TRIAD_DEVICE half_pair add_product(half_pair a, half_pair b, half_pair c) {
#if defined(__CUDA_ARCH__)
  half_pair y;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(y.bits) : "r"(a.bits), "r"(b.bits), "r"(c.bits));
  return y;
#else
  // A double holds this sum, or one of its terms is too small to matter.
  auto const sum = [](float x, float y, float z) {
    return detail::half_bits(static_cast<double>(x) * static_cast<double>(y) + static_cast<double>(z));
  };
  return {sum(first_of(a), first_of(b), first_of(c)) | sum(second_of(a), second_of(b), second_of(c)) << 16};
#endif
}

/// A float whose bits are those of the pair, and the pair with the bits of a float.  Memory for floats holds pairs.
TRIAD_DEVICE float as_float(half_pair x) { return ::cuda::std::bit_cast<float>(x.bits); }
TRIAD_DEVICE half_pair as_pair(float x) { return {::cuda::std::bit_cast<std::uint32_t>(x)}; }

}  // namespace triad::cuda
