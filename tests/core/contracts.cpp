// A broken promise is an exception with its sentence and its place; a kept one costs no text.
// SPDX-License-Identifier: Apache-2.0
#include "triad/core/contracts.hpp"

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

constexpr int half_of_even(int n) {
  TRIAD_EXPECTS(n % 2 == 0, "half_of_even: odd");
  return n / 2;
}
static_assert(half_of_even(6) == 3);  // promises are checked where compilers compute, too

}  // namespace core_contracts_tests
