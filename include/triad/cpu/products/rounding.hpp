// Rounds floats to bfloat16.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

#include "triad/core/mdspan.hpp"
#include "triad/cpu/kernels/compiled_for.hpp"
#include "triad/cpu/products/engine.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

/// Rounds to the nearest bfloat16, and to an even last bit if two are equally near.  A value beyond the largest
/// bfloat16 becomes infinite.  A NaN stays a NaN.
[[gnu::always_inline]] inline bfloat16 rounded(float x) {
  auto const bits = std::bit_cast<std::uint32_t>(x);
  std::uint32_t const nearest = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  std::uint32_t const quiet = (bits >> 16) | 0x40u;  // rounding could carry a NaN into the sign
  return {static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? quiet : nearest)};
}

/// Returns the value of a bfloat16, which a float holds exactly.
[[gnu::always_inline]] inline float widened(bfloat16 x) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16);
}

/// Rounds a matrix whose rows are `step` floats apart.  The rows of `to` are `to_step` numbers apart.  Sets what
/// `to_columns` and `to_rows` have more than `columns` and `rows` to zero.
inline void round_matrix(float const* from, index_t step, index_t rows, index_t columns, bfloat16* to, index_t to_step,
                         index_t to_rows, index_t to_columns) {
  for (index_t r = 0; r < rows; ++r) {
    float const* const x = from + r * step;
    bfloat16* const y = to + r * to_step;
#pragma omp simd
    for (index_t i = 0; i < columns; ++i) y[i] = rounded(x[i]);
    for (index_t i = columns; i < to_columns; ++i) y[i] = {0};
  }
  for (index_t r = rows; r < to_rows; ++r)
    for (index_t i = 0; i < to_columns; ++i) to[r * to_step + i] = {0};
}

/// Widens `count` numbers.
inline void widen(bfloat16 const* from, index_t count, float* to) {
#pragma omp simd
  for (index_t i = 0; i < count; ++i) to[i] = widened(from[i]);
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
