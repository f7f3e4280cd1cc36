// The values of triangular attention in pairs of 16-bit numbers: two channels by one instruction.
// SPDX-License-Identifier: Apache-2.0
//
//   p, v1, v2     rounded to 10 bits; p is at most 1, because its base is never below the maximum
//   o(i, j) += sum of up to 8 middle nodes l of (p v1(i, l)) * v2(l, j)       two roundings for each l, in 16 bits
//                                                                             then added to a float32
//
// A sum of 8 is finite if |v1 v2| is below 8188 everywhere.  A larger sum becomes infinite, and is not hidden.
//
//   a quad of floats     v(c)          v(c + 1)      v(c + 2)   v(c + 3)     16 bytes, as they are copied
//   as two pairs         v(c, c + 1)   v(c + 2, c + 3)   -        -          in the first 8 of these bytes
//
// A thread rounds the quads that it copied itself, so it need not wait for other threads.  The quads stay where they
// are, so the banks are those of forward.cuh with half the bytes.
#pragma once

#include "triad/cuda/device/half_pair.cuh"
#include "triad/cuda/triangle/parts.cuh"

namespace triad::cuda::triangles {

/// Four neighbouring channels.
struct half_quad {
  half_pair low, high;
};

/// Rounds the rows that this thread has copied by start_rows() with the same arguments.
template <int Threads, int Width, int Rows, int Inner, int Stride, int Plane>
TRIAD_DEVICE void round_rows(block const& b, int filled, float* to) {
  constexpr int quads = Width / 4, step = Threads / quads;
  int const c = b.thread() % quads * 4, first = b.thread() / quads;
  if (c >= filled) return;
  TRIAD_UNROLL
  for (int e = 0; e < Rows; e += step) {
    int const row = first + e;
    if (Rows % step != 0 && row >= Rows) continue;
    float* const at = to + row % Inner * Stride + row / Inner * Plane + c;
    quad<float> const v = quad_at(at);
    *reinterpret_cast<pair<float>*>(at) = {
        {as_float(rounded_pair(v.at[0], v.at[1])), as_float(rounded_pair(v.at[2], v.at[3]))}};
  }
}

TRIAD_DEVICE half_quad halves_at(float const* x) {
  auto const both = *reinterpret_cast<pair<float> const*>(x);
  return {as_pair(both.at[0]), as_pair(both.at[1])};
}

/// sum += (w x) * y, where both numbers of w are the same weight
TRIAD_DEVICE void add(half_quad& sum, half_pair w, half_quad const& x, half_quad const& y) {
  sum.low = add_product(w * x.low, y.low, sum.low);
  sum.high = add_product(w * x.high, y.high, sum.high);
}
/// sum += x
TRIAD_DEVICE void add(quad<float>& sum, half_quad const& x) {
  sum.at[0] += first_of(x.low);
  sum.at[1] += second_of(x.low);
  sum.at[2] += first_of(x.high);
  sum.at[3] += second_of(x.high);
}

}  // namespace triad::cuda::triangles
