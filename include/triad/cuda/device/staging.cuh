// Copies to the device without waiting for the device.  The host copies into page-locked memory, and the device reads
// this memory when the stream reaches the copy.
// SPDX-License-Identifier: Apache-2.0
//
// The CUDA runtime may wait for the stream before it copies from ordinary memory.  Here, the host copies the bytes into
// one of two halves of page-locked memory, and the device reads the bytes from this half.  A half is overwritten only
// after all copies from the half have completed in the stream.  So a copy of more than 2 MiB at a time does wait, for
// the work before the last 2 MiB.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "triad/core/contracts.hpp"
#include "triad/cuda/device/status.cuh"

namespace triad::cuda {

/// The staging memory of one stream of the current device.  The object cannot be moved.
class staging {
 public:
  explicit staging(cudaStream_t stream) : stream_(stream) {
    try {
      check(cudaMallocHost(reinterpret_cast<void**>(&memory_), 2 * half), "allocating page-locked memory");
      for (auto& event : passed_) check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "creating an event");
    } catch (...) {
      close();
      throw;
    }
  }
  staging(staging const&) = delete;
  staging& operator=(staging const&) = delete;
  ~staging() { close(); }

  cudaStream_t stream() const { return stream_; }
  /// Queues later copies in another stream.  `ordered` says that this stream waits for the earlier copies.
  void queue_in(cudaStream_t stream, bool ordered) {
    if (!ordered && used_ > 0) change_half();  // the events of a half must be in streams that wait for each other
    stream_ = stream;
  }

  /// Queues a copy.  The caller may change `from` as soon as the function returns.  Throws contract_violation while the
  /// stream is recorded, because each replay would copy the bytes of the recording again.
  void copy(void* to, void const* from, std::size_t bytes) {
    TRIAD_EXPECTS(
        !is_captured(stream_),
        "cuda: a copy from the host inside recorded work, expected none; make it before the work is recorded");
    for (std::size_t done = 0; done < bytes;) {
      if (used_ == half) change_half();
      if (used_ == 0 && std::exchange(queued_[current_], false))
        check(cudaEventSynchronize(passed_[current_]), "waiting for copies to the device");
      std::size_t const some = std::min(bytes - done, half - used_);
      std::byte* const here = memory_ + current_ * half + used_;
      std::memcpy(here, static_cast<std::byte const*>(from) + done, some);
      check(cudaMemcpyAsync(static_cast<std::byte*>(to) + done, here, some, cudaMemcpyHostToDevice, stream_),
            "copying to the device");
      // Recorded now, because a capture of the stream may begin before the half is full.
      check(cudaEventRecord(passed_[current_], stream_), "recording an event");
      queued_[current_] = true;
      used_ = std::min(half, (used_ + some + line - 1) / line * line);
      done += some;
    }
  }

 private:
  static constexpr std::size_t half = std::size_t{2} << 20, line = 64;

  /// Switches to the other half.  The next copy waits until the device has read everything in that half.
  void change_half() {
    current_ = 1 - current_;
    used_ = 0;
  }
  void close() noexcept {
    for (auto event : passed_)
      if (event != nullptr) (void)cudaEventDestroy(event);
    if (memory_ != nullptr) (void)cudaFreeHost(memory_);
  }

  cudaStream_t stream_;
  std::byte* memory_ = nullptr;
  cudaEvent_t passed_[2] = {nullptr, nullptr};  // the last copy from each half
  bool queued_[2] = {false, false};             // whether there were copies from each half since the host waited
  std::size_t current_ = 0, used_ = 0;
};

}  // namespace triad::cuda
