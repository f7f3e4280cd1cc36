// Multiplies matrices whose inner extents are known at compile time and differ.
// expect: matmul: the columns of a differ from the rows of b
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/matmul.hpp"
#include "triad/reference/matmul.hpp"

#ifdef MISUSE
constexpr triad::index_t rows_of_b = 4;
#else
constexpr triad::index_t rows_of_b = 3;
#endif

void product(triad::reference::backend& ex, float* p) {
  triad::matmul(ex, triad::tensor<float, 2, 3>(p), triad::tensor<float, rows_of_b, 5>(p),
                triad::tensor<float, 2, 5>(p));
}
