// The checks of every kind on the cpu backend.
// SPDX-License-Identifier: Apache-2.0
#include "families.hpp"
#include "runner.hpp"
#include "triad/cpu/cpu.hpp"

void triad::golden::check_on_cpu(golden_file const& file, report& r) {
  cpu::backend ex;
  check_file(ex, file, r);
}
