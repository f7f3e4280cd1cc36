// The host's processors: BLAS for products, one pool of threads, and the reference for whatever is not faster here.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "triad/core/contracts.hpp"
#include "triad/reference/backend.hpp"

namespace triad::cpu {

/// How many threads there are to use.  Results do not depend on it, bit by bit.
inline int hardware_threads();

struct backend : reference::backend {
  /// 0: one for each processor.
  explicit backend(int thread_count = 0) : threads(thread_count > 0 ? thread_count : hardware_threads()) {
    TRIAD_EXPECTS(thread_count >= 0, "cpu::backend: threads are " + std::to_string(thread_count) +
                                         ", expected 1 or more, or 0 for one each processor");
  }
  int threads;
};

}  // namespace triad::cpu

#include "triad/cpu/parallel.hpp"
