// The machines on the cpu backend.
// SPDX-License-Identifier: Apache-2.0
#include "../common/cpu_backend.hpp"
#include "machine_on.hpp"

std::unique_ptr<tree_transforms::machine> tree_transforms::make_on_cpu(options const& o, machine_options const& z) {
  return machine_with(triad::examples::cpu_backend(o.threads), o, z);
}
