// The models on a GPU.  Compiled by nvcc; in tests also by a host compiler, with a stand-in for the GPU.
// SPDX-License-Identifier: Apache-2.0
#include "../../common/first_device.cuh"
#include "parser_on.hpp"
#include "triad/cuda.cuh"

std::unique_ptr<dependency::parser> dependency::make_on_cuda(options const& o, parser_options const& z) {
  return parser_with(triad::examples::first_device(o.arithmetic), o, z);
}
