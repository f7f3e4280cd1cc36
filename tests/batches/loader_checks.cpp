// Tests that the error for an invalid capacity or token has the name and the number.
// SPDX-License-Identifier: Apache-2.0
#include "triad/batches/loader_checks.hpp"

#include <vector>

#include "tests/catch.hpp"
#include "triad/core/graphs.hpp"

namespace batches_loader_checks_tests {

using namespace triad;

using test::contains;

TEST_CASE("a capacity that is none is refused with its name and number") {
  CHECK_THROWS_WITH(expect_capacity({{"pairs", 3}, {"rows", (index_t{1} << 60) + 1}}),
                    contains("a loader's capacity: rows is 1152921504606846977"));
  CHECK_NOTHROW(expect_capacity({{"pairs", 0}, {"rows", index_t{1} << 60}}));
}

TEST_CASE("tokens below 0 and samples without room are refused in the name of their loader") {
  std::vector<index_t> const good{0, 4}, bad{3, 1, -2};
  graph_dims const batch{1, 4, 2, 8, 2}, capacity{1, 9, 3, 27, 3};
  CHECK_NOTHROW(detail::expect_pair("it", good, good, true, batch, capacity));
  CHECK_NOTHROW(detail::expect_source("it", good, true, batch, capacity));
  CHECK_THROWS_WITH(detail::expect_pair("it", good, bad, true, batch, capacity),
                    contains("it: token 2 of a sequence is -2"));
  CHECK_THROWS_WITH(detail::expect_source("it", bad, true, batch, capacity), contains("it: token 2 of a sequence"));
  CHECK_THROWS_WITH(detail::expect_pair("it", good, good, false, batch, capacity),
                    contains("it: a pair of 2 and 2 tokens and their ends does not fit: the batch has 1 graphs"));
  CHECK_THROWS_WITH(detail::expect_source("it", good, false, batch, capacity),
                    contains("it: a source of 2 tokens and its end does not fit"));
}

}  // namespace batches_loader_checks_tests
