// What the stand-in for NCCL offers beyond NCCL's own functions: what was sent, and how long it waits for others.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace triad::cuda_on_host {

/// Since the program began, by all processes together.
struct nccl_counts {
  std::uint64_t groups = 0, sends = 0, bytes = 0;
};
nccl_counts counted_nccl();

/// How long a process waits for one that makes no call at all.  Returns what it was.
std::chrono::milliseconds wait_for_others(std::chrono::milliseconds);

}  // namespace triad::cuda_on_host
