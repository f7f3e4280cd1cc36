// Tests that each call in a model has its own path, and therefore its own dropout mask.
// SPDX-License-Identifier: Apache-2.0
#include "triad/core/call.hpp"

#include <cstdint>
#include <limits>
#include <set>

#include "tests/catch.hpp"

namespace core_call_tests {

using namespace triad;
using test::contains;

void collect(call const& c, int levels, std::set<std::uint64_t>& paths, std::size_t& count) {
  paths.insert(c.path);
  ++count;
  if (levels > 0)
    for (index_t i : {0, 1, 2, 127, 253, 254}) collect(c.child(i), levels - 1, paths, count);
}

TEST_CASE("no two places of a model share a path, whatever their depth") {
  std::set<std::uint64_t> paths;
  std::size_t count = 0;
  collect(call{}, 4, paths, count);
  CHECK(count == 1 + 6 + 36 + 216 + 1296);
  CHECK(paths.size() == count);
}

TEST_CASE("a model of more children or levels than a path can hold is refused") {
  call c;
  CHECK_THROWS_WITH(c.child(255), contains("child 255, expected 0 to 254"));
  CHECK_THROWS_AS(c.child(-1), contract_violation);
  for (int level = 0; level < 8; ++level) c = c.child(254);
  CHECK_THROWS_AS(c.child(0), contract_violation);
}

TEST_CASE("a call drops out in training alone, by its own key, step and path") {
  std::uint64_t const step = 4;
  call c;
  c.key = 9;
  c.step = &step;
  CHECK_FALSE(c.dropout(0.5).active());
  c.train = true;
  auto const mask = c.child(3).dropout(0.5);
  CHECK(mask.rate == 0.5);
  CHECK(mask.key == 9);
  CHECK(mask.path == c.child(3).path);
  CHECK(mask.step == &step);
}

TEST_CASE("a call takes no rate of dropout that is none, also outside training") {
  CHECK(call{}.dropout(0.999).rate == 0);
  for (double bad : {1.0, -1e-9, std::numeric_limits<double>::quiet_NaN()})
    CHECK_THROWS_WITH(call{}.dropout(bad), contains("expected at least 0 and below 1"));
}

TEST_CASE("a layer that needs scratch memory and was given none throws") {
  call c;
  CHECK_THROWS_WITH(c.scratch->used(), contains("call: no scratch memory, expected an arena; set call::scratch"));
  arena measure;
  c.scratch = &measure;
  (void)c.child(0).scratch->make<vec<double>>(8);
  CHECK(measure.used() == 128);  // 64 bytes and the slack
}

}  // namespace core_call_tests
