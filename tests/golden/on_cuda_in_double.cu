// The checks of every kind on the CUDA backend, in double. These checks are in a separate file, because nvcc takes
// minutes for each file.
// SPDX-License-Identifier: Apache-2.0
#include "families.hpp"
#include "runner.hpp"
#include "triad/cuda.cuh"

void triad::golden::check_on_cuda_in_double(golden_file const& file, report& r) {
  cuda::backend ex;
  check_file_in<double>(ex, file, r);
}
