// Device memory of a backend, which grows to the largest size requested.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "triad/cuda/device/status.cuh"

namespace triad::cuda {

/// Every allocation stays until the object is destroyed, because recorded work refers to its address.  A new allocation
/// is twice as large as the last one, but at most `most`.  If the call needs more, the allocation has the size that the
/// call needs.  So if no call needs more than `most`, all allocations together are smaller than three times `most`.
class growing_memory {
 public:
  growing_memory() = default;
  explicit growing_memory(std::size_t most) : most_(most) {}
  growing_memory(growing_memory&& other) noexcept
      : all_(std::exchange(other.all_, {})),
        bytes_(std::exchange(other.bytes_, 0)),
        in_all_(std::exchange(other.in_all_, 0)),
        most_(other.most_) {}
  growing_memory& operator=(growing_memory&&) = delete;
  ~growing_memory() {
    for (auto* p : all_) (void)cudaFree(p);
  }

  /// Returns at least `bytes` bytes of memory on the current device, aligned to 256 bytes.  The next call may return
  /// the same memory, so all work that uses the memory must be in one stream.  Throws device_error if the device has
  /// too little memory.  The memory cannot grow while a stream is recorded.
  void* at_least(std::size_t bytes) {
    if (bytes > bytes_) {
      std::size_t const larger = std::max(bytes, std::min(2 * bytes_, most_));
      void* p = nullptr;
      check(cudaMalloc(&p, larger), "allocating memory that grows, of a backend's own");
      all_.push_back(p);
      bytes_ = larger;
      in_all_ += larger;
    }
    return all_.empty() ? nullptr : all_.back();
  }
  /// bytes() is the size of the last allocation, and bytes_in_all() is the size of all allocations.
  std::size_t bytes() const { return bytes_; }
  std::size_t bytes_in_all() const { return in_all_; }

 private:
  std::vector<void*> all_;
  std::size_t bytes_ = 0, in_all_ = 0, most_ = std::numeric_limits<std::size_t>::max();
};

}  // namespace triad::cuda
