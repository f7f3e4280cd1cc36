// Tests that a constant table is copied to the device only once and keeps its address.
// SPDX-License-Identifier: Apache-2.0
#include "triad/batches/constant_table.hpp"

#include <vector>

#include "tests/batches/counting_memory.hpp"
#include "tests/catch.hpp"

namespace batches_constant_table_tests {

using namespace triad;

using test::counting_memory;

TEST_CASE("a table is copied once, as the type it is kept as") {
  int copies = 0;
  constant_table<float, counting_memory> const table(std::vector<double>{0.5, 1, 1.5, 2, 2.5, 3}, 3, {{}, &copies});
  CHECK(copies == 1);
  auto const view = table.view();
  REQUIRE((view.extent(0) == 2 && view.extent(1) == 3));
  CHECK((view(0, 0) == 0.5f && view(1, 2) == 3.0f));
  CHECK(constant_table<float, host_memory>(std::vector<double>{}, 0, {}).view().extent(0) == 0);
}

}  // namespace batches_constant_table_tests
