// In place of on_cuda.cu, where programs are not compiled for GPUs.
// SPDX-License-Identifier: Apache-2.0
#include "machine.hpp"

std::unique_ptr<tree_transforms::machine> tree_transforms::make_on_cuda(options const&, machine_options const&) {
  triad::examples::built_without_cuda("tree-transforms");
}
