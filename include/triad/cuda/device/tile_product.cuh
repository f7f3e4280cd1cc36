// The product of two small matrices by one warp, with rounded factors that lie in shared memory.  One version uses
// tensor cores, and one is plain code.
// SPDX-License-Identifier: Apache-2.0
//
//   sum (16, 8 Tiles) += a (16, Depth) b (8 Tiles, Depth)'
//
// The terms of a row lie side by side, and each group of eight was rounded in its place by the threads that copied it:
//
//   bytes of a group    0 .. 3   4 .. 7   8 .. 11   12 .. 15   16 .. 31
//   tf32                x0       x1       x2        x3         x4 .. x7
//   bf16, f16           x0 x1    x2 x3    x4 x5     x6 x7      unused
//
// So each factor is rounded once, however many products read it, and a lane reads its terms 16 bytes at a time (of bf16
// and f16 in heads of 16 columns, 8 bytes).  Products of rounded factors are exact in float32.  The two versions differ
// only in the order of float32 sums.
//
//   lane t has, of each 16 by 8 tile of the sum     column 0, 1    2, 3    4, 5    6, 7
//                                     row 0, 8       t = 0           1       2       3
//                                         1, 9           4           5       6       7
//                                         ...
//                                         7, 15         28          29      30      31
//
// Of the factors, lane t has rows t / 4 and t / 4 + 8 of a, row t / 4 of b, and of each 4 Terms terms the group of
// Terms that begins with term Terms (t % 4).  Any order of terms is correct if both factors have the same order.
#pragma once

#include "triad/cuda/device/block.cuh"
#include "triad/cuda/device/rounding.cuh"

#if defined(__CUDACC__)
#include "triad/cuda/device/tensor_core.cuh"
#endif

namespace triad::cuda {

/// How a kernel computes scores: with exact factors, or with rounded ones, on tensor cores or by plain code.
enum class product_path { exact, tensor_cores, plain };

/// The sums of one lane, in the rows row() and row() + 8, and in the columns column() and column() + 1 of every eight
/// columns.
struct tile_lane {
  int lane;
  TRIAD_DEVICE explicit tile_lane(block const& b) : lane(b.lane()) {}
  TRIAD_DEVICE int row() const { return lane / 4; }
  TRIAD_DEVICE int column() const { return 2 * (lane % 4); }
};

/// The number of terms that a lane reads at once: 8 if they are neighbours in every step of the product.
template <int Depth>
inline constexpr int terms_of_lane = Depth % 32 == 0 ? 8 : 4;

/// The terms of a factor that a lane has, as it reads them: one float for each term in tf32, else one for two terms.
template <arithmetic Factors, int Terms>
struct lane_terms {
  static constexpr int words = Factors == arithmetic::tf32 ? Terms : Terms / 2;
  float at[words];

  /// `row` has the terms of one row from the first of 4 Terms terms on.
  TRIAD_DEVICE lane_terms(float const* row, int lane) {
    constexpr int together = words < 4 ? words : 4;
    struct alignas(4 * together) words_together {
      float at[together];
    };
    int const first = Terms * (lane % 4);
    float const* const from = row + (Factors == arithmetic::tf32 ? first : first / 8 * 8 + first % 8 / 2);
    TRIAD_UNROLL
    for (int w = 0; w < words; w += together) {
      auto const some = *reinterpret_cast<words_together const*>(from + w);
      TRIAD_UNROLL
      for (int e = 0; e < together; ++e) at[w + e] = some.at[e];
    }
  }
};

/// Returns term k of a row.
template <arithmetic Factors>
TRIAD_DEVICE float term_of(float const* row, int k) {
  if constexpr (Factors == arithmetic::tf32) {
    return row[k];
  } else {
    float const both = row[k / 8 * 8 + k % 8 / 2];
    if constexpr (Factors == arithmetic::f16) {
      return k % 2 == 0 ? first_of(as_pair(both)) : second_of(as_pair(both));
    } else {
      auto const bits = ::cuda::std::bit_cast<std::uint32_t>(both);
      return ::cuda::std::bit_cast<float>(k % 2 == 0 ? bits << 16 : bits & 0xffff0000u);
    }
  }
}

/// Adds the product to `sum`.  sum[t] has the elements (row, column), (row, column + 1), (row + 8, column) and
/// (row + 8, column + 1) of the columns [8 t, 8 t + 8).  All lanes of a warp must call this function together.  left(i)
/// and right(j) return the rows of the factors.
template <product_path Path, arithmetic Factors, int Depth, int Tiles, class A, class B>
TRIAD_DEVICE void add_tile_product(tile_lane at, A const& left, B const& right, float (&sum)[Tiles][4]) {
  static_assert(Factors == arithmetic::tf32 || Factors == arithmetic::bf16 || Factors == arithmetic::f16,
                "triad: a product of tiles is of rounded factors");
  static_assert(Depth % 16 == 0, "triad: a product of tiles is of whole steps of 16 or 32 terms");
#if defined(__CUDACC__)
  if constexpr (Path == product_path::tensor_cores) {
    constexpr int each = terms_of_lane<Depth>;
    using terms = lane_terms<Factors, each>;
    TRIAD_NO_UNROLL  // unrolled code would take registers from the caller's sums
    for (int k = 0; k < Depth; k += 4 * each) {
      terms const top(left(at.row()) + k, at.lane), bottom(left(at.row() + 8) + k, at.lane);
      TRIAD_UNROLL
      for (int tile = 0; tile < Tiles; ++tile) {
        terms const beside(right(8 * tile + at.row()) + k, at.lane);
        TRIAD_UNROLL
        for (int w = 0; w < terms::words; w += 2)
          add_products<Factors>(sum[tile], {top.at[w], bottom.at[w], top.at[w + 1], bottom.at[w + 1]},
                                {beside.at[w], beside.at[w + 1]});
      }
    }
  } else
#endif
  {
    for (int k = 0; k < Depth; ++k) {
      TRIAD_UNROLL
      for (int tile = 0; tile < Tiles; ++tile) {
        int const j = 8 * tile + at.column();
        TRIAD_UNROLL
        for (int e = 0; e < 4; ++e)
          sum[tile][e] += term_of<Factors>(left(at.row() + e / 2 * 8), k) * term_of<Factors>(right(j + e % 2), k);
      }
    }
  }
}

}  // namespace triad::cuda
