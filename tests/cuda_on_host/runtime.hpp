// What the stand-in for the CUDA runtime offers beyond the runtime's own functions: work of ours, and what tests ask
// about it.
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

/// Queues work in a stream, or records it where the stream is captured.  If it throws when it is run, the stream is at
/// fault from then on: its calls answer cudaErrorLaunchFailure, and cudaGetErrorString says what was thrown.
cudaError_t enqueue(cudaStream_t, std::function<void()> work);

/// Whether [p, p + bytes) lies in one piece of device memory.
bool on_device(void const* p, std::size_t bytes);

/// Faults without a call to report them: those of streams that were not asked, writes outside of memory, foreign
/// pointers where memory is freed.  Taken by tests that provoke it; what is left when the program ends makes it fail.
std::vector<std::string> take_complaints();
void complain(std::string const&);

/// What was made and not given back: "2 device allocations (96 bytes), 1 stream"; empty if nothing.  At the end of a
/// program, a complaint.
std::string leaks();

/// What was asked for since the program began: pieces of memory, of the device or pinned, and waits for the device.
/// cudaFree waits too; cudaStreamWaitEvent, which lets a stream wait and not the host, is none.
struct counts {
  std::uint64_t allocations = 0, waits = 0;
};
counts counted();

/// cuBLAS handles count as things that are made and given back.
void count_blas_handles(int change);

}  // namespace triad::cuda_on_host
