// The checks of every kind on the CUDA backend, in float. nvcc compiles this file. In builds without nvcc, a host
// compiler compiles it with the stand-in for a GPU.
// SPDX-License-Identifier: Apache-2.0
#include "families.hpp"
#include "runner.hpp"
#include "triad/cuda.cuh"

namespace triad::golden {
namespace {

void check_in(cuda::arithmetic factors, golden_file const& file, report& r) {
  cuda::backend ex(0, factors);
  check_file_in<float>(ex, file, r);
}

}  // namespace

void check_on_cuda(golden_file const& file, report& r) {
  if (!file.single()) return check_on_cuda_in_double(file, r);
  check_in(cuda::arithmetic::float32, file, r);
}
void check_on_cuda_in_tf32(golden_file const& file, report& r) { check_in(cuda::arithmetic::tf32, file, r); }
void check_on_cuda_in_bf16(golden_file const& file, report& r) { check_in(cuda::arithmetic::bf16, file, r); }
void check_on_cuda_in_f16(golden_file const& file, report& r) { check_in(cuda::arithmetic::f16, file, r); }

}  // namespace triad::golden
