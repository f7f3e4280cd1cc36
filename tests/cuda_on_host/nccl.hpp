// Functions of the stand-in for NCCL beyond NCCL's own: counts of what was sent, and the time limit of a wait.
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

/// Sets how long a process waits for another that makes no call at all. Returns the earlier limit.
std::chrono::milliseconds wait_for_others(std::chrono::milliseconds);

}  // namespace triad::cuda_on_host
