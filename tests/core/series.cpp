// Tests that the pieces of a series do not overlap, cover all of the series' memory, and can be found by their slot.
// SPDX-License-Identifier: Apache-2.0
#include "triad/core/series.hpp"

#include "tests/catch.hpp"
#include "triad/core/buffer.hpp"

namespace core_series_tests {

using namespace triad;

TEST_CASE("pieces of a series lie one after the other and come back by their slot") {
  auto const plan = [](arena& place) { return place.make<vec<float>>(20); };
  auto const bytes = planned_bytes([&](arena& place) { (void)plan_series(place, plan, 3); });
  buffer<> const memory(bytes);
  auto place = memory.place();
  auto const pieces = plan_series(place, plan, 3);
  CHECK(place.used() == bytes);
  for (index_t k = 0; k < 6; ++k) pieces.at(k)(19) = static_cast<float>(k);
  for (index_t k = 0; k < 3; ++k) CHECK(pieces.at(k)(19) == static_cast<float>(k + 3));
  CHECK(pieces.at(4).data_handle() == pieces.at(1).data_handle());
}

TEST_CASE("pieces of different sizes take slots of the largest, and do not overlap") {
  auto const size = [](index_t k) { return index_t{10} + 20 * (k % 2) + 5 * (k / 2); };  // 10, 30, 15
  auto const plan = [=](arena& place, index_t k) { return place.make<vec<float>>(size(k)); };
  buffer<> const memory(planned_bytes([&](arena& place) { (void)plan_series(place, plan, 3); }));
  auto place = memory.place();
  auto const pieces = plan_series(place, plan, 3);
  static_assert(decltype(pieces)::by_index);
  CHECK(pieces.stride == 192);  // 30 numbers and the slack take 184 bytes, rounded up to a cache line
  for (index_t k = 0; k < 3; ++k) {
    REQUIRE(pieces.at(k).extent(0) == size(k));
    for (index_t i = 0; i < size(k); ++i) pieces.at(k)(i) = static_cast<float>(100 * k + i);
  }
  for (index_t k = 0; k < 3; ++k)
    for (index_t i = 0; i < size(k); ++i) REQUIRE(pieces.at(k)(i) == static_cast<float>(100 * k + i));
}

TEST_CASE("two slots serve many pieces in turn, and no slot serves none") {
  auto const plan = [](arena& place) { return place.make<vec<char>>(1); };
  arena measure;
  auto const turns = plan_series(measure, plan, 9, 2);
  CHECK(measure.used() == 2 * turns.stride);
  CHECK(turns.at(8).data_handle() == nullptr);
  CHECK_THROWS_WITH(plan_series(measure, plan, 0).at(0), test::contains("series: piece 0 of 0 slots, expected"));
  CHECK_THROWS_AS(turns.at(-1), contract_violation);
}

}  // namespace core_series_tests
