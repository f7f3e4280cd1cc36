// The machines on the reference backend.
// SPDX-License-Identifier: Apache-2.0
#include "machine_on.hpp"
#include "triad/reference/reference.hpp"

std::unique_ptr<tree_transforms::machine> tree_transforms::make_on_reference(options const& o,
                                                                             machine_options const& z) {
  return machine_with(triad::reference::backend{}, o, z);
}
