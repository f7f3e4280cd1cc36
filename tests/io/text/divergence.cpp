// Tests the divergence between two sets of examples. The expected values were computed by hand.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/text/divergence.hpp"

#include <cmath>

#include "tests/catch.hpp"

namespace io_divergence_tests {

using namespace triad::text;

TEST_CASE("divergences by hand") {
  // P = (1/4, 3/4, 0), Q = (1/4, 1/4, 1/2).  alpha 1/2: C = 1/4 + sqrt(3)/4.  alpha 0.1: C = 1/4 + 3^0.1 / 4.
  item_table const table{{{{0, 1}, {1, 3}}, {{0, 2}, {1, 2}, {2, 4}}, {{2, 5}}, {{0, 7}}}, 3};
  CHECK_THAT(divergence_of(table, {0}, {1}, 0.5), triad::test::WithinRel(0.75 - std::sqrt(3.0) / 4, 1e-6));
  CHECK_THAT(divergence_of(table, {0}, {1}, 0.1), triad::test::WithinRel(0.75 - std::pow(3.0, 0.1) / 4, 1e-6));
  CHECK_THAT(divergence_of(table, {1}, {0}, 0.1), triad::test::WithinRel(0.75 - std::pow(3.0, 0.9) / 4, 1e-6));
  CHECK_THAT(divergence_of(table, {0}, {0}, 0.1), triad::test::WithinAbs(0, 1e-12));
  CHECK(divergence_of(table, {0}, {2}, 0.5) == 1);
  CHECK(divergence_of(table, {}, {2}, 0.5) == 1);
  // For only the examples 0 and 3, P is (8/11, 3/11).
  divergence d(3, 0.1);
  d.change(side::train, table.of[0]);
  d.change(side::test, table.of[1]);
  CHECK_THAT(
      d.value_with(side::train, table.of[3]),
      triad::test::WithinRel(
          1 - std::pow(8.0 / 11, 0.1) * std::pow(0.25, 0.9) - std::pow(3.0 / 11, 0.1) * std::pow(0.25, 0.9), 1e-6));
  d.change(side::train, table.of[3]);
  CHECK_THAT(d.value(), triad::test::WithinRel(divergence_of(table, {0, 3}, {1}, 0.1), 1e-6));
  CHECK_THAT(d.value_with(side::test, table.of[2]),
             triad::test::WithinRel(divergence_of(table, {0, 3}, {1, 2}, 0.1), 1e-6));
  d.change(side::train, table.of[3], -1);
  CHECK_THAT(d.value(), triad::test::WithinRel(divergence_of(table, {0}, {1}, 0.1), 1e-6));
  d.change(side::train, table.of[0], -1);
  CHECK(d.value() == 1);
}

}  // namespace io_divergence_tests
