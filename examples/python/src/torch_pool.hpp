// Memory that attention saves between forward and backward, kept for the next step.
// SPDX-License-Identifier: Apache-2.0
//
// A step of a training saves as much as the step before.  If the memory went back to the operating system after every
// step, the system would have to clear its pages again in the next one, which took up to a fifth of a step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <mutex>
#include <new>

#include "torch_tensor.hpp"
#include "triad/core/buffer.hpp"

namespace triad_torch {

/// Blocks of memory that no tensor uses.
class memory_pool {
 public:
  /// Unused blocks have at most this size together.
  static constexpr std::size_t most_kept = std::size_t{512} << 20;
  /// Smaller tensors have PyTorch's memory.
  static constexpr std::size_t least = std::size_t{256} << 10;

  /// Returns the pool of this process.  It is never destroyed, because tensors may outlive it.
  static memory_pool& instance() {
    static auto* const pool = new memory_pool;
    return *pool;
  }

  /// Returns the size of a block for `bytes` bytes: one of eight sizes for each power of two.
  static std::size_t block_of(std::size_t bytes) {
    std::size_t step = least / 8;
    while (step * 16 < bytes) step *= 2;
    return (bytes + step - 1) / step * step;
  }

  void* take(std::size_t block) {
    {
      std::lock_guard const lock(access_);
      for (auto b = free_.rbegin(); b != free_.rend(); ++b)
        if (b->bytes == block) {
          void* const data = b->data;
          kept_ -= block;
          free_.erase(std::next(b).base());
          return data;
        }
    }
    return triad::host_memory::allocate(block);
  }
  void give(void* data, std::size_t block) noexcept {
    std::lock_guard const lock(access_);
    try {
      free_.push_back({data, block});
    } catch (std::bad_alloc const&) {
      return triad::host_memory::deallocate(data);
    }
    kept_ += block;
    while (kept_ > most_kept) {  // the block that was unused for longest goes first
      triad::host_memory::deallocate(free_.front().data);
      kept_ -= free_.front().bytes;
      free_.pop_front();
    }
  }

 private:
  struct unused {
    void* data;
    std::size_t bytes;
  };
  std::mutex access_;
  std::deque<unused> free_;
  std::size_t kept_ = 0;
};

/// Returns an uninitialised tensor of float32 (count) on the host.  It has memory of the pool if PyTorch has a function
/// for this.
inline tensor pooled_floats(std::int64_t count, tensor const& like) {
  auto const bytes = static_cast<std::size_t>(count) * sizeof(float);
  if (torch_from_blob == nullptr || bytes < memory_pool::least) return like.like({count}, aoti_torch_dtype_float32());
  auto const block = memory_pool::block_of(bytes);
  void* const data = memory_pool::instance().take(block);
  std::int64_t const stride = 1;
  AtenTensorHandle made = nullptr;
  auto const error = torch_from_blob(
      data, 1, &count, &stride, 0, aoti_torch_dtype_float32(), aoti_torch_device_type_cpu(), like.device_index(), &made,
      aoti_torch_layout_strided(), nullptr, 0,
      [](void* with, void* size) { memory_pool::instance().give(with, reinterpret_cast<std::uintptr_t>(size)); },
      reinterpret_cast<void*>(block));
  if (error != 0) memory_pool::instance().give(data, block);
  check(error, "make a tensor");
  return tensor(made);
}

}  // namespace triad_torch
