// The backends that typed tests run on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/cpu/cpu.hpp"
#include "triad/reference/reference.hpp"

#define TRIAD_TEST_BACKENDS triad::reference::backend, triad::cpu::backend
#define TRIAD_TEST_BACKENDS_BY_PRECISION (triad::test::typed<triad::reference::backend, double>), (triad::test::typed<triad::cpu::backend, float>)
#define TRIAD_TEST_TYPES TRIAD_TEST_BACKENDS_BY_PRECISION, (triad::test::typed<triad::cpu::backend, double>)

namespace triad::test {

/// A backend and the type it computes in.
template <class Ex, class T>
struct typed {
  using backend = Ex;
  using scalar = T;
};

}  // namespace triad::test
