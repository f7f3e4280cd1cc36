// Measures the scratch memory that a computation needs.  Runs the code of the computation with an arena that only
// counts bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "triad/core/backend.hpp"
#include "triad/core/call.hpp"

namespace triad {

namespace detail {
/// Returns the name of a type, without its template arguments and namespaces.
template <class T>
std::string name_of_type() {
  std::string_view name = __PRETTY_FUNCTION__;
  name = name.substr(name.find("T = ") + 4);
  name = name.substr(0, name.find_first_of("<;]"));
  return std::string(name.substr(name.rfind(':') == name.npos ? 0 : name.rfind(':') + 1));
}

/// Runs measure() and returns its result.  If a loop in measure() uses elements of views, which have no memory, the
/// message of the exception names Layer.
template <class Layer, class Measure>
auto measured_for(Measure&& measure) {
  try {
    return measure();
  } catch (element_without_memory const& e) {
    throw element_without_memory(name_of_type<Layer>() + ", or a layer in it: " + e.what());
  }
}
}  // namespace detail

/// Returns the number of bytes of scratch memory that work(backend, call) takes.  Calls work with the backend
/// `measuring<Ex>` and an arena without memory, so work plans memory but computes nothing.  Measure with the largest
/// batch: its memory is large enough for every smaller batch.
template <backend Ex, class Work>
std::size_t planned_scratch(Ex& ex, call c, Work&& work) {
  measuring<Ex> planner{&ex};
  arena measure;
  c.scratch = &measure;
  work(planner, static_cast<call const&>(c));
  return measure.peak();
}

}  // namespace triad
