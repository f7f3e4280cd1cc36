// Functions that the stand-in for the CUDA runtime has in addition to the runtime's functions. They queue work on the
// host, and answer questions of tests.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/cuda_on_host/settings.hpp"

namespace triad::cuda_on_host {

/// Queues work in a stream, or records it if the stream is being captured. If the work throws, the stream has a fault.
/// All later calls with this stream return cudaErrorLaunchFailure, and cudaGetErrorString returns the exception's text.
cudaError_t enqueue(cudaStream_t, std::function<void()> work);

/// Returns whether [p, p + bytes) is inside one piece of device memory.
bool on_device(void const* p, std::size_t bytes);

/// Returns and clears the faults that no call has reported: faults of streams whose status was not read, writes outside
/// of memory, and frees of unknown pointers. A test that causes a fault on purpose calls this function. If any faults
/// remain at the end, the program fails.
std::vector<std::string> take_complaints();
void complain(std::string const&);

/// Returns a list of objects that were made and not freed, such as "2 device allocations (96 bytes), 1 stream". Returns
/// an empty text if there are none. At the end of a program, such objects are a fault.
std::string leaks();

/// Counts since the program started: allocations of device memory and of pinned memory, and waits of the host for the
/// device. cudaFree counts as a wait. cudaStreamWaitEvent does not count, because the stream waits, not the host.
struct counts {
  std::uint64_t allocations = 0, waits = 0;
};
counts counted();

/// Counts cuBLAS handles as objects that must be freed.
void count_blas_handles(int change);

}  // namespace triad::cuda_on_host
