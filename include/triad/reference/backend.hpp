// The specification: plain loops over any scalar type, in the order of the formulas.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/core/backend.hpp"
#include "triad/core/math_flags.hpp"

namespace triad::TRIAD_REFERENCE {

struct backend {
  using memory = host_memory;
  static constexpr char const* name = "reference";  // what with_backend calls it
};

}  // namespace triad::TRIAD_REFERENCE
