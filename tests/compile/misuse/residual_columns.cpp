// Adds a layer's output of five columns to its input of four.
// expect: residual: the layer's input and output differ in columns, so they cannot be added
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/linear.hpp"
#include "triad/layers/residual.hpp"

#ifdef MISUSE
using layer = triad::linear<float, 5, 4>;
#else
using layer = triad::linear<float, 5, 5>;
#endif

triad::residual<layer> block{layer{}};
