// The backends that typed tests run on: those of the host, or, with TRIAD_TEST_ON_CUDA in a separate program, the
// device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/cpu/cpu.hpp"
#include "triad/reference/reference.hpp"
#if defined(TRIAD_TEST_ON_CUDA)
#include "triad/cuda.cuh"
#endif

namespace triad::test {

/// A backend and the type it computes in.
template <class Ex, class T>
struct typed {
  using backend = Ex;
  using scalar = T;
};

/// Whether Ex is a device. A device sums in another order, and its kernels cannot throw: an index outside of its table
/// results in NaN.
template <class Ex>
inline constexpr bool is_device = false;

#if defined(TRIAD_TEST_ON_CUDA)
/// The CUDA backend in memory that host and device share. Bodies of tests read and write this memory directly and need
/// not wait for kernels. The stand-in for a device provides it by its settings (cuda_on_host/typed_main.cpp), a real
/// device by cuda/pinned_new.cpp.
struct on_device : triad::cuda::backend {
  using memory = host_memory;
  on_device() { record(false); }  // a test would not wait for a replayed graph
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
#include "tests/device_gradient.hpp"  // on a device, gradient_check(ex, ...) is defined there
#endif
