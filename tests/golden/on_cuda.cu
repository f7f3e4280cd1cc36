// The checks of every kind on the CUDA backend, in float. nvcc compiles this file. In builds without nvcc, a host
// compiler compiles it with the stand-in for a GPU.
// SPDX-License-Identifier: Apache-2.0
#include "families.hpp"
#include "runner.hpp"
#include "triad/cuda.cuh"

void triad::golden::check_on_cuda(golden_file const& file, report& r) {
  if (!file.single()) return check_on_cuda_in_double(file, r);
  cuda::backend ex;
  check_file_in<float>(ex, file, r);
}
