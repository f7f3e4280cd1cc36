// main() of the typed tests on a real device. All memory that the tests allocate, and their stack, is page-locked
// memory that kernels can access.
// SPDX-License-Identifier: Apache-2.0
//
// Typed tests pass the addresses of their vectors and local variables to kernels. In this program, operator new returns
// memory from one block that the CUDA runtime has locked and mapped, at the same address for host and device. The tests
// run on a thread whose stack is also in this block. CUDA_LAUNCH_BLOCKING makes every launch wait for its kernel, so
// tests can read results without waiting. CUDA_LAUNCH_BLOCKING has no effect on cudaMemsetAsync, so cudaMemsetAsync is
// replaced below. nvcc compiles the source files of tests for this program with TRIAD_TEST_ON_CUDA
// (tests/backends.hpp).
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <pthread.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>

#include "tests/typed_session.hpp"

namespace {

/// One large block of page-locked memory, divided into granules. Each granule is divided into small blocks of the same
/// size, a power of two. A freed block is kept for the next request of its size. Until the memory exists, requests are
/// passed to malloc.
class pinned_pool {
 public:
  /// Reserves whole granules. Returns false if there is no device that can use the memory.
  bool open(std::size_t bytes) {
    void* p = nullptr;
    if (cudaHostAlloc(&p, bytes, cudaHostAllocMapped | cudaHostAllocPortable) != cudaSuccess) return false;
    void* seen = nullptr;  // the address on the device
    if (cudaHostGetDevicePointer(&seen, p, 0) != cudaSuccess || seen != p) return false;
    std::lock_guard const lock(door_);
    begin_ = next_ = static_cast<std::byte*>(p);
    end_ = begin_ + bytes;
    return true;
  }

  void* take(std::size_t bytes, std::size_t alignment) {
    std::lock_guard const lock(door_);
    if (begin_ == nullptr) return outside(bytes, alignment);
    std::size_t const size = std::bit_ceil(bytes > alignment ? bytes : alignment > smallest ? alignment : smallest);
    auto& idle = idle_[std::countr_zero(size)];
    if (idle == nullptr) {
      std::size_t const piece = size > granule ? size : granule;
      if (static_cast<std::size_t>(end_ - next_) < piece) throw std::bad_alloc();
      size_[granule_of(next_)] = size;
      for (std::size_t at = 0; at < piece; at += size) idle = ::new (next_ + at) block{idle};
      next_ += piece;
    }
    block* const taken = idle;
    idle = taken->next;
    return taken;
  }

  void give_back(void* p) {
    if (p == nullptr) return;
    std::lock_guard const lock(door_);
    auto* const at = static_cast<std::byte*>(p);
    if (at < begin_ || at >= end_) return std::free(p);
    auto& idle = idle_[std::countr_zero(size_[granule_of(at)])];
    idle = ::new (p) block{idle};
  }

 private:
  static constexpr std::size_t smallest = 64, granule = 64 * 1024, most_granules = std::size_t{1} << 16;
  struct block {
    block* next;
  };

  std::size_t granule_of(std::byte const* p) const { return static_cast<std::size_t>(p - begin_) / granule; }
  static void* outside(std::size_t bytes, std::size_t alignment) {
    void* p = nullptr;
    if (posix_memalign(&p, alignment > smallest ? alignment : smallest, bytes) != 0) throw std::bad_alloc();
    return p;
  }

  std::mutex door_;
  std::byte *begin_ = nullptr, *end_ = nullptr, *next_ = nullptr;
  block* idle_[64] = {};
  std::size_t size_[most_granules] = {};  // size of the blocks in each granule; of a large block, in its first granule
};

constinit pinned_pool pool;  // is initialised before any allocation

constexpr std::size_t pool_bytes = std::size_t{2} << 30, stack_bytes = std::size_t{64} << 20;

struct command_line {
  int count;
  char** words;
  int status = EXIT_FAILURE;
};

void* run_tests(void* arguments) {
  auto& line = *static_cast<command_line*>(arguments);
  line.status = triad::test::run_typed_tests(line.count, line.words);
  return nullptr;
}

}  // namespace

void* operator new(std::size_t bytes) { return pool.take(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return pool.take(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* p) noexcept { pool.give_back(p); }
void operator delete(void* p, std::size_t) noexcept { pool.give_back(p); }
void operator delete(void* p, std::align_val_t) noexcept { pool.give_back(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { pool.give_back(p); }

/// Replaces the function of the same name in the shared runtime. This function sets the memory too, but returns only
/// after the memset has ended. If the stream is being captured, nothing runs, so it returns without waiting.
extern "C" cudaError_t cudaMemsetAsync(void* p, int value, std::size_t bytes, cudaStream_t stream) {
  using function = cudaError_t(void*, int, std::size_t, cudaStream_t);
  static auto* const of_the_runtime = reinterpret_cast<function*>(dlsym(RTLD_NEXT, "cudaMemsetAsync"));
  // The runtime is linked statically, so this function does not replace the runtime's, and tests would read too early.
  if (of_the_runtime == nullptr) return cudaErrorUnknown;
  auto const status = of_the_runtime(p, value, bytes, stream);
  cudaStreamCaptureStatus captured = cudaStreamCaptureStatusNone;
  if (status != cudaSuccess || cudaStreamIsCapturing(stream, &captured) != cudaSuccess ||
      captured != cudaStreamCaptureStatusNone)
    return status;
  return cudaStreamSynchronize(stream);
}

int main(int count, char** words) {
  setenv("CUDA_LAUNCH_BLOCKING", "1", 1);  // the first call of the runtime, which follows, reads it
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "nothing was tested, there is no GPU here\n");
    return 77;  // CTest reports "skipped"
  }
  if (!pool.open(pool_bytes)) {
    std::fprintf(stderr, "nothing was tested, there is no page-locked memory that host and GPU address alike\n");
    return EXIT_FAILURE;
  }
  command_line line{count, words};
  pthread_attr_t attributes;
  pthread_t thread;
  bool const began = pthread_attr_init(&attributes) == 0 &&
                     pthread_attr_setstack(&attributes, pool.take(stack_bytes, 4096), stack_bytes) == 0 &&
                     pthread_create(&thread, &attributes, run_tests, &line) == 0;
  if (!began) {
    std::fprintf(stderr, "nothing was tested, no thread can be started on a page-locked stack\n");
    return EXIT_FAILURE;
  }
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  return line.status;
}
