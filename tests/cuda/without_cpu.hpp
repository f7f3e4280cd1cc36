// Replaces every header of triad/cpu in the typed tests on a device, because nvcc cannot compile their vector types.
// SPDX-License-Identifier: Apache-2.0
// The source files of these tests also contain tests of the cpu backend. On a device these are not run, and they are
// compiled with the reference backend.
#pragma once

#include "triad/reference/reference.hpp"

namespace triad::cpu {

struct backend : reference::backend {
  backend() = default;
  explicit backend(int count) : threads(count) {}
  int threads = 1;
};

}  // namespace triad::cpu
