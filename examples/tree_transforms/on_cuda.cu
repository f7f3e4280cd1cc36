// The machines on a GPU.  Compiled by nvcc; in tests also by a host compiler, with a stand-in for the GPU.
// SPDX-License-Identifier: Apache-2.0
#include "../common/first_device.cuh"
#include "machine_on.hpp"
#include "triad/cuda.cuh"

std::unique_ptr<tree_transforms::machine> tree_transforms::make_on_cuda(options const& o, machine_options const& z) {
  return machine_with(triad::examples::first_device(o.arithmetic), o, z);
}
