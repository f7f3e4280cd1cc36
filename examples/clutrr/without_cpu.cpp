// In place of on_cpu.cpp, where there is no BLAS.
// SPDX-License-Identifier: Apache-2.0
#include "network.hpp"

std::unique_ptr<clutrr::network> clutrr::make_on_cpu(options const&, network_options const&) {
  triad::examples::built_without_cpu("clutrr");
}
