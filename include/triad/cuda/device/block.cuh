// The interface between a kernel and its block of threads: the numbers of threads, shared memory, barriers, and warps.
// SPDX-License-Identifier: Apache-2.0
//
// A kernel is a function object that is called with a block:
//
//   template <class T>
//   struct scale {
//     static constexpr char const* name = "scale";
//     static constexpr int threads = 256;                  // a multiple of `warp`
//     static constexpr int resident = 2;                   // blocks whose registers fit on one processor; default: 1
//     struct shared { T tile[32][33]; };                   // all of its shared memory; left out if there is none
//     TRIAD_DEVICE void operator()(block const& b, vec<T const> x, vec<T> y) const {
//       auto& s = b.shared<shared>(); ... b.sync();
//     }
//   };
//
// Two compilers compile kernels: nvcc, and in tests a host compiler.  The host compiler has another type `block`, which
// runs the threads of a block one by one (tests/cuda_on_host).  Therefore kernels do not use __shared__, threadIdx or
// intrinsics.  They use cuda::std instead of device functions.
#pragma once

#include "triad/core/contracts.hpp"
#include "triad/core/mdspan.hpp"

namespace triad::cuda {

/// The number of threads in a warp.
inline constexpr int warp = 32;

}  // namespace triad::cuda

#if !defined(__CUDACC__)
#if !defined(TRIAD_CUDA_DOUBLE)
#error \
    "triad/cuda needs nvcc; to run its kernels on a host, define TRIAD_CUDA_DOUBLE as the header of a stand-in for blocks."
#endif
#include TRIAD_CUDA_DOUBLE
#else

#include <cuda_runtime_api.h>

#define TRIAD_DEVICE __device__ __forceinline__
#define TRIAD_UNROLL _Pragma("unroll")
#define TRIAD_UNROLL_TWICE _Pragma("unroll 2")  // a longer body would take registers from sums
#define TRIAD_NO_UNROLL _Pragma("unroll 1")

namespace triad::cuda {

class block {
 public:
  TRIAD_DEVICE int thread() const { return static_cast<int>(threadIdx.x); }
  TRIAD_DEVICE int threads() const { return static_cast<int>(blockDim.x); }
  TRIAD_DEVICE int lane() const { return static_cast<int>(threadIdx.x) % warp; }
  /// The number of the warp in the block.
  TRIAD_DEVICE int row() const { return static_cast<int>(threadIdx.x) / warp; }
  /// The number of the block in the grid, and the number of blocks.
  TRIAD_DEVICE index_t index() const { return static_cast<index_t>(blockIdx.x); }
  TRIAD_DEVICE index_t blocks() const { return static_cast<index_t>(gridDim.x); }

  template <class S>
  TRIAD_DEVICE S& shared() const {
    extern __shared__ __align__(16) unsigned char triad_shared_memory[];
    return *reinterpret_cast<S*>(triad_shared_memory);
  }
  /// A barrier.  No thread of the block continues before all threads have called sync().  Each thread then sees what
  /// the other threads wrote.
  TRIAD_DEVICE void sync() const { __syncthreads(); }

  // All 32 lanes of the warp must call these functions together.
  TRIAD_DEVICE void sync_warp() const { __syncwarp(); }
  template <class T>
  TRIAD_DEVICE T shuffle(T value, int from_lane) const {
    return __shfl_sync(0xffffffffu, value, from_lane);
  }
  template <class T>
  TRIAD_DEVICE T shuffle_xor(T value, int mask) const {
    return __shfl_xor_sync(0xffffffffu, value, mask);
  }
  TRIAD_DEVICE unsigned ballot(bool yes) const { return __ballot_sync(0xffffffffu, yes); }

  /// Returns `number`, but hides from the compiler that the result is the same number.  So a loop computes expressions
  /// of the result again each time.  Stored expressions would take registers from sums.
  TRIAD_DEVICE int again(int number) const {
    asm volatile("" : "+r"(number));
    return number;
  }

  /// Starts a copy of 4, 8 or 16 bytes from device memory to shared memory.  Both addresses must be multiples of this
  /// size.  If `inside` is false, the copy writes zeros and reads nothing.
  template <int Bytes>
  TRIAD_DEVICE void start_copy(void* to, void const* from, bool inside) const {
    auto const target = static_cast<unsigned>(__cvta_generic_to_shared(to));
    int const read = inside ? Bytes : 0;
    if constexpr (Bytes == 16)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(from), "r"(read) : "memory");
    else
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(target), "l"(from), "n"(Bytes), "r"(read)
                   : "memory");
  }
  /// Ends a group of copies.  The group has all copies that this thread has started since its last call of
  /// end_copies().
  TRIAD_DEVICE void end_copies() const { asm volatile("cp.async.commit_group;" ::: "memory"); }
  /// Waits for this thread's groups of copies, except for the last `Later` groups.  Other threads see the copies after
  /// a barrier.
  template <int Later>
  TRIAD_DEVICE void wait_for_copies() const {
    asm volatile("cp.async.wait_group %0;" ::"n"(Later) : "memory");
  }
};

namespace detail {

template <class Kernel>
constexpr int resident_blocks() {
  if constexpr (requires { Kernel::resident; })
    return Kernel::resident;
  else
    return 1;
}

template <class Kernel, class... A>
__global__ void __launch_bounds__(Kernel::threads, resident_blocks<Kernel>())
    entry(Kernel const kernel, A... arguments) {
  kernel(block(), arguments...);
}

template <class Kernel, class... A>
cudaError_t start(cudaStream_t stream, Kernel const& kernel, unsigned blocks, std::size_t shared_bytes,
                  A const&... arguments) {
  auto* const function = entry<Kernel, A...>;
  if (shared_bytes > 48 * 1024) {  // the runtime allows more only on request
    auto const granted =
        cudaFuncSetAttribute(reinterpret_cast<void const*>(function), cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(shared_bytes));
    if (granted != cudaSuccess) return granted;
  }
  function<<<blocks, Kernel::threads, shared_bytes, stream>>>(kernel, arguments...);
  return cudaGetLastError();
}

}  // namespace detail
}  // namespace triad::cuda

#endif

namespace triad::cuda {

// Sums and maxima over a warp.  All lanes get the same result, which is always computed in the same order.
template <class T>
TRIAD_DEVICE T warp_sum(block const& b, T value) {
  for (int mask = warp / 2; mask > 0; mask /= 2) value += b.shuffle_xor(value, mask);
  return value;
}
template <class T>
TRIAD_DEVICE T warp_maximum(block const& b, T value) {
  for (int mask = warp / 2; mask > 0; mask /= 2) {
    T const other = b.shuffle_xor(value, mask);
    value = other > value ? other : value;
  }
  return value;
}

}  // namespace triad::cuda
