// Passes a type that is not a layer instead of a layer.
// expect: a layer names its input, output, saved and fields<S> (triad/layers/layer.hpp)
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/chain.hpp"
#include "triad/layers/linear.hpp"

using namespace triad;

using map = linear<float, 3, 3>;
#ifdef MISUSE
using second = tensor<float, dyn, 3>;
#else
using second = map;
#endif

static_assert(sizeof(chain<map, second>) > 0);
