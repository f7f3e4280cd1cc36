// The Edge Transformer on a GPU.  Compiled by nvcc; in tests also by a host compiler, with a stand-in for the GPU.
// SPDX-License-Identifier: Apache-2.0
#include "network_on.hpp"
#include "on_cuda.cuh"
#include "triad/cuda.cuh"

std::unique_ptr<clutrr::network> clutrr::make_on_cuda(options const& o, network_options const& z) {
  if (o.model != "edge-transformer") return make_relation_model_on_cuda(o, z);
  return with_edge_transformer(o, z, network_maker(triad::examples::first_device(o.arithmetic), o, z));
}
