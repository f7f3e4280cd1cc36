// Tests a row of a table that is not learned. The row's gradient is set to zero, whatever was added to it.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/fixed_row.hpp"

#include <vector>

#include "tests/catch.hpp"
#include "triad/reference/reference.hpp"

namespace layers_fixed_row_tests {

using namespace triad;

TEST_CASE("what is added to the fixed row is taken back, and to all others stays") {
  reference::backend ex;
  for (index_t fixed : {-1, 0, 2}) {
    CAPTURE(fixed);
    std::vector<double> table{1, 2, 3, 4, 5, 6}, room(64);
    arena scratch(room.data(), room.size() * sizeof(double));
    add_but_row(ex, scratch, tensor<double, dyn, dyn>(table.data(), 3, 2), fixed, [&] {
      for (double& v : table) v += 10;
    });
    for (std::size_t i = 0; i < 6; ++i)
      CHECK(table[i] == static_cast<double>(i + 1) + (static_cast<index_t>(i) / 2 == fixed ? 0 : 10));
    CHECK(scratch.used() == 0);
    CHECK(scratch.peak() == (fixed < 0 ? 0 : 128));  // two numbers and the slack
  }
}

}  // namespace layers_fixed_row_tests
