// main() of the typed tests on a real device: what the tests allocate, and their stack, is page-locked memory that
// kernels reach.
// SPDX-License-Identifier: Apache-2.0
//
// Bodies of typed tests hand out the addresses of their vectors and local variables.  Here operator new gives them
// memory of one piece that the CUDA runtime has locked and mapped, under the same address for host and device; a thread
// whose stack lies there too runs the tests.  CUDA_LAUNCH_BLOCKING makes every launch wait for its kernel, so that
// results may be read at once; a memset, which that variable leaves alone, waits below.  The sources of tests are
// compiled by nvcc with TRIAD_TEST_ON_CUDA for it (tests/backends.hpp).
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

/// One piece of page-locked memory, in granules that each hold blocks of one size, a power of two; blocks that come
/// back are kept for the next request of their size.  What is asked for before there is one comes from malloc.
class pinned_pool {
 public:
  /// Of whole granules; false: there is no device that could use it.
  bool open(std::size_t bytes) {
    void* p = nullptr;
    if (cudaHostAlloc(&p, bytes, cudaHostAllocMapped | cudaHostAllocPortable) != cudaSuccess) return false;
    void* seen = nullptr;  // by the device
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
  std::size_t size_[most_granules] = {};  // of the blocks in each granule; of a large block, in its first
};

constinit pinned_pool pool;  // before any allocation

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

/// In front of the shared runtime's function of this name: the same, and the memset has ended when it returns, but in a
/// stream that is captured, where nothing runs.
extern "C" cudaError_t cudaMemsetAsync(void* p, int value, std::size_t bytes, cudaStream_t stream) {
  using function = cudaError_t(void*, int, std::size_t, cudaStream_t);
  static auto* const of_the_runtime = reinterpret_cast<function*>(dlsym(RTLD_NEXT, "cudaMemsetAsync"));
  if (of_the_runtime == nullptr) return cudaErrorUnknown;  // linked statically: these tests would read too soon
  auto const status = of_the_runtime(p, value, bytes, stream);
  cudaStreamCaptureStatus captured = cudaStreamCaptureStatusNone;
  if (status != cudaSuccess || cudaStreamIsCapturing(stream, &captured) != cudaSuccess ||
      captured != cudaStreamCaptureStatusNone)
    return status;
  return cudaStreamSynchronize(stream);
}

int main(int count, char** words) {
  setenv("CUDA_LAUNCH_BLOCKING", "1", 1);  // read at the first call of the runtime, which comes now
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "nothing was tested, there is no GPU here\n");
    return 77;  // which CTest takes for skipped
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
