// Turns an error code of the CUDA runtime into an exception that says what the program was doing.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace triad::cuda {

/// Thrown if a call of the CUDA runtime or of cuBLAS has failed.  The message says what the call was for and which
/// error it returned.
struct device_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

namespace detail {
[[noreturn]] inline void failed(char const* library, char const* doing, std::string const& answer, char const* file,
                                int line) {
  throw device_error(std::string(library) + ", while " + doing + ": " + answer + " (" + file + ":" +
                     std::to_string(line) + ")");
}

/// Whether a running kernel causes this error.  If so, any later call may return the error.
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

/// Throws device_error if a call of the runtime has failed.  `doing` completes "while ...", for example "copying to the
/// device".  The message has the file and the line of the caller.  clang 14 does not have std::source_location.
inline void check(cudaError_t status, char const* doing, char const* file = __builtin_FILE(),
                  int line = __builtin_LINE()) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();  // clears the error, which the next launch would report otherwise
  auto answer = std::string(cudaGetErrorString(status)) + " (" + cudaGetErrorName(status) + ")";
  char const* const blocking = std::getenv("CUDA_LAUNCH_BLOCKING");
  if (detail::is_of_a_kernel(status) && (blocking == nullptr || std::string_view(blocking) != "1"))
    answer +=
        "; a kernel that was launched earlier may have done it: with CUDA_LAUNCH_BLOCKING=1 set, its launch says so";
  detail::failed("CUDA", doing, answer, file, line);
}

/// Whether work in the stream is being recorded in a CUDA graph, instead of queued.
inline bool is_captured(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream, &status), "asking whether work is being recorded");
  return status != cudaStreamCaptureStatusNone;
}

}  // namespace triad::cuda
