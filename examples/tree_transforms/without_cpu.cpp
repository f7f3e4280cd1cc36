// In place of on_cpu.cpp, where there is no BLAS.
// SPDX-License-Identifier: Apache-2.0
#include "machine.hpp"

std::unique_ptr<tree_transforms::machine> tree_transforms::make_on_cpu(options const&, machine_options const&) {
  triad::examples::built_without_cpu("tree-transforms");
}
