// The cpu backend of a program, and a word where its BLAS may make results depend on threads.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>

#include "triad/cpu/cpu.hpp"

namespace triad::apps {

inline cpu::backend cpu_backend(int threads) {
  if (!cpu::blas_is_serial())
    std::fprintf(stderr,
                 "this BLAS cannot be asked for one thread: set its variable to 1 (as OPENBLAS_NUM_THREADS), or "
                 "results may depend on the threads\n");
  return cpu::backend(threads);
}

}  // namespace triad::apps
