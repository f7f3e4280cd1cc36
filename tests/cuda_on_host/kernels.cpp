// Every hook of the CUDA backend in float and in double, compiled for the stand-in. Programs that link this file do not
// compile kernels.
// SPDX-License-Identifier: Apache-2.0
#define TRIAD_CUDA_KERNELS
#define TRIAD_CUDA_KERNELS_IN_DOUBLE
#include "triad/cuda.cuh"
