// The matrix instructions of sm_80 and later: a warp computes 16 by 8 sums in float32.  Only nvcc includes this header.
// SPDX-License-Identifier: Apache-2.0
//
// Lane t has four sums, in the rows t / 4 and t / 4 + 8 and in the columns 2 (t % 4) and 2 (t % 4) + 1.  Lane t has row
// t / 4 (top) and row t / 4 + 8 (bottom) of the left factor, and column t / 4 of the right factor.  In each of these
// rows and columns, lane t has four of the sixteen terms: t % 4 + 4 e, e = 0 .. 3.  Any order of terms is correct if
// both factors have the same order.  This order avoids bank conflicts if the terms of a row lie side by side, and if a
// row is 4 words longer than a multiple of 32.  If the terms lie one below the other, as for dq and dk in
// triangle/backward.cuh, two lanes access the same bank.
#pragma once

#include "triad/cuda/device/block.cuh"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#error "triad/cuda needs compute capability 8.0 or later."
#endif

namespace triad::cuda {

/// Returns the nearest number with the 10 bits of tf32.  Ties are rounded away from zero.
TRIAD_DEVICE unsigned tf32(float x) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return bits;
}
/// Returns x minus its tf32 value.  float32 represents this difference exactly.
TRIAD_DEVICE float rest_of(float x, unsigned bits) { return x - __uint_as_float(bits); }
/// Returns the nearest numbers with the 7 bits of bf16, both in one word.  Ties are rounded to even.
TRIAD_DEVICE unsigned bf16(float low, float high) {
  unsigned bits;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  return bits;
}

// The instructions below are volatile, because the whole warp must execute them.  A compiler could otherwise move them
// into a branch that only some lanes take.

/// Adds the products of eight terms to `sum`.  The left factor is {top, bottom, top, bottom}.
TRIAD_DEVICE void add_eight_products(float (&sum)[4], unsigned const (&left)[4], unsigned const (&right)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
}

/// Adds the products of sixteen terms to `sum`, with factors rounded to tf32.
TRIAD_DEVICE void add_tf32_products(float (&sum)[4], float const (&top)[4], float const (&bottom)[4],
                                    float const (&right)[4]) {
  TRIAD_UNROLL
  for (int e = 0; e < 4; e += 2)
    add_eight_products(sum, {tf32(top[e]), tf32(bottom[e]), tf32(top[e + 1]), tf32(bottom[e + 1])},
                       {tf32(right[e]), tf32(right[e + 1])});
}

/// Adds the products of sixteen terms to `sum`.  Each factor is split into a low and a high part, which are rounded to
/// tf32.  The products are low high, high low, and high high.
TRIAD_DEVICE void add_split_products(float (&sum)[4], float const (&top)[4], float const (&bottom)[4],
                                     float const (&right)[4]) {
  TRIAD_UNROLL
  for (int e = 0; e < 4; e += 2) {
    float const x[4] = {top[e], bottom[e], top[e + 1], bottom[e + 1]}, y[2] = {right[e], right[e + 1]};
    unsigned high_x[4], low_x[4], high_y[2], low_y[2];
    TRIAD_UNROLL
    for (int k = 0; k < 4; ++k) {
      high_x[k] = tf32(x[k]);
      low_x[k] = tf32(rest_of(x[k], high_x[k]));
    }
    TRIAD_UNROLL
    for (int k = 0; k < 2; ++k) {
      high_y[k] = tf32(y[k]);
      low_y[k] = tf32(rest_of(y[k], high_y[k]));
    }
    add_eight_products(sum, low_x, high_y);
    add_eight_products(sum, high_x, low_y);
    add_eight_products(sum, high_x, high_y);
  }
}

/// Adds the products of sixteen terms to `sum`, with factors rounded to bf16.
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
