// The GPU of the program, and the seam between the two units that nvcc compiles side by side.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "network.hpp"
#include "triad/cuda/backend.cuh"

namespace clutrr {

inline triad::cuda::backend first_device(options const& o) {
  using triad::cuda::arithmetic;
  auto const how = o.arithmetic == "tf32" ? arithmetic::tf32 : o.arithmetic == "bf16" ? arithmetic::bf16 : arithmetic::float32;
  try {
    return triad::cuda::backend(0, how);
  } catch (triad::cuda::device_error const& e) {
    throw triad::data_error(std::string("--backend cuda finds no GPU that it can use: ") + e.what());
  }
}

std::unique_ptr<network> make_relation_model_on_cuda(options const& o, network_sizes const& z);

}  // namespace clutrr
