// Tests the GPU kernels of examples/python, on the stand-in for a GPU.
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "../../examples/python/src/kernels_cuda.cu"
#include "tests/torch_kernels.hpp"

namespace cuda_on_host_torch_tests {

struct memory_on_device {
  std::vector<void*> all;
  void* put(void const* values, std::size_t bytes) {
    all.push_back(nullptr);
    check(cudaMalloc(&all.back(), bytes + 64), "allocating");
    check(cudaMemcpy(all.back(), values, bytes, cudaMemcpyHostToDevice), "copying");
    return all.back();
  }
  void get(void* values, void const* there, std::size_t bytes) const {
    check(cudaDeviceSynchronize(), "waiting");
    check(cudaMemcpy(values, there, bytes, cudaMemcpyDeviceToHost), "copying back");
  }
  ~memory_on_device() {
    for (auto* p : all) (void)cudaFree(p);
  }
};

TEST_CASE("the kernels that Python calls on a GPU are the reference's") {
  memory_on_device memory;
  triad_place place{};
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
  place.stream = stream;
  triad::test::check_torch_kernels(*triad_cuda_kernels_table(), place, memory);
  triad_cuda_kernels_end();
  (void)cudaStreamDestroy(stream);
}

}  // namespace cuda_on_host_torch_tests
