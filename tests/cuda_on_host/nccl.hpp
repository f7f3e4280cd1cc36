// Functions that the stand-in for NCCL has in addition to NCCL's functions: counts of messages, and a time limit for
// waiting.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace triad::cuda_on_host {

/// Counts since the program started, for all processes together.
struct nccl_counts {
  std::uint64_t groups = 0, sends = 0, bytes = 0;
};
nccl_counts counted_nccl();

/// Sets how long a process waits for another process that makes no call. Returns the limit that was set before.
std::chrono::milliseconds wait_for_others(std::chrono::milliseconds);

}  // namespace triad::cuda_on_host
