// Makes the cpu backend of a program. Warns if the BLAS is slow on this processor, or if results may depend on the
// number of threads.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "shared/backend/products.hpp"
#include "shared/cli/options.hpp"
#include "shared/processes/world.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/cpu/products/speed.hpp"

namespace triad::programs {

/// Returns the cpu backend with the threads, the engine and the precision that the options name. If the threads are 0,
/// takes one thread for each processor. Processes that may run on the same processors then divide these threads among
/// themselves.
inline cpu::backend cpu_backend(run_options const& o) {
  int threads = o.threads;
  if (threads == 0 && here().sharing > 1 && std::getenv("OMP_NUM_THREADS") == nullptr)
    threads = std::max(1, cpu::hardware_threads() / here().sharing);
  if (!cpu::blas_is_serial() && world().is_first())
    std::fprintf(stderr,
                 "this BLAS cannot be asked for one thread, so results may depend on the threads: set its variable "
                 "(BLIS_NUM_THREADS=1, or OMP_NUM_THREADS=1 and our threads by --threads) before the start\n");
  cpu::backend const made(threads, engine_of(o.products, o.arithmetic),
                          o.arithmetic == "bf16" ? cpu::arithmetic::bf16 : cpu::arithmetic::float32);
  static bool told = false;
  if (!std::exchange(told, true) && world().is_first() && made.engine == nullptr &&
      cpu::kernels_are_older(cpu::linked_blas()))
    std::fprintf(stderr, "%s\n", report_products(made).advice().c_str());
  return made;
}

}  // namespace triad::programs
