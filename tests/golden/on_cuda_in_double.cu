// The checks of every kind on the CUDA backend, in double. It is a file of its own, because nvcc takes minutes for
// each.
// SPDX-License-Identifier: Apache-2.0
#include "families.hpp"
#include "runner.hpp"
#include "triad/cuda.cuh"

void triad::golden::check_on_cuda_in_double(golden_file const& file, report& r) {
  cuda::backend ex;
  check_file_in<double>(ex, file, r);
}
