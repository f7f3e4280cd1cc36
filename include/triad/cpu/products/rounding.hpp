// Rounds matrices of floats to bfloat16.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/core/bfloat16.hpp"
#include "triad/core/mdspan.hpp"
#include "triad/cpu/kernels/compiled_for.hpp"
#include "triad/cpu/products/engine.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

/// Rounds a matrix whose rows are `step` floats apart.  The rows of `to` are `to_step` numbers apart.  Sets what
/// `to_columns` and `to_rows` have more than `columns` and `rows` to zero.
inline void round_matrix(float const* from, index_t step, index_t rows, index_t columns, bfloat16* to, index_t to_step,
                         index_t to_rows, index_t to_columns) {
  for (index_t r = 0; r < rows; ++r) {
    float const* const x = from + r * step;
    bfloat16* const y = to + r * to_step;
#pragma omp simd
    for (index_t i = 0; i < columns; ++i) y[i] = to_bfloat16(x[i]);
    for (index_t i = columns; i < to_columns; ++i) y[i] = {0};
  }
  for (index_t r = rows; r < to_rows; ++r)
    for (index_t i = 0; i < to_columns; ++i) to[r * to_step + i] = {0};
}

/// Widens `count` numbers.
inline void widen(bfloat16 const* from, index_t count, float* to) {
#pragma omp simd
  for (index_t i = 0; i < count; ++i) to[i] = from_bfloat16(from[i]);
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
