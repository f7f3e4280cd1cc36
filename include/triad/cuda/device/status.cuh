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

namespace detail {
[[noreturn]] inline void failed(char const* library, char const* doing, std::string const& answer, char const* file,
                                int line) {
  throw device_error(std::string(library) + ", while " + doing + ": " + answer + " (" + file + ":" +
                     std::to_string(line) + ")");
}
}  // namespace detail

/// `doing` completes "while ...": "copying to the device".  The place is the caller's; clang 14 has no
/// std::source_location.
inline void check(cudaError_t status, char const* doing, char const* file = __builtin_FILE(),
                  int line = __builtin_LINE()) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();  // taken, or the next launch, which asks for it, would be blamed
  detail::failed("CUDA", doing, std::string(cudaGetErrorString(status)) + " (" + cudaGetErrorName(status) + ")", file,
                 line);
}

}  // namespace triad::cuda
