// Owned memory of a backend, aligned to a cache line, and the arena over it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "triad/core/arena.hpp"

namespace triad {

/// Memory that the host computes in.  A backend names its own as `Backend::memory`, with these five functions.
struct host_memory {
  static void* allocate(std::size_t bytes) {
    // Rows of a fused projection lie whole pages apart: with pages of 2 MiB the triangle is some 20 % faster at n = 64.
    std::size_t const huge = std::size_t{1} << 21, alignment = bytes >= 2 * huge ? huge : 4096;
    std::size_t const rounded = (bytes + alignment - 1) / alignment * alignment;
    void* const p = std::aligned_alloc(alignment, rounded);
    if (p == nullptr) throw std::bad_alloc();
#if defined(__linux__)
    if (alignment == huge) (void)::madvise(p, rounded, MADV_HUGEPAGE);  // a wish; without it only time is lost
#endif
    return p;
  }
  static void deallocate(void* p) noexcept { std::free(p); }
  static void zero(void* p, std::size_t bytes) { std::memset(p, 0, bytes); }
  static void from_host(void* to, void const* from, std::size_t bytes) { if (bytes) std::memcpy(to, from, bytes); }
  static void to_host(void* to, void const* from, std::size_t bytes) { if (bytes) std::memcpy(to, from, bytes); }
};

/// A block of memory, zero at first.
template <class Memory = host_memory>
class buffer {
 public:
  buffer() = default;
  explicit buffer(std::size_t bytes) : data_(Memory::allocate(std::max<std::size_t>(bytes, 1))), bytes_(bytes) { Memory::zero(data_, bytes_); }
  buffer(buffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  buffer& operator=(buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~buffer() { if (data_) Memory::deallocate(data_); }

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

  /// An arena over the whole block, empty.
  arena place() const { return arena(data_, bytes_); }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace triad
