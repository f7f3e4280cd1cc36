// Products of two small matrices by one warp, of rounded factors: on tensor cores, and their plain twin.
// SPDX-License-Identifier: Apache-2.0
//
//   sum (16, 8 Tiles) += a (16, depth) b (depth, 8 Tiles)        depth is a multiple of 16
//
// Factors are rounded to what `arithmetic` says, so that their products are exact in float32, and the two ways differ
// in the order of float32 sums alone.  A host compiler has the plain one only.
#pragma once

#include <cstdint>
#include <cuda/std/bit>

#include "triad/cuda/device/blas.cuh"
#include "triad/cuda/device/block.cuh"

#if defined(__CUDACC__)
#include "triad/cuda/device/tensor_core.cuh"
#endif

namespace triad::cuda {

/// To the nearest number with 10 bits (tf32; ties away from zero) or 7 bits (bf16; ties to even); a NaN stays one.
TRIAD_HOST_DEVICE inline float rounded(arithmetic how, float x) {
  auto bits = ::cuda::std::bit_cast<std::uint32_t>(x);
  if (how == arithmetic::float32 || x != x) return x;
  if (how == arithmetic::tf32)
    bits = (bits + 0x1000u) & 0xffffe000u;
  else
    bits = (bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u;
  return ::cuda::std::bit_cast<float>(bits);
}

/// The number of terms of a product, with zeros to a whole number of steps.
TRIAD_DEVICE int terms_of(int width) { return (width + 15) / 16 * 16; }

/// How a kernel makes the products that a tensor core can do.
enum class product_path { exact, tensor_cores, plain };

/// The sums of one lane: rows row() and row() + 8, columns column() and the next of every eight.
struct tile_lane {
  int lane;
  TRIAD_DEVICE explicit tile_lane(block const& b) : lane(b.lane()) {}
  TRIAD_DEVICE int row() const { return lane / 4; }
  TRIAD_DEVICE int column() const { return 2 * (lane % 4); }
};

/// sum[t] = {(row, column), (row, column + 1), (row + 8, column), (row + 8, column + 1)} of columns 8 t .. 8 t + 8, by
/// all lanes of a warp.  left(i, k) and right(k, j) read the factors.
template <product_path Path, int Tiles, class A, class B>
TRIAD_DEVICE void add_tile_product([[maybe_unused]] arithmetic how, tile_lane at, int depth, A const& left,
                                   B const& right, float (&sum)[Tiles][4]) {
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
        if (how == arithmetic::tf32)
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
          sum[tile][e] += rounded(how, left(at.row() + e / 2 * 8, k)) * rounded(how, right(k, j + e % 2));
      }
    }
  }
}

}  // namespace triad::cuda
