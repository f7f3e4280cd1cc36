// Device memory of a backend's own, which grows to the largest that was asked for.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "triad/cuda/device/status.cuh"

namespace triad::cuda {

/// What was handed out stays allocated until the owner ends, since recorded work has its address.  It grows to twice
/// its size at least, but not beyond `most`: all of it together is less than three times `most`, where no call asks
/// for more.
class growing_memory {
 public:
  growing_memory() = default;
  explicit growing_memory(std::size_t most) : most_(most) {}
  growing_memory(growing_memory&& other) noexcept
      : all_(std::exchange(other.all_, {})), bytes_(std::exchange(other.bytes_, 0)), most_(other.most_) {}
  growing_memory& operator=(growing_memory&&) = delete;
  ~growing_memory() {
    for (auto* p : all_) (void)cudaFree(p);
  }

  /// `bytes` of the device in use, on 256 bytes, which the next call may hand out again: work queued in between has to
  /// be in one stream.  Throws device_error where there is not as much; while a stream is recorded it cannot grow.
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
  /// Bytes of the last allocation, and of all of them.
  std::size_t bytes() const { return bytes_; }
  std::size_t bytes_in_all() const { return in_all_; }

 private:
  std::vector<void*> all_;
  std::size_t bytes_ = 0, in_all_ = 0, most_ = std::numeric_limits<std::size_t>::max();
};

}  // namespace triad::cuda
