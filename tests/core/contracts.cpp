// Tests that a broken contract throws an exception with its sentence and source location, and that no text is made
// otherwise.
// SPDX-License-Identifier: Apache-2.0
#include "triad/core/contracts.hpp"

#include <utility>

#include "tests/catch.hpp"

namespace core_contracts_tests {

TEST_CASE("a broken promise throws its sentence, the file and the line") {
  int const line = __LINE__ + 1;
  CHECK_THROWS_WITH(TRIAD_EXPECTS(1 > 2, "matmul: 1 is not more than " + std::to_string(2)),
                    "matmul: 1 is not more than 2 (" + std::string(__FILE__) + ":" + std::to_string(line) + ")");
  CHECK_THROWS_AS(TRIAD_EXPECTS(false, "never"), triad::contract_violation);
}

TEST_CASE("the condition is looked at once, and the text is made only where it is thrown") {
  int conditions = 0, texts = 0;
  auto const text = [&] {
    ++texts;
    return std::string("no");
  };
  TRIAD_EXPECTS(++conditions == 1, text());
  CHECK((conditions == 1 && texts == 0));
  CHECK_THROWS_AS(TRIAD_EXPECTS(++conditions == 1, text()), std::logic_error);
  CHECK((conditions == 2 && texts == 1));
}

TEST_CASE("a size that differs is thrown with both numbers and the place of the call") {
  int const line = __LINE__ + 1;
  CHECK_THROWS_WITH(triad::expect_extent("matmul", "rows of b", 4, 3),
                    "matmul: 4 rows of b, expected 3 (" + std::string(__FILE__) + ":" + std::to_string(line) + ")");
  CHECK_NOTHROW(triad::expect_extent("matmul", "rows of b", 3, 3));
  CHECK_NOTHROW(triad::expect_heads("attention", 8, 2));
  for (auto const& [width, heads] : {std::pair(8, 3), {8, 0}, {8, -2}, {0, 2}})
    CHECK_THROWS_WITH(triad::expect_heads("attention", width, heads),
                      triad::test::contains("attention: heads are " + std::to_string(heads) + " and width is " +
                                            std::to_string(width) + ", expected 1 or more heads"));
}

constexpr int half_of_even(int n) {
  TRIAD_EXPECTS(n % 2 == 0, "half_of_even: odd");
  return n / 2;
}
constexpr bool fits(int width, int heads) {
  triad::expect_heads("fits", width, heads);
  triad::expect_extent("fits", "columns", width, 8);
  return true;
}
static_assert(half_of_even(6) == 3 && fits(8, 2));  // contracts are checked in constant expressions, too

}  // namespace core_contracts_tests
