// Includes the CUDA backend with every operation.  Must be compiled with nvcc.
// SPDX-License-Identifier: Apache-2.0
// If TRIAD_CUDA_KERNELS is defined as `extern`, this header only declares the functions that launch kernels.  Another
// translation unit of the program then compiles the kernels.
#pragma once

#include "triad/cuda/backend.cuh"

// TRIAD_CUDA_KERNELS is for float.  TRIAD_CUDA_KERNELS_IN_DOUBLE is for double, which few programs need.  In the unit
// that compiles the kernels, the macros are empty.  In units that use the compiled kernels, the macros are `extern`.
// If neither macro is defined, each unit compiles its own kernels.
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
