// Checks the gradient of a layer in float. Finite differences in float would measure rounding errors.
// expect: gradient_check: finite differences need a layer in double
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/linear.hpp"
#include "triad/reference/reference.hpp"
#include "triad/train/gradient_check.hpp"

#ifdef MISUSE
using scalar = float;
#else
using scalar = double;
#endif

using layer = triad::linear<scalar, 2, 3>;

auto check(triad::reference::backend& ex, layer::input x) {
  return triad::gradient_check(ex, layer{}, triad::row_dims(4), x, {4, 3});
}
