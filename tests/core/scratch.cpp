// Tests that planned_scratch() runs the code of the work, but does not compute.
// SPDX-License-Identifier: Apache-2.0
#include "triad/core/scratch.hpp"

#include <type_traits>

#include "tests/catch.hpp"
#include "triad/reference/reference.hpp"

namespace core_scratch_tests {

using namespace triad;

TEST_CASE("scratch is what the work takes at once, and the work only plans") {
  reference::backend ex;
  double untouched = 7;
  auto const bytes = planned_scratch(ex, {}, [&](auto& planner, call const& c) {
    static_assert(!executes<std::remove_reference_t<decltype(planner)>>);
    auto const outer = c.scratch->open();
    (void)c.scratch->make<vec<double>>(8);  // 64 bytes and the slack
    for (int i = 0; i < 3; ++i) {
      auto const inner = c.scratch->open();
      (void)c.scratch->make<vec<double>>(16);
    }
    fill(planner, 0.0, make_vec(&untouched, 1));
  });
  CHECK(bytes == 64 + 128 + 2 * arena_slack);
  CHECK(untouched == 7);
}

}  // namespace core_scratch_tests
