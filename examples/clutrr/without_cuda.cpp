// In place of on_cuda.cu, where programs are not compiled for GPUs.
// SPDX-License-Identifier: Apache-2.0
#include "network.hpp"

std::unique_ptr<clutrr::network> clutrr::make_on_cuda(options const&, network_options const&) {
  triad::examples::built_without_cuda("clutrr");
}
