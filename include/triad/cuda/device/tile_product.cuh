// Products of two small matrices by one warp, with rounded factors.  One version uses tensor cores, and one is plain
// code.
// SPDX-License-Identifier: Apache-2.0
//
//   sum (16, 8 Tiles) += a (16, depth) b (depth, 8 Tiles)        depth is a multiple of 16
//
// Factors are rounded as `arithmetic` says, so that their products are exact in float32.  The two versions differ only
// in the order of float32 sums.  A host compiler compiles only the plain version.
//
// In tf32x3, x is high + low plus a rest of 2^-22 of x, where high and low have the 10 bits of tf32.  a b is low high +
// high low + high high, where the small products are added first.  An infinite factor gives NaN, because its low part
// is NaN.
//
//   lane t has, of each 16 by 8 tile of the sum     column 0, 1    2, 3    4, 5    6, 7
//                                     row 0, 8       t = 0           1       2       3
//                                         1, 9           4           5       6       7
//                                         ...
//                                         7, 15         28          29      30      31
#pragma once

#include <cstdint>
#include <cuda/std/bit>

#include "triad/core/finite.hpp"
#include "triad/cuda/device/blas.cuh"
#include "triad/cuda/device/block.cuh"

#if defined(__CUDACC__)
#include "triad/cuda/device/tensor_core.cuh"
#endif

namespace triad::cuda {

/// Returns x rounded to 10 bits (tf32, f16), to a sum of two numbers of 10 bits (tf32x3), or to 7 bits (bf16).  Ties are
/// rounded to even in bf16, and else away from zero.  A NaN stays a NaN.
TRIAD_HOST_DEVICE inline float rounded(arithmetic how, float x) {
  auto bits = ::cuda::std::bit_cast<std::uint32_t>(x);
  if (how == arithmetic::float32 || is_nan(x)) return x;
  if (how == arithmetic::tf32x3) {
    float const high = rounded(arithmetic::tf32, x);
    return high + rounded(arithmetic::tf32, x - high);
  }
  if (how == arithmetic::tf32 || how == arithmetic::f16)
    bits = (bits + 0x1000u) & 0xffffe000u;
  else
    bits = (bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u;
  return ::cuda::std::bit_cast<float>(bits);
}

/// Returns sum + x y, where x y is computed from rounded factors.  With tf32x3, the product of the two low parts is
/// left out.
template <arithmetic Factors>
TRIAD_HOST_DEVICE float add_rounded(float x, float y, float sum) {
  if constexpr (Factors == arithmetic::tf32x3) {
    float const high_x = rounded(arithmetic::tf32, x), low_x = rounded(arithmetic::tf32, x - high_x),
                high_y = rounded(arithmetic::tf32, y), low_y = rounded(arithmetic::tf32, y - high_y);
    return sum + low_x * high_y + high_x * low_y + high_x * high_y;
  } else {
    return sum + rounded(Factors, x) * rounded(Factors, y);
  }
}

/// The number of terms of a product, including the zeros that fill the last step.
TRIAD_DEVICE int terms_of(int width) { return (width + 15) / 16 * 16; }

/// How a kernel computes the products that tensor cores can compute.
enum class product_path { exact, tensor_cores, plain };

/// The sums of one lane, in the rows row() and row() + 8, and in the columns column() and column() + 1 of every eight
/// columns.
struct tile_lane {
  int lane;
  TRIAD_DEVICE explicit tile_lane(block const& b) : lane(b.lane()) {}
  TRIAD_DEVICE int row() const { return lane / 4; }
  TRIAD_DEVICE int column() const { return 2 * (lane % 4); }
};

/// Adds the product to `sum`.  sum[t] has the elements (row, column), (row, column + 1), (row + 8, column) and
/// (row + 8, column + 1) of the columns [8 t, 8 t + 8).  All lanes of a warp must call this function together.
/// left(i, k) and right(k, j) read the factors.
template <product_path Path, arithmetic Factors, int Tiles, class A, class B>
TRIAD_DEVICE void add_tile_product(tile_lane at, int depth, A const& left, B const& right, float (&sum)[Tiles][4]) {
  static_assert(Factors != arithmetic::float32 && Factors != arithmetic::f16,
                "triad: a product of tiles is of rounded factors");
#if defined(__CUDACC__)
  if constexpr (Path == product_path::tensor_cores) {
    int const g = at.lane / 4, t = at.lane % 4;
    for (int k = t; k < depth; k += 16) {
      float top[4], bottom[4];
      TRIAD_UNROLL
      for (int e = 0; e < 4; ++e) {
        top[e] = left(g, k + 4 * e);
        bottom[e] = left(g + 8, k + 4 * e);
      }
      TRIAD_UNROLL
      for (int tile = 0; tile < Tiles; ++tile) {
        float beside[4];
        TRIAD_UNROLL
        for (int e = 0; e < 4; ++e) beside[e] = right(k + 4 * e, 8 * tile + g);
        if constexpr (Factors == arithmetic::tf32x3)
          add_split_products(sum[tile], top, bottom, beside);
        else if constexpr (Factors == arithmetic::tf32)
          add_tf32_products(sum[tile], top, bottom, beside);
        else
          add_bf16_products(sum[tile], top, bottom, beside);
      }
    }
  } else
#endif
  {
    for (int k = 0; k < depth; ++k) {
      TRIAD_UNROLL
      for (int tile = 0; tile < Tiles; ++tile) {
        int const j = 8 * tile + at.column();
        TRIAD_UNROLL
        for (int e = 0; e < 4; ++e)
          sum[tile][e] = add_rounded<Factors>(left(at.row() + e / 2 * 8, k), right(k, j + e % 2), sum[tile][e]);
      }
    }
  }
}

}  // namespace triad::cuda
