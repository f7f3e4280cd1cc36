// Sizes are checked before anything is built of them, with the number in the sentence.
// SPDX-License-Identifier: Apache-2.0
#include "triad/core/sizes.hpp"

#include <limits>
#include <string>

#include "tests/catch.hpp"
#include "triad/core/arena.hpp"
#include "triad/core/buffer.hpp"
#include "triad/core/call.hpp"
#include "triad/core/views.hpp"

namespace {

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
                    "layer: width is 64 by the type, and 32 was given; leave it out, or give the same");
  CHECK_THROWS_AS(extents_of<64>("layer", {"width", 0}), contract_violation);
  auto const both = extents_of<dyn, 4>("layer", {"labels", 7}, {"width", not_given});
  CHECK((both.extent(0) == 7 && both.extent(1) == 4));
}

TEST_CASE("heads divide the width, and are one where nobody says") {
  CHECK((width_and_heads<dyn, dyn>("layer", 6, not_given)).extent(1) == 1);
  CHECK((width_and_heads<8, 4>("layer", not_given, not_given)).extent(1) == 4);
  CHECK_THROWS_WITH((width_and_heads<dyn, dyn>("layer", 6, 4)),
                    "layer: width 6 must be a multiple of the heads, which are 4");
  CHECK_THROWS_WITH((width_and_heads<8, 4>("layer", not_given, 2)),
                    contains("heads is 4 by the type, and 2 was given"));
  for (index_t bad : {index_t{-1}, index_t{0}, huge})
    CHECK_THROWS_AS((width_and_heads<dyn, dyn>("layer", 8, bad)), contract_violation);
}

TEST_CASE("a rate of dropout is at least 0 and below 1, also where a layer is used") {
  for (double good : {0.0, 0.5, 0.999}) {
    CHECK(dropout_rate("layer", good) == good);
    CHECK(call{}.dropout(good).rate == 0);
  }
  for (double bad :
       {1.0, 7.0, -1.0, -1e-9, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    CHECK_THROWS_WITH(dropout_rate("layer", bad), contains("expected at least 0 and below 1"));
    CHECK_THROWS_WITH(call{}.dropout(bad), contains("expected at least 0 and below 1"));
  }
}

TEST_CASE("a product that is too large for an index is refused with both factors") {
  CHECK(checked_product("layer", "rows", 1 << 20, 1 << 20) == index_t{1} << 40);
  CHECK(checked_product("layer", "rows", 0, huge) == 0);
  CHECK_THROWS_WITH(checked_product("layer", "rows and columns", index_t{1} << 40, index_t{1} << 30),
                    "layer: rows and columns are 1099511627776 times 1073741824, more than can be numbered");
}

TEST_CASE("a plan whose bytes overflow, or with a size that is none, is refused with its numbers") {
  arena place;
  using square = tensor<float, dyn, dyn>;
  CHECK_THROWS_WITH(place.make<square>(index_t{1} << 32, index_t{1} << 30),
                    contains("4294967296 x 1073741824 values of 4 bytes are more than any memory"));
  CHECK_THROWS_WITH(place.make<square>(huge, huge), contains("more than any memory"));
  CHECK_THROWS_WITH(place.make<vec<double>>(-1), contains("arena: a size is -1, expected 0 or more"));
  CHECK_THROWS_WITH((place.make<tensor<float, dyn, 4>>(5, 3)), contains("a size is 4 by the type, and 3 was given"));
  CHECK_THROWS_WITH(place.make_workspace(~std::size_t{0}), contains("more than any memory"));
  CHECK_THROWS_WITH((void)place.cut(std::size_t{1} << 40, index_t{1} << 31),
                    contains("2147483648 pieces of 1099511627776 bytes are more than any memory"));
  CHECK_THROWS_WITH((void)place.cut(64, -1), contains("-1 pieces"));
  CHECK(place.used() == 0);
  CHECK(place.make<square>(0, huge).size() == 0);

  // No single view is too large, all together are.
  arena many;
  CHECK_NOTHROW(many.make<vec<std::uint8_t>>(index_t{1} << 61));
  CHECK_THROWS_WITH(many.make<vec<std::uint8_t>>(index_t{1} << 61), contains("more than any memory"));
}

TEST_CASE("an arena that is too small says how much is wanted and how much is left, and gives nothing") {
  buffer<> const memory(256);
  auto place = memory.place();
  (void)place.make<vec<float>>(16);
  CHECK_THROWS_WITH(place.make<vec<float>>(100), contains("512 bytes, where 128 of 256 are left"));
  CHECK_THROWS_AS(place.make<vec<float>>(100), arena_too_small);
  CHECK(place.used() == 128);
}

TEST_CASE("memory that the machine has not is refused with the bytes") {
  CHECK_THROWS_WITH(buffer<>(std::size_t{1} << 60), contains("1152921504606846976 bytes of memory were asked for"));
  CHECK_THROWS_AS(buffer<>(std::size_t{1} << 60), std::bad_alloc);
}

TEST_CASE("blocks of rows and columns lie within their matrix") {
  std::vector<double> values(12);
  auto const m = make_matrix(values.data(), 3, 4, 4);
  CHECK(row_block(m, 3, 0).extent(0) == 0);
  CHECK(column_block(m, 1, 3).extent(1) == 3);
  CHECK_THROWS_WITH(row_block(m, 1, 3), contains("row_block: 3 from 1 on are asked for, and there are 3"));
  CHECK_THROWS_WITH(column_block(m, 2, 3), contains("column_block: 3 from 2 on are asked for, and there are 4"));
  for (index_t bad : {index_t{-1}, index_t{5}, huge}) {
    CHECK_THROWS_AS(row_block(m, bad, 1), contract_violation);
    CHECK_THROWS_AS(row_block(m, 1, bad), contract_violation);
    CHECK_THROWS_AS(column_block(m, bad, 1), contract_violation);
    CHECK_THROWS_AS(column_block(m, 1, bad), contract_violation);
  }
}

}  // namespace
