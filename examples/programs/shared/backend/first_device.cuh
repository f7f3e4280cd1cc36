// The GPU that a program computes on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>

#include "shared/processes/world.hpp"
#include "triad/core/errors.hpp"
#include "triad/cuda/backend.cuh"

namespace triad::programs {

/// Returns a backend on the GPU of this process.  The processes of a machine take its GPUs in turn.  If there are fewer
/// GPUs than processes, several processes share a GPU.  `arithmetic` is "float32", "tf32x3", "tf32", "f16" or "bf16".
inline cuda::backend first_device(std::string const& arithmetic) {
  auto const how = arithmetic == "tf32x3" ? cuda::arithmetic::tf32x3
                   : arithmetic == "tf32" ? cuda::arithmetic::tf32
                   : arithmetic == "f16"  ? cuda::arithmetic::f16
                   : arithmetic == "bf16" ? cuda::arithmetic::bf16
                                          : cuda::arithmetic::float32;
  try {
    return cuda::backend(here().rank % std::max(1, cuda::device_count()), how);
  } catch (cuda::device_error const& e) {
    throw data_error(std::string("--backend cuda finds no GPU that it can use: ") + e.what());
  }
}

}  // namespace triad::programs
