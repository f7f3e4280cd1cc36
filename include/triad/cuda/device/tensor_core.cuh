// The matrix instructions of sm_80 and later: a warp computes 16 by 8 sums in float32.  Only nvcc includes this header.
// SPDX-License-Identifier: Apache-2.0
//
// Lane t has four sums, in the rows t / 4 and t / 4 + 8 and in the columns 2 (t % 4) and 2 (t % 4) + 1.  Of the left
// factor, lane t has one word of each of these two rows, and then the next word of each.  Of the right factor, it has
// two words of row t / 4.  A word is one number in tf32, and two numbers in bf16 and f16.
#pragma once

#include "triad/cuda/device/blas.cuh"
#include "triad/cuda/device/block.cuh"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#error "triad/cuda needs compute capability 8.0 or later."
#endif

namespace triad::cuda {

/// Adds the products of 8 terms (tf32) or of 16 terms (bf16, f16) to `sum`.  The factors are rounded already.
template <arithmetic Factors>
TRIAD_DEVICE void add_products(float (&sum)[4], float const (&left)[4], float const (&right)[2]) {
  unsigned const a0 = __float_as_uint(left[0]), a1 = __float_as_uint(left[1]), a2 = __float_as_uint(left[2]),
                 a3 = __float_as_uint(left[3]), b0 = __float_as_uint(right[0]), b1 = __float_as_uint(right[1]);
  // The instructions are volatile, because the whole warp must execute them.  A compiler could otherwise move them into
  // a branch that only some lanes take.
  if constexpr (Factors == arithmetic::tf32)
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  else if constexpr (Factors == arithmetic::bf16)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, "
        "%2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  else
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

}  // namespace triad::cuda
