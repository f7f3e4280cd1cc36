// triad-nccl.so: exchanges rows between the GPUs of several processes.  Programs load this library
// (shared/processes/world.hpp).
// SPDX-License-Identifier: Apache-2.0
#include "shared/processes/world.hpp"
#include "triad/parallel/nccl.cuh"

namespace triad::programs {
namespace {

class rows_of_nccl final : public device_rows {
 public:
  rows_of_nccl(process_group& processes, int device, cudaStream_t stream)
      : among_(device, stream, nccl_id::of_all(processes), processes.rank(), processes.size()) {}
  void exchange(int partner, void const* mine, std::size_t sent, void* theirs, std::size_t wanted) override {
    among_.exchange(partner, static_cast<unsigned char const*>(mine), sent, static_cast<unsigned char*>(theirs),
                    wanted);
  }

 private:
  nccl among_;
};

}  // namespace
}  // namespace triad::programs

/// Returns the PCI bus address of the GPU.  NCCL identifies a GPU by the same address.
extern "C" char const* triad_name_of_gpu(int device) {
  static char name[64];
  return cudaDeviceGetPCIBusId(name, sizeof name, device) == cudaSuccess ? name : nullptr;
}
extern "C" triad::programs::device_rows* triad_rows_by_nccl(triad::programs::process_group& processes, int device,
                                                            void* stream) {
  return new triad::programs::rows_of_nccl(processes, device, static_cast<cudaStream_t>(stream));
}
