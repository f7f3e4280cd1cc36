// The models on the cpu backend.
// SPDX-License-Identifier: Apache-2.0
#include "triad/cpu/cpu.hpp"

#include <cstdio>

#include "network_on.hpp"

std::unique_ptr<clutrr::network> clutrr::make_on_cpu(options const& o, network_sizes const& z) {
  if (!triad::cpu::blas_is_serial())
    std::fprintf(stderr, "this BLAS cannot be asked for one thread: set its variable to 1 (as OPENBLAS_NUM_THREADS), "
                         "or results may depend on the threads\n");
  return with_model(o, z, network_maker(triad::cpu::backend(o.threads), o, z));
}
