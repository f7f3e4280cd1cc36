// The CUDA backend: every operation, for nvcc.
// SPDX-License-Identifier: Apache-2.0
// With TRIAD_CUDA_KERNELS, what launches its kernels is only declared: another unit of the program has compiled them.
#pragma once

#include "triad/cuda/backend.cuh"

// TRIAD_CUDA_KERNELS, for float, and TRIAD_CUDA_KERNELS_IN_DOUBLE, which few need, are `extern` in units that use
// compiled kernels, nothing in the unit that has them, and not defined where each unit compiles its own.
#if defined(TRIAD_CUDA_KERNELS) && defined(TRIAD_CUDA_KERNELS_IN_DOUBLE)
#define TRIAD_HOOK(hook, on_cpu)                                                           \
  TRIAD_CUDA_KERNELS template decltype(triad::cuda::hook<float>) triad::cuda::hook<float>; \
  TRIAD_CUDA_KERNELS_IN_DOUBLE template decltype(triad::cuda::hook<double>) triad::cuda::hook<double>;
#elif defined(TRIAD_CUDA_KERNELS)
#define TRIAD_HOOK(hook, on_cpu) \
  TRIAD_CUDA_KERNELS template decltype(triad::cuda::hook<float>) triad::cuda::hook<float>;
#else
#define TRIAD_HOOK(hook, on_cpu)
#endif
#define TRIAD_OPERATION(name, on_cpu) TRIAD_PATH(cuda, name, cuh)
#include "triad/ops/hooks.inc"
