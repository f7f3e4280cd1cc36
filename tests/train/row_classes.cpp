// Tests the classes of rows, copied to the host.
// SPDX-License-Identifier: Apache-2.0
#include "triad/train/row_classes.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

#include "tests/allocation_count.hpp"
#include "tests/catch.hpp"
#include "triad/cpu/cpu.hpp"

namespace train_row_classes_tests {

using namespace triad;
using test::allocations;

TEST_CASE("the largest logit of a row is its class, the first of equals, and memory is kept") {
  cpu::backend ex(1);
  row_classes classes(ex);
  std::vector<float> const logits{1, 3, 2, 5, 5, 4, -3, -2, -1};
  auto const rows = [&](index_t count) { return make_matrix<float const>(logits.data(), count, 3, 3); };
  CHECK(classes(rows(3)) == std::vector<index_t>{1, 0, 2});
  auto const before = allocations.load();
  CHECK(classes(rows(2)).size() == 2);
  CHECK(classes(rows(3))[2] == 2);
  CHECK(allocations.load() == before);
  CHECK(classes(rows(0)).empty());
}

TEST_CASE("a row with a NaN has no class, and who wants one is told the row") {
  cpu::backend ex(1);
  row_classes classes(ex);
  std::vector<float> const logits{1, 3, 2, std::nanf(""), 5, 4, -3, -2, std::nanf("")};
  auto const rows = make_matrix<float const>(logits.data(), 3, 3, 3);
  CHECK(classes.or_none(rows) == std::vector<index_t>{1, -1, -1});
  CHECK_THROWS_AS(classes(rows), training_failure);
  CHECK_THROWS_WITH(classes(rows), test::contains("classes: a logit of row 1 is nan, expected a number"));
}

}  // namespace train_row_classes_tests
