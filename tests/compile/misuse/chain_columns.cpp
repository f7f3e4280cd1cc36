// Chains a layer whose output has four columns with a layer whose input has three.
// expect: chain: the first layer's output and the second's input differ in columns
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/chain.hpp"
#include "triad/layers/linear.hpp"

#ifdef MISUSE
using second = triad::linear<float, 3, 2>;
#else
using second = triad::linear<float, 4, 2>;
#endif

triad::chain<triad::linear<float, 5, 4>, second> layers({}, {});
