// Rounds queries, keys and values in shared memory, where the threads have copied them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "triad/cuda/device/rounding.cuh"
#include "triad/cuda/triangle/parts.cuh"

namespace triad::cuda::triangles {

/// Calls f(address, first column) for each quad that this thread copies if it calls start_rows() with the same
/// arguments and all columns are filled.
template <int Threads, int Width, int Rows, int Inner, int Stride, int Plane, class F>
TRIAD_DEVICE void each_own_quad(block const& b, float* to, F&& f) {
  constexpr int quads = Width / 4, step = Threads / quads;
  static_assert(Rows % step == 0, "triad: whole warps copy the rows of a tile whose factors are rounded");
  int const thread = b.again(b.thread()), c = thread % quads * 4, first = thread / quads;
  TRIAD_UNROLL
  for (int e = 0; e < Rows; e += step) f(to + (first + e) % Inner * Stride + (first + e) / Inner * Plane + c, c);
}
/// Rounds the rows that this thread has copied, in the layout of tile_product.cuh.  The whole warp must call this
/// function, after waiting for its copies.  A thread has four of the eight terms of a group, and its neighbour has the
/// others.  Columns that were not filled are overwritten, too, and are not read.
template <arithmetic Factors, int Threads, int Width, int Rows, int Inner, int Stride, int Plane>
TRIAD_DEVICE void round_rows(block const& b, float* to) {
  each_own_quad<Threads, Width, Rows, Inner, Stride, Plane>(b, to, [&](float* at, int c) {
    quad<float> const v = quad_at(at);
    if constexpr (Factors == arithmetic::tf32) {
      put(at, quad<float>{{in_tf32(v.at[0]), in_tf32(v.at[1]), in_tf32(v.at[2]), in_tf32(v.at[3])}});
    } else {
      float const low = packed<Factors>(v.at[0], v.at[1]), high = packed<Factors>(v.at[2], v.at[3]),
                  next_low = b.shuffle_xor(low, 1), next_high = b.shuffle_xor(high, 1);
      if (c % 8 == 0) put(at, quad<float>{{low, high, next_low, next_high}});
    }
  });
}
/// Rounds the rows that this thread has copied.  They stay floats.
template <int Threads, int Width, int Rows, int Inner, int Stride, int Plane>
TRIAD_DEVICE void round_floats(block const& b, arithmetic how, int filled, float* to) {
  rounding const round(how);
  each_own_quad<Threads, Width, Rows, Inner, Stride, Plane>(b, to, [&](float* at, int c) {
    if (c >= filled) return;
    quad<float> v = quad_at(at);
    TRIAD_UNROLL
    for (int e = 0; e < 4; ++e) v.at[e] = round(v.at[e]);
    put(at, v);
  });
}

/// Whether the kernels for larger graphs can round the factors of scores.
template <class T, int Width, bool OwnKey>
inline constexpr bool rounds_scores = std::is_same_v<T, float> && Width <= 64 && !OwnKey;

}  // namespace triad::cuda::triangles
