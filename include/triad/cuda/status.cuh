// What the CUDA runtime answers, turned into an exception that says what was being done.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace triad::cuda {

/// A call of the CUDA runtime or of cuBLAS failed.  The message says what was being done and what came back.
struct device_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// `doing` completes "while ...": "copying to the device".
inline void check(cudaError_t status, char const* doing) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();  // taken, or the next launch, which asks for it, would be blamed
  throw device_error(std::string("CUDA, while ") + doing + ": " + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) + ")");
}

}  // namespace triad::cuda
