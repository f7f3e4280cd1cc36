// Replaces every header of triad/cpu in the typed tests on a device, because nvcc cannot compile their vector types.
// SPDX-License-Identifier: Apache-2.0
// The source files of these tests also contain tests of the cpu backend. In the program for a device, these tests are
// compiled with the reference backend and do not run.
#pragma once

#include "triad/reference/reference.hpp"

namespace triad::cpu {

struct backend : reference::backend {
  backend() = default;
  explicit backend(int count) : threads(count) {}
  int threads = 1;
};

}  // namespace triad::cpu
