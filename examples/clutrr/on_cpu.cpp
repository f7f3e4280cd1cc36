// The models on the cpu backend.
// SPDX-License-Identifier: Apache-2.0
#include "../common/cpu_backend.hpp"
#include "network_on.hpp"

std::unique_ptr<clutrr::network> clutrr::make_on_cpu(options const& o, network_options const& z) {
  return with_model(o, z, network_maker(triad::examples::cpu_backend(o.threads), o, z));
}
