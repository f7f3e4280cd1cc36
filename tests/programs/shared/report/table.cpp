// Tests tables of text.
// SPDX-License-Identifier: Apache-2.0
#include "shared/report/table.hpp"

#include "tests/catch.hpp"

namespace programs_table_tests {

TEST_CASE("a table aligns its columns by characters") {
  auto const text = triad::programs::text_table({"k", "ours"}).row({"6", "0.98 ± 0.01"}).row({"10", "0.9"}).text();
  CHECK(text ==
        "k          ours\n"
        "---------------\n"
        "6   0.98 ± 0.01\n"
        "10          0.9\n");
}

}  // namespace programs_table_tests
