// In place of every header of triad/cpu for the typed tests on a device: nvcc does not read its vector types.
// SPDX-License-Identifier: Apache-2.0
//
// Their sources also hold tests of the cpu backend, which are not run there; those compile with the reference.
#pragma once

#include "triad/reference/reference.hpp"

namespace triad::cpu {

struct backend : reference::backend {
  backend() = default;
  explicit backend(int count) : threads(count) {}
  int threads = 1;
};

}  // namespace triad::cpu
