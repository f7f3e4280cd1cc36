// Tests loops over rows. The loops have sixteen lanes, and the lengths of rows are near multiples of 16. The numbers
// are integers, so sums are exact in any order.
// SPDX-License-Identifier: Apache-2.0
#include "triad/tree/rows.hpp"

#include <vector>

#include "tests/catch.hpp"

namespace tree_rows_tests {

using namespace triad;

TEST_CASE("a product of rows is the sum over every number once, whatever is left behind the lanes") {
  std::vector<double> x, y;
  double squares = 0, odd = 0;
  for (index_t n = 0; n <= 50; ++n) {
    CAPTURE(n);
    CHECK(detail::dot(x.data(), x.data(), n) == squares);  // n (n + 1) (2 n + 1) / 6
    CHECK(squares == static_cast<double>(n * (n + 1) * (2 * n + 1) / 6));
    CHECK(detail::dot(x.data(), y.data(), n) == odd);
    x.push_back(static_cast<double>(n + 1));
    y.push_back(n % 2 == 0 ? 1 : 0);
    squares += x.back() * x.back();
    odd += x.back() * y.back();
  }
}

TEST_CASE("a row is added with its weight, or filled, and what lies behind stays") {
  std::vector<float> const x{1, 2, 3};
  std::vector<float> y{10, 20, 30};
  detail::add_row(-2.0f, x.data(), y.data(), 2);
  CHECK(y == std::vector<float>{8, 16, 30});
  detail::fill_row(y.data(), 1, 5.0f);
  CHECK(y == std::vector<float>{5, 16, 30});
  detail::fill_row(y.data(), 0, 7.0f);
  detail::add_row(7.0f, x.data(), y.data(), 0);
  CHECK(y == std::vector<float>{5, 16, 30});
}

}  // namespace tree_rows_tests
