// The backends that typed tests run on: the host's, or, in the programs built with the stand-in for a GPU, CUDA's.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(TRIAD_CUDA_DOUBLE)
#include "triad/cuda.cuh"
#define TRIAD_TEST_BACKENDS triad::cuda::backend
#define TRIAD_TEST_TYPES (triad::test::typed<triad::cuda::backend, float>), (triad::test::typed<triad::cuda::backend, double>)
#define TRIAD_TEST_BACKENDS_BY_PRECISION (triad::test::typed<triad::cuda::backend, double>), (triad::test::typed<triad::cuda::backend, float>)
#else
#include "triad/cpu/cpu.hpp"
#include "triad/reference/reference.hpp"
#define TRIAD_TEST_BACKENDS triad::reference::backend, triad::cpu::backend
#define TRIAD_TEST_TYPES (triad::test::typed<triad::reference::backend, double>), (triad::test::typed<triad::cpu::backend, float>), (triad::test::typed<triad::cpu::backend, double>)
#define TRIAD_TEST_BACKENDS_BY_PRECISION (triad::test::typed<triad::reference::backend, double>), (triad::test::typed<triad::cpu::backend, float>)
#endif

namespace triad::test {

/// A backend and the type it computes in.
template <class Ex, class T>
struct typed {
  using backend = Ex;
  using scalar = T;
};

}  // namespace triad::test
