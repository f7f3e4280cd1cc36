// Multiplies a view in double and a view in float.
// expect: matmul: a, b and c have different element types: make all of them float or all double
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/matmul.hpp"
#include "triad/reference/matmul.hpp"

#ifdef MISUSE
using scalar = double;
#else
using scalar = float;
#endif

void product(triad::reference::backend& ex, scalar* a, float* b) {
  triad::matmul(ex, triad::tensor<scalar, 2, 3>(a), triad::tensor<float, 3, 5>(b), triad::tensor<float, 2, 5>(b));
}
