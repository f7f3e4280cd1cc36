// Tests that sizes are checked before they are used, and that the error message has the wrong number.
// SPDX-License-Identifier: Apache-2.0
#include "triad/core/sizes.hpp"

#include <limits>
#include <string>

#include "tests/catch.hpp"

namespace core_sizes_tests {

using namespace triad;
using test::contains;

constexpr index_t huge = std::numeric_limits<index_t>::max();

TEST_CASE("a size that no type knows is from 1 to its bound") {
  CHECK(checked_size("layer", {"width", 1}) == 1);
  CHECK(checked_size("layer", {"width", largest_size}) == largest_size);
  CHECK(checked_size("layer", {"layers", 5, 5}) == 5);
  for (index_t bad : {index_t{-16}, index_t{0}, largest_size + 1, huge})
    CHECK_THROWS_WITH(checked_size("layer", {"width", bad}),
                      "layer: width is " + std::to_string(bad) + ", expected 1 to 2147483647");
  CHECK_THROWS_WITH(checked_size("layer", {"layers", 6, 5}), "layer: layers is 6, expected 1 to 5");
  CHECK_THROWS_WITH(checked_size("layer", {"width", not_given}),
                    "layer: width was not given, expected 1 to 2147483647");
}

TEST_CASE("a size that the type knows may be left out, and no other is taken") {
  CHECK(extents_of<64>("layer", {"width", not_given}).extent(0) == 64);
  CHECK(extents_of<64>("layer", {"width", 64}).extent(0) == 64);
  CHECK(extents_of<dyn>("layer", {"width", 32}).extent(0) == 32);
  CHECK_THROWS_WITH(extents_of<64>("layer", {"width", 32}),
                    "layer: width is 32, expected 64, the size in the type; leave it out, or give the same");
  CHECK_THROWS_AS(extents_of<64>("layer", {"width", 0}), contract_violation);
  auto const both = extents_of<dyn, 4>("layer", {"labels", 7}, {"width", not_given});
  CHECK((both.extent(0) == 7 && both.extent(1) == 4));
}

TEST_CASE("heads divide the width, and are one by default") {
  CHECK((width_and_heads<dyn, dyn>("layer", 6, not_given)).extent(1) == 1);
  CHECK((width_and_heads<8, 4>("layer", not_given, not_given)).extent(1) == 4);
  CHECK_THROWS_WITH((width_and_heads<dyn, dyn>("layer", 6, 4)),
                    "layer: heads are 4 and width is 6, expected heads that divide the width");
  CHECK_THROWS_WITH((width_and_heads<8, 4>("layer", not_given, 2)),
                    contains("heads is 2, expected 4, the size in the type"));
  for (index_t bad : {index_t{-1}, index_t{0}, huge})
    CHECK_THROWS_AS((width_and_heads<dyn, dyn>("layer", 8, bad)), contract_violation);
}

TEST_CASE("a rate of dropout is at least 0 and below 1") {
  for (double good : {0.0, 0.5, 0.999}) CHECK(dropout_rate("layer", good) == good);
  for (double bad :
       {1.0, 7.0, -1.0, -1e-9, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    CHECK_THROWS_WITH(dropout_rate("layer", bad), contains("expected at least 0 and below 1"));
}

TEST_CASE("a product that is too large for an index is refused with both factors") {
  CHECK(checked_product("layer", "rows", 1 << 20, 1 << 20) == index_t{1} << 40);
  CHECK(checked_product("layer", "rows", 0, huge) == 0);
  CHECK_THROWS_WITH(checked_product("layer", "rows and columns", index_t{1} << 40, index_t{1} << 30),
                    "layer: rows and columns are 1099511627776 times 1073741824, expected a product below 2^63");
}

}  // namespace core_sizes_tests
