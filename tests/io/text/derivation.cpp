// Tests derivations, which are stored as flat trees.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/text/derivation.hpp"

#include <vector>

#include "tests/catch.hpp"

namespace io_derivation_tests {

using triad::text::derivation;

TEST_CASE("a derivation knows the children of each application, in their order") {
  derivation d;
  CHECK(d.size() == 0);
  int const top = d.add(7, -1, 0), left = d.add(3, top, 0), below = d.add(3, left, 1), right = d.add(5, top, 1);
  CHECK(d.size() == 4);
  CHECK(d.children() == std::vector<std::vector<int>>{{left, right}, {below}, {}, {}});
  CHECK(d.slot == std::vector<int>{0, 0, 1, 1});
  derivation same;
  same.add(7, -1, 0), same.add(3, 0, 0), same.add(3, 1, 1);
  CHECK_FALSE(same == d);
  same.add(5, 0, 1);
  CHECK(same == d);
}

TEST_CASE("a node stands below one that is there, and only the first below none") {
  derivation d;
  CHECK_THROWS_AS(d.add(0, 0, 0), triad::contract_violation);
  d.add(0, -1, 0);
  CHECK_THROWS_AS(d.add(0, -1, 0), triad::contract_violation);
  CHECK_THROWS_AS(d.add(0, 1, 0), triad::contract_violation);
  CHECK(d.size() == 1);
}

}  // namespace io_derivation_tests
