// The models on the reference backend.
// SPDX-License-Identifier: Apache-2.0
#include "network_on.hpp"
#include "triad/reference/reference.hpp"

std::unique_ptr<clutrr::network> clutrr::make_on_reference(options const& o, network_options const& z) {
  return with_model(o, z, network_maker(triad::reference::backend{}, o, z));
}
