// What the CUDA runtime answers, turned into an exception that says what was being done.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

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

/// Whether it is a running kernel that does such a thing: any later call may answer it.
inline bool is_of_a_kernel(cudaError_t status) {
  switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
      return true;
    default:
      return false;
  }
}
}  // namespace detail

/// `doing` completes "while ...": "copying to the device".  The place is the caller's; clang 14 has no
/// std::source_location.
inline void check(cudaError_t status, char const* doing, char const* file = __builtin_FILE(),
                  int line = __builtin_LINE()) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();  // taken, or the next launch, which asks for it, would be blamed
  auto answer = std::string(cudaGetErrorString(status)) + " (" + cudaGetErrorName(status) + ")";
  char const* const blocking = std::getenv("CUDA_LAUNCH_BLOCKING");
  if (detail::is_of_a_kernel(status) && (blocking == nullptr || std::string_view(blocking) != "1"))
    answer +=
        "; a kernel that was launched earlier may have done it: with CUDA_LAUNCH_BLOCKING=1 set, its launch says so";
  detail::failed("CUDA", doing, answer, file, line);
}

}  // namespace triad::cuda
