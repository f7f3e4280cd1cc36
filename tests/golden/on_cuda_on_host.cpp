// Every kind on the CUDA backend, its kernels run by the host.
// SPDX-License-Identifier: Apache-2.0
#include "triad/cuda.cuh"

#include "families.hpp"
#include "runner.hpp"

void triad::golden::check_on_cuda_on_host(golden_file const& file, report& r) {
  cuda::backend ex;
  check_file(ex, file, r);
}
