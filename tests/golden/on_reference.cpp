// The checks of every kind on the reference backend.
// SPDX-License-Identifier: Apache-2.0
#include "families.hpp"
#include "runner.hpp"
#include "triad/reference/reference.hpp"

void triad::golden::check_on_reference(golden_file const& file, report& r) {
  reference::backend ex;
  check_file(ex, file, r);
}
