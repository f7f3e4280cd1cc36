// Device memory whose copies are ordered by the stream of a backend.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "triad/core/contracts.hpp"
#include "triad/cuda/device/staging.cuh"

namespace triad::cuda {

/// A device, and the stream of a backend, in which its memory is written and read.  The object is small and can be
/// copied.  The backend must outlive the object.
class device_memory {
 public:
  /// Creates an object without a device, which cannot allocate.
  device_memory() = default;
  device_memory(int device, staging& through) : device_(device), staging_(&through) {}

  void* allocate(std::size_t bytes) const {
    TRIAD_EXPECTS(device_ >= 0,
                  "device_memory: no device, expected one; pass memory_of(backend) where the buffer is made");
    void* p = nullptr;
    use();
    check(cudaMalloc(&p, bytes), "allocating device memory");
    return p;
  }
  void deallocate(void* p) const noexcept {
    if (cudaFree(p) != cudaSuccess)
      (void)cudaGetLastError();  // a destructor must not throw, and the next launch must not report this error
  }
  void zero(void* p, std::size_t bytes) const {
    use();
    check(cudaMemsetAsync(p, 0, bytes, staging_->stream()), "clearing device memory");
  }
  /// Queues the copy after all earlier work in the stream, and returns without waiting.  The caller may change `from`
  /// as soon as the function returns.
  void from_host(void* to, void const* from, std::size_t bytes) const {
    if (bytes == 0) return;
    use();
    staging_->copy(to, from, bytes);
  }
  /// Waits for all earlier work in the stream, and for the copy.
  void to_host(void* to, void const* from, std::size_t bytes) const {
    if (bytes == 0) return;
    use();
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, staging_->stream()), "copying from the device");
    check(cudaStreamSynchronize(staging_->stream()), "waiting for a copy from the device");
  }

 private:
  void use() const { check(cudaSetDevice(device_), "choosing a device"); }

  int device_ = -1;
  staging* staging_ = nullptr;
};

}  // namespace triad::cuda
