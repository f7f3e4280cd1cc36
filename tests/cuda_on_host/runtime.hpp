// Functions of the stand-in for the CUDA runtime beyond the runtime's own: queueing of host work, and queries for
// tests.
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

/// Queues work in a stream, or records it if the stream is captured. If the work throws, the stream is at fault from
/// then on: its calls return cudaErrorLaunchFailure, and cudaGetErrorString returns the exception's text.
cudaError_t enqueue(cudaStream_t, std::function<void()> work);

/// Whether [p, p + bytes) is inside one piece of device memory.
bool on_device(void const* p, std::size_t bytes);

/// Returns and clears faults that no call could report: faults of streams whose status was not read, writes outside of
/// memory, and unknown pointers passed to a free. Tests that provoke a fault call this. The program fails if any are
/// left at its end.
std::vector<std::string> take_complaints();
void complain(std::string const&);

/// Lists objects that were made and not freed: "2 device allocations (96 bytes), 1 stream"; empty if there are none. At
/// the end of a program such objects are a fault.
std::string leaks();

/// Counts since the program started: allocations of device and pinned memory, and waits for the device. cudaFree counts
/// as a wait. cudaStreamWaitEvent does not, since a stream waits and not the host.
struct counts {
  std::uint64_t allocations = 0, waits = 0;
};
counts counted();

/// Counts cuBLAS handles as objects that must be freed.
void count_blas_handles(int change);

}  // namespace triad::cuda_on_host
