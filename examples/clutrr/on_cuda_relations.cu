// The relation-aware baselines on a GPU.
// SPDX-License-Identifier: Apache-2.0
#include "network_on.hpp"
#include "on_cuda.cuh"
#include "triad/cuda.cuh"

std::unique_ptr<clutrr::network> clutrr::make_relation_model_on_cuda(options const& o, network_options const& z) {
  return with_relation_model(o, z, network_maker(triad::examples::first_device(o.arithmetic), o, z));
}
