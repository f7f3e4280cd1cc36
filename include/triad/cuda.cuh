// Includes the CUDA backend with every operation; needs nvcc.
// SPDX-License-Identifier: Apache-2.0
// If TRIAD_CUDA_KERNELS is defined, functions that launch kernels are only declared: another unit of the program has
// compiled the kernels.
#pragma once

#include "triad/cuda/backend.cuh"

// TRIAD_CUDA_KERNELS is for float; TRIAD_CUDA_KERNELS_IN_DOUBLE is for double, which few programs need.  Each is
// `extern` in units that use compiled kernels and empty in the unit that compiles them.  It is not defined if each unit
// compiles its own.
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
