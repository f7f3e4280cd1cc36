// Blocks of threads for a host compiler, run by the engine next to this file. They replace nvcc's branch in
// triad/cuda/device/block.cuh.
// SPDX-License-Identifier: Apache-2.0
//
// If TRIAD_CUDA_DOUBLE names this file, block.cuh includes it. The interface and its meaning are those of nvcc's
// branch. Behaviour that is undefined in nvcc's branch, such as a barrier that some threads do not reach, or a lane
// that skips a shuffle, is reported as a fault.
#pragma once

#include <cuda_runtime_api.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <vector>

#include "tests/cuda_on_host/engine.hpp"
#include "tests/cuda_on_host/runtime.hpp"
#include "triad/core/mdspan.hpp"

#define TRIAD_DEVICE inline
#define TRIAD_UNROLL
#define TRIAD_UNROLL_TWICE
#define TRIAD_NO_UNROLL

namespace triad::cuda {

class block {
 public:
  explicit block(cuda_on_host::thread_info const& t) : t_(t) {}

  int thread() const { return t_.thread; }
  int threads() const { return t_.threads; }
  int lane() const { return t_.thread % warp; }
  int row() const { return t_.thread / warp; }
  index_t index() const { return t_.index; }
  index_t blocks() const { return t_.blocks; }

  template <class S>
  S& shared() const {
    static_assert(std::is_trivially_copyable_v<S> && std::is_trivially_default_constructible_v<S>,
                  "triad: shared memory is never constructed; its struct holds plain values only");
    static_assert(alignof(S) <= 16, "triad: shared memory is aligned to 16 bytes");
    if (sizeof(S) > t_.shared_bytes) cuda_on_host::fail("b.shared<S>() is larger than the kernel's `shared`");
    return *static_cast<S*>(t_.shared);
  }

  void sync(int line = __builtin_LINE(), char const* file = __builtin_FILE()) const {
    cuda_on_host::barrier({file, line});
  }
  void sync_warp(int line = __builtin_LINE(), char const* file = __builtin_FILE()) const {
    cuda_on_host::warp_barrier({file, line});
  }
  template <class T>
  T shuffle(T value, int from_lane, int line = __builtin_LINE(), char const* file = __builtin_FILE()) const {
    return value_of<T>(cuda_on_host::shuffle(bits_of(value), from_lane, {file, line}));
  }
  template <class T>
  T shuffle_xor(T value, int mask, int line = __builtin_LINE(), char const* file = __builtin_FILE()) const {
    return value_of<T>(cuda_on_host::shuffle_xor(bits_of(value), mask, {file, line}));
  }
  unsigned ballot(bool yes, int line = __builtin_LINE(), char const* file = __builtin_FILE()) const {
    return cuda_on_host::ballot(yes, {file, line});
  }

  int again(int number) const { return number; }

  // The copy is made when a thread waits for it. Until then, the target contains NaN, so a read that is too early
  // returns NaN.
  template <int Bytes>
  void start_copy(void* to, void const* from, bool inside) const {
    static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "triad: a copy to shared memory is of 4, 8 or 16 bytes");
    auto const odd =
        reinterpret_cast<std::uintptr_t>(to) % Bytes + (inside ? reinterpret_cast<std::uintptr_t>(from) % Bytes : 0);
    if (odd != 0) cuda_on_host::fail("a copy to shared memory does not begin on its size");
    std::memset(to, 0xff, Bytes);
    copies_.push_back({to, from, Bytes, inside, groups_});
  }
  void end_copies() const { ++groups_; }
  template <int Later>
  void wait_for_copies() const {
    std::size_t done = 0;
    for (; done < copies_.size() && copies_[done].group + Later < groups_; ++done) {
      auto const& c = copies_[done];
      if (c.inside)
        std::memcpy(c.to, c.from, c.bytes);
      else
        std::memset(c.to, 0, c.bytes);
    }
    copies_.erase(copies_.begin(), copies_.begin() + static_cast<std::ptrdiff_t>(done));
  }

 private:
  struct copy {
    void* to;
    void const* from;
    std::size_t bytes;
    bool inside;
    int group;
  };
  template <class T>
  using word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  template <class T>
  static std::uint64_t bits_of(T value) {
    static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8),
                  "triad: a device shuffles numbers of 4 or 8 bytes");
    return std::bit_cast<word<T>>(value);
  }
  template <class T>
  static T value_of(std::uint64_t bits) {
    return std::bit_cast<T>(static_cast<word<T>>(bits));
  }

  cuda_on_host::thread_info const& t_;
  mutable std::vector<copy> copies_ = {};
  mutable int groups_ = 0;  // number of groups of copies that have ended
};

namespace detail {

template <class Kernel, class... A>
cudaError_t start(cudaStream_t stream, Kernel const& kernel, unsigned blocks, std::size_t shared_bytes,
                  A const&... arguments) {
  static_assert((sizeof(Kernel) + ... + sizeof(A)) <= 4096, "triad: the arguments of a kernel are 4 KiB at most");
  cuda_on_host::grid const g{Kernel::name, Kernel::threads, blocks, shared_bytes};
  (void)cuda_on_host::enqueue(stream, [g, kernel, all = std::tuple<A...>(arguments...)] {
    cuda_on_host::run(g, [&](cuda_on_host::thread_info const& t) {
      std::apply([&](A const&... each) { kernel(block(t), each...); }, all);
    });
  });
  return cudaGetLastError();  // returns an earlier error, too, as in nvcc's branch
}

}  // namespace detail
}  // namespace triad::cuda
