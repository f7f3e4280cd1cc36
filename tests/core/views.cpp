// Views of views: slices.
// SPDX-License-Identifier: Apache-2.0
#include "triad/core/views.hpp"

#include <numeric>
#include <type_traits>
#include <vector>

#include "tests/catch.hpp"

using namespace triad;

TEST_CASE("a slice is the k-th view of those that a view holds, with its static extents") {
  std::vector<int> values(2 * 3 * 4);
  std::iota(values.begin(), values.end(), 0);
  tensor<int, dyn, dyn, 4> const all(values.data(), 2, 3);
  auto const second = slice(all, 1);
  static_assert(std::is_same_v<decltype(second), tensor<int, dyn, 4> const>);
  REQUIRE(second.extent(0) == 3);
  for (index_t i = 0; i < 3; ++i)
    for (index_t j = 0; j < 4; ++j) CHECK(second(i, j) == all(1, i, j));
  auto const row = slice(read_only(second), 2);
  static_assert(std::is_same_v<decltype(row), tensor<int const, 4> const>);
  CHECK(row(3) == all(1, 2, 3));
}

TEST_CASE("a slice of a view without memory has none") {
  auto const none = slice(tensor<double, dyn, dyn, dyn>(nullptr, 5, 0, 3), 4);
  CHECK(none.data_handle() == nullptr);
  CHECK(none.extent(0) == 0);
  CHECK(none.extent(1) == 3);
}
