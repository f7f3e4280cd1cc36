// Starts a kernel in the stream of a backend.  All kernels are started by the function in this header.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "triad/cuda/backend.cuh"
#include "triad/cuda/device/block.cuh"
#include "triad/cuda/device/nvtx.cuh"

namespace triad::cuda {

namespace detail {
template <class Kernel>
constexpr std::size_t shared_bytes() {
  if constexpr (requires { typename Kernel::shared; })
    return sizeof(typename Kernel::shared);
  else
    return 0;
}
}  // namespace detail

/// Runs kernel(block, arguments...) in every thread of `blocks` blocks.  If `blocks` is 0, does nothing.  Returns
/// without waiting.  Throws device_error with the name of the kernel if the launch fails.  If an error occurs while the
/// kernel runs, a later call reports the error, unless CUDA_LAUNCH_BLOCKING=1 is in the environment.  Profilers see the
/// name of the kernel as a range (nvtx.cuh).
template <class Kernel, class... A>
void launch(backend const& ex, Kernel const& kernel, index_t blocks, A const&... arguments) {
  static_assert(Kernel::threads > 0 && Kernel::threads <= 1024 && Kernel::threads % warp == 0,
                "triad: a block has whole warps and at most 1024 threads");
  static_assert(detail::shared_bytes<Kernel>() <= most_shared_bytes,
                "triad: this kernel's `shared` is larger than the 163 KiB a block may have on sm_80");
  TRIAD_EXPECTS(blocks >= 0 && blocks <= 0x7fffffff,
                "cuda::launch: " + std::to_string(blocks) + " blocks, expected 0 to 2^31 - 1");
  if (blocks == 0) return;
  check(cudaSetDevice(ex.device()), "choosing a device");
  named_range const range(Kernel::name);
  auto const status =
      detail::start(ex.stream(), kernel, static_cast<unsigned>(blocks), detail::shared_bytes<Kernel>(), arguments...);
  if (status != cudaSuccess) check(status, (std::string("launching ") + Kernel::name).c_str());
}

/// The number of blocks for `items` items with `each` items in a block.
constexpr index_t blocks_for(index_t items, index_t each) { return (items + each - 1) / each; }

}  // namespace triad::cuda
