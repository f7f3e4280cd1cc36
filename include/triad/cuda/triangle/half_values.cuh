// The values of triangular attention in f16: two channels by one instruction.
// SPDX-License-Identifier: Apache-2.0
//
//   p, v1, v2     rounded to f16; p is at most 1, because its base is never below the maximum
//   o(i, j) += sum of up to 8 middle nodes l of (p v1(i, l)) * v2(l, j)      p v1 and each partial sum: rounded to f16
//                                                                            the sum: added to a float32
//
// A sum of 8 is finite if |v1| and |v2| are below 65520 and |v1 v2| is below 8000.  A larger value becomes infinite,
// and is not hidden.
//
// The values lie in shared memory in groups of eight channels, as tile_product.cuh describes: v(c) .. v(c + 7) in the
// first 16 of the 32 bytes to which they were copied.
#pragma once

#include "triad/cuda/device/half_pair.cuh"
#include "triad/cuda/triangle/parts.cuh"

namespace triad::cuda::triangles {

/// Four neighbouring channels.
struct half_quad {
  half_pair low, high;
};

/// The channels c .. c + 3 of a row, where c is a multiple of 4.
TRIAD_DEVICE half_quad halves_at(float const* row, int c) {
  auto const both = *reinterpret_cast<pair<float> const*>(row + c / 8 * 8 + c % 8 / 2);
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
