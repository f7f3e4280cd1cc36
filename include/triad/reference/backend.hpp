// The reference backend computes with plain loops for any scalar type, in the order of the formulas.  The reference
// specifies what the other backends compute.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/core/backend.hpp"
#include "triad/core/math_flags.hpp"

namespace triad::TRIAD_REFERENCE {

struct backend {
  using memory = host_memory;
  static constexpr char const* name = "reference";  // the backend's name in with_backend
};

}  // namespace triad::TRIAD_REFERENCE
