// The backends on which typed tests run. They are the backends of the host, or, in a separate program with
// TRIAD_TEST_ON_CUDA, the device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/cpu/cpu.hpp"
#include "triad/reference/reference.hpp"
#if defined(TRIAD_TEST_ON_CUDA)
#include "triad/cuda.cuh"
#endif

namespace triad::test {

/// A backend and the type in which it computes.
template <class Ex, class T>
struct typed {
  using backend = Ex;
  using scalar = T;
};

/// True if Ex computes on a device. A device adds numbers in another order than the host. Kernels on a device cannot
/// throw, so an index outside of its table gives NaN.
template <class Ex>
inline constexpr bool is_device = false;

#if defined(TRIAD_TEST_ON_CUDA)
/// The CUDA backend in memory that host and device share. Tests read and write this memory directly, and do not wait
/// for kernels. On the stand-in for a GPU, settings allow this (cuda_on_host/typed_main.cpp). On a real device,
/// cuda/pinned_new.cpp allocates memory for this.
struct on_device : triad::cuda::backend {
  using memory = host_memory;
  on_device() { record(false); }  // replayed graphs would require waiting, and tests do not wait
  triad::cuda::device_memory where() const = delete;
};
template <>
inline constexpr bool is_device<on_device> = true;
#endif

}  // namespace triad::test

#if defined(TRIAD_TEST_ON_CUDA)
#define TRIAD_TEST_BACKENDS triad::test::on_device
#define TRIAD_TEST_ONE_BACKEND triad::test::on_device
#define TRIAD_TEST_BACKENDS_BY_PRECISION \
  (triad::test::typed<triad::test::on_device, double>), (triad::test::typed<triad::test::on_device, float>)
#define TRIAD_TEST_TYPES TRIAD_TEST_BACKENDS_BY_PRECISION
#else
#define TRIAD_TEST_BACKENDS triad::reference::backend, triad::cpu::backend
#define TRIAD_TEST_ONE_BACKEND triad::cpu::backend
#define TRIAD_TEST_BACKENDS_BY_PRECISION \
  (triad::test::typed<triad::reference::backend, double>), (triad::test::typed<triad::cpu::backend, float>)
#define TRIAD_TEST_TYPES TRIAD_TEST_BACKENDS_BY_PRECISION, (triad::test::typed<triad::cpu::backend, double>)
#endif

#if defined(TRIAD_TEST_ON_CUDA)
#include "tests/device_gradient.hpp"  // defines gradient_check(ex, ...) for a device
#endif
