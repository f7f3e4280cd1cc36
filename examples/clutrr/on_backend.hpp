// A model on the backend that the options name.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>

#include "network_on.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/reference/reference.hpp"

namespace clutrr {

/// The model on the backend that the options name.
template <class Model>
std::unique_ptr<network> on_backend(Model const& m, options const& o, network_sizes const& z) {
  if (o.backend == "reference") return std::make_unique<network_on<Model, triad::reference::backend>>(triad::reference::backend{}, m, o, z);
  if (!triad::cpu::blas_is_serial())
    std::fprintf(stderr, "this BLAS cannot be asked for one thread: set its variable to 1 (as OPENBLAS_NUM_THREADS), or results may depend on the threads\n");
  return std::make_unique<network_on<Model, triad::cpu::backend>>(triad::cpu::backend(o.threads), m, o, z);
}

}  // namespace clutrr
