// How much scratch memory a piece of work asks for, found by running its code with nothing behind it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "triad/core/backend.hpp"
#include "triad/core/call.hpp"

namespace triad {

/// Bytes of scratch that work(backend, call) takes: it is run on `measuring<Ex>` and an arena without memory, so it only plans.
/// Measure with the largest batch; an arena of that many bytes then serves every smaller one.
template <backend Ex, class Work>
std::size_t planned_scratch(Ex& ex, call c, Work&& work) {
  measuring<Ex> planner{&ex};
  arena measure;
  c.scratch = &measure;
  work(planner, static_cast<call const&>(c));
  return measure.peak();
}

}  // namespace triad
