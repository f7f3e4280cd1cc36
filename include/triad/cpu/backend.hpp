// The host's processors: BLAS for products, one pool of threads, and the reference for whatever is not faster here.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/reference/backend.hpp"

namespace triad::cpu {

/// How many threads there are to use.  Results do not depend on it, bit by bit.
inline int hardware_threads();

struct backend : reference::backend {
  explicit backend(int thread_count = 0) : threads(thread_count > 0 ? thread_count : hardware_threads()) {}
  int threads;
};

}  // namespace triad::cpu

#include "triad/cpu/parallel.hpp"
