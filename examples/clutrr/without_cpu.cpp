// In place of on_cpu.cpp, where there is no BLAS.
// SPDX-License-Identifier: Apache-2.0
#include "network.hpp"
#include "triad/core/errors.hpp"

std::unique_ptr<clutrr::network> clutrr::make_on_cpu(options const&, network_sizes const&) {
  throw triad::data_error("this clutrr has no cpu backend, since no BLAS was found when it was built: give --backend cuda or --backend reference, "
                          "or install OpenBLAS and build it again");
}
