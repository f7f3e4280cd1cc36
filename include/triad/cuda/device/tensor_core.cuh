// The matrix instructions of sm_80 and later: 16 by 8 sums of a warp in float32.  Included for nvcc alone.
// SPDX-License-Identifier: Apache-2.0
//
// Lane t has the sums of rows t / 4 (twice) and t / 4 + 8 (twice), columns 2 (t % 4) and the next; of the left factor
// rows t / 4 (top) and t / 4 + 8 (bottom), of the right one column t / 4.  Four terms of each: t % 4 + 4 e of the
// sixteen, e = 0 .. 3.  Any numbering of terms would do that is the same on both sides; in this one the lanes of a warp
// read shared memory without meeting in a bank.
#pragma once

#include "triad/cuda/device/block.cuh"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#error "triad/cuda needs compute capability 8.0 or later."
#endif

namespace triad::cuda {

/// The nearest number of tf32's 10 bits, ties away from zero.
TRIAD_DEVICE unsigned tf32(float x) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return bits;
}
/// The nearest numbers of bf16's 7 bits, ties to even.
TRIAD_DEVICE unsigned bf16(float low, float high) {
  unsigned bits;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  return bits;
}

// A whole warp multiplies, so neither may be moved to where a lane needs its sums: volatile.

/// sum += the products of sixteen terms, of factors rounded to tf32.
TRIAD_DEVICE void add_tf32_products(float (&sum)[4], float const (&top)[4], float const (&bottom)[4],
                                    float const (&right)[4]) {
  TRIAD_UNROLL
  for (int e = 0; e < 4; e += 2)
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(tf32(top[e])), "r"(tf32(bottom[e])), "r"(tf32(top[e + 1])), "r"(tf32(bottom[e + 1])), "r"(tf32(right[e])),
          "r"(tf32(right[e + 1])));
}

/// The same, rounded to bf16.
TRIAD_DEVICE void add_bf16_products(float (&sum)[4], float const (&top)[4], float const (&bottom)[4],
                                    float const (&right)[4]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(bf16(top[0], top[1])), "r"(bf16(bottom[0], bottom[1])), "r"(bf16(top[2], top[3])),
        "r"(bf16(bottom[2], bottom[3])), "r"(bf16(right[0], right[1])), "r"(bf16(right[2], right[3])));
}

}  // namespace triad::cuda
