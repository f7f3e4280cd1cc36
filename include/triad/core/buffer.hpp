// A buffer owns a block of a backend's memory.  On the host, the block is aligned to a page.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "triad/core/arena.hpp"

namespace triad {

/// Thrown if memory cannot be allocated.  The message has the number of bytes.
class memory_refused : public std::bad_alloc {
 public:
  explicit memory_refused(std::size_t bytes) : bytes_(bytes) {
    std::snprintf(text_, sizeof text_, "cannot allocate %zu bytes", bytes);
  }
  char const* what() const noexcept override { return text_; }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::size_t bytes_;
  char text_[96];  // a std::string might allocate memory
};

/// Allocates and copies memory of the host.  Every backend has a type `Backend::memory` with the five functions of this
/// type.  An object of the type is small and cheap to copy.  For a device, the object holds the stream in which memory
/// is copied to and from the device.
struct host_memory {
  static void* allocate(std::size_t bytes) {
    void* const p = ::operator new(bytes, std::align_val_t(4096), std::nothrow);
    if (p == nullptr) throw memory_refused(bytes);
    advise_huge_pages(p, bytes);
    return p;
  }
  static void deallocate(void* p) noexcept { ::operator delete(p, std::align_val_t(4096)); }
  static void zero(void* p, std::size_t bytes) { std::memset(p, 0, bytes); }
  static void from_host(void* to, void const* from, std::size_t bytes) {
    if (bytes) std::memcpy(to, from, bytes);
  }
  static void to_host(void* to, void const* from, std::size_t bytes) {
    if (bytes) std::memcpy(to, from, bytes);
  }

 private:
  /// Asks the operating system for pages of 2 MiB for large buffers, because the rows of a fused projection are several
  /// pages of 4 KiB apart.  If there are no pages of 2 MiB, the program is slower, but works.
  static void advise_huge_pages([[maybe_unused]] void* p, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)
    constexpr std::uintptr_t huge = std::uintptr_t{1} << 21;
    auto const begin = reinterpret_cast<std::uintptr_t>(p), first = (begin + huge - 1) / huge * huge,
               last = (begin + bytes) / huge * huge;
    if (last > first) (void)::madvise(static_cast<std::byte*>(p) + (first - begin), last - first, MADV_HUGEPAGE);
#endif
  }
};

/// Owns a block of memory.  The constructor sets all bytes to zero.  The destructor frees the block.
template <class Memory = host_memory>
class buffer {
 public:
  buffer() = default;
  explicit buffer(std::size_t bytes, Memory memory = {})
      : buffer(memory, memory.allocate(std::max<std::size_t>(bytes, 1)), bytes) {
    memory_.zero(data_, bytes_);  // if this throws, the destructor frees the block
  }
  buffer(buffer&& other) noexcept
      : memory_(other.memory_), data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  buffer& operator=(buffer&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~buffer() {
    if (data_) memory_.deallocate(data_);
  }

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  /// Returns the object that allocated the block.  This object also copies values to and from the block.
  Memory const& memory() const { return memory_; }

  /// Returns an empty arena over the whole block.
  arena place() const { return arena(data_, bytes_); }

 private:
  buffer(Memory memory, void* data, std::size_t bytes) : memory_(memory), data_(data), bytes_(bytes) {}

  [[no_unique_address]] Memory memory_{};
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Copies the values of a contiguous view to the host, and returns them as a std::vector.
template <class Memory, class View>
auto host_copy(Memory const& from, View const& view) {
  using value = std::remove_const_t<typename View::element_type>;
  std::vector<value> values(static_cast<std::size_t>(view.size()));
  from.to_host(values.data(), view.data_handle(), values.size() * sizeof(value));
  return values;
}

}  // namespace triad
