// The backend for one GPU: a stream, a cuBLAS handle with its workspace, and the arithmetic of products.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "triad/core/backend.hpp"
#include "triad/cuda/device/blas_lt.cuh"
#include "triad/cuda/device/growing_memory.cuh"
#include "triad/cuda/device/memory.cuh"
#include "triad/cuda/device/replay.cuh"

namespace triad::cuda {

/// The shared memory that a block may use on sm_80, sm_90 and sm_100.  On the smaller chips sm_86, sm_89 and sm_120, a
/// block may use only 99 KiB.
inline constexpr std::size_t most_shared_bytes = 163 * 1024;
/// The most memory for the split factors of one product in arithmetic::tf32x3.
inline constexpr std::size_t most_split_bytes = std::size_t{256} << 20;

/// A backend for one device.  Operations queue their work in the stream of the backend and do not wait for it.  A
/// backend can be moved but not copied.  A backend must outlive the buffers that were made with it.
class backend {
 public:
  using memory = device_memory;
  static constexpr char const *name = "cuda", *number_means = "DEVICE";  // with_backend uses these names

  /// Throws device_error if device number `device` does not exist, or if the device gives a block less shared memory
  /// than kernels need.
  explicit backend(int device = 0, cuda::arithmetic a = cuda::arithmetic::float32) : device_(device), arithmetic_(a) {
    check(cudaSetDevice(device), "choosing a device");
    int granted = 0;
    check(cudaDeviceGetAttribute(&granted, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
          "asking for a block's shared memory");
    if (static_cast<std::size_t>(granted) < most_shared_bytes)
      throw device_error("this GPU gives a block " + std::to_string(granted / 1024) +
                         " KiB of shared memory; triad's kernels are made for 163 KiB, as on sm_80, " +
                         "sm_90 and sm_100");
    check(cudaStreamCreateWithFlags(&own_, cudaStreamNonBlocking), "creating a stream");
    stream_ = own_;
    try {
      check(cudaEventCreateWithFlags(&left_, cudaEventDisableTiming), "creating an event");
      check(cudaMemsetAsync(block_count(), 0, sizeof(unsigned), own_), "clearing the count of blocks");
      check(cudaStreamSynchronize(own_), "waiting for the count of blocks");  // other streams may not wait for own_
      blas_ = blas_context(own_);
      staging_ = std::make_unique<staging>(own_);
    } catch (...) {
      close();
      throw;
    }
  }
  backend(backend&& other) noexcept
      : device_(other.device_),
        arithmetic_(other.arithmetic_),
        own_(std::exchange(other.own_, nullptr)),
        stream_(std::exchange(other.stream_, nullptr)),
        left_(std::exchange(other.left_, nullptr)),
        owes_wait_(other.owes_wait_),
        blas_(std::move(other.blas_)),
        fused_(other.fused_),
        split_(std::move(other.split_)),
        block_count_(std::move(other.block_count_)),
        staging_(std::move(other.staging_)),
        recordings_(std::move(other.recordings_)),
        records_(other.records_) {}
  backend& operator=(backend&&) = delete;
  ~backend() {
    if (own_ == nullptr) return;
    (void)cudaSetDevice(device_);
    (void)cudaStreamSynchronize(own_);
    recordings_.clear();
    close();
  }

  int device() const { return device_; }
  /// The stream in which work is queued, and the backend's own stream, which is the stream at first.
  cudaStream_t stream() const { return stream_; }
  cudaStream_t own_stream() const { return own_; }
  /// Queues later work in a stream of the caller on the same device, for example of another library; null is the
  /// default stream.  Memory of this backend is then copied and cleared in that stream, too.  The backend does not
  /// record this work, so that the caller can: the stream may be captured in a CUDA graph.  The work waits for all
  /// earlier work of this backend, with two exceptions: while the stream is captured, the caller orders the work, until
  /// queue_in() is called again; and if the backend leaves a stream that is captured, later work does not wait for work
  /// that was queued there before the capture.  The last stream must still exist.  All work must have ended before the
  /// backend is destroyed.
  void queue_in(cudaStream_t stream) {
    if (stream == stream_ && !owes_wait_) return;
    check(cudaSetDevice(device_), "choosing a device");
    bool const leaves_capture = stream != stream_ && is_captured(stream_);
    if (stream != stream_ && !leaves_capture) {
      if (owes_wait_) check(cudaStreamWaitEvent(stream_, left_, 0), "waiting for another stream");
      check(cudaEventRecord(left_, stream_), "recording an event");
      owes_wait_ = true;
    }
    if (owes_wait_ && !is_captured(stream)) {
      check(cudaStreamWaitEvent(stream, left_, 0), "waiting for another stream");
      owes_wait_ = false;
    }
    if (stream != stream_) move_to(stream, !owes_wait_ && !leaves_capture);
  }
  /// The same, but the work does not wait for earlier work.  Work in the two streams must share no data, and must not
  /// contain products or gradients of norms, because the backend has one workspace for products and one count of
  /// blocks.  The last stream need not exist.
  void queue_in_unordered(cudaStream_t stream) {
    if (stream == stream_) return;
    check(cudaSetDevice(device_), "choosing a device");
    move_to(stream, false);
  }
  blas_context const& blas() const { return blas_; }
  fused_blas& fused() { return fused_; }
  cuda::arithmetic arithmetic() const { return arithmetic_; }
  /// The memory for the split factors of products in arithmetic::tf32x3.  This memory is at most 256 MiB for one
  /// product, and less than 768 MiB in all.  Memory plans do not include this memory.
  growing_memory& split_factors() { return split_; }
  /// A number in device memory, in which the blocks of one kernel at a time count themselves (arrives_last in
  /// device/rows.cuh).  It is 0 between kernels.
  unsigned* block_count() { return static_cast<unsigned*>(block_count_.at_least(sizeof(unsigned))); }
  device_memory where() const { return {device_, *staging_}; }

  /// Sets whether repeated work is recorded and replayed; the default is true.
  void record(bool yes) { records_ = yes; }
  bool records() const { return records_; }
  cuda::recordings& recordings() { return recordings_; }

  /// Waits for all work in the stream, and for what this work waits for.
  void synchronize() const { check(cudaStreamSynchronize(stream_), "waiting for the device"); }

 private:
  void move_to(cudaStream_t stream, bool ordered) {
    stream_ = stream;
    blas_.queue_in(stream);
    staging_->queue_in(stream, ordered);
  }
  void close() noexcept {
    staging_ = nullptr;
    blas_ = {};
    if (left_ != nullptr) (void)cudaEventDestroy(left_);
    (void)cudaStreamDestroy(own_);
  }

  int device_;
  cuda::arithmetic arithmetic_;
  cudaStream_t own_ = nullptr, stream_ = nullptr;
  cudaEvent_t left_ = nullptr;  // the end of all work in streams that were left for others
  bool owes_wait_ = false;      // whether the stream was captured when it should have waited for `left_`
  blas_context blas_;
  fused_blas fused_;
  growing_memory split_{most_split_bytes}, block_count_;
  std::unique_ptr<staging> staging_;
  cuda::recordings recordings_;
  bool records_ = true;
};

/// The backend's implementation of triad::replay.
template <class Work>
void do_replay(backend& ex, std::uint64_t key, Work&& work) {
  if (!ex.records() || ex.stream() != ex.own_stream()) return work();
  check(cudaSetDevice(ex.device()), "choosing a device");
  ex.recordings().run(ex.stream(), key, work);
}
inline void do_forget_replays(backend& ex) noexcept { ex.recordings().clear(); }

/// Returns the number of usable devices, or 0 if there is no driver.
inline int device_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

}  // namespace triad::cuda
