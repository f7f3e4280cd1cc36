// Replaces every header of triad/cpu in the typed tests on a device, since nvcc cannot read its vector types.
// SPDX-License-Identifier: Apache-2.0
//
// The sources of these tests also contain tests of the cpu backend, which are not run on a device; they compile with
// the reference.
#pragma once

#include "triad/reference/reference.hpp"

namespace triad::cpu {

struct backend : reference::backend {
  backend() = default;
  explicit backend(int count) : threads(count) {}
  int threads = 1;
};

}  // namespace triad::cpu
