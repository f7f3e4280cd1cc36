// Tests paths that are stored in 64 bits: they are exact up to the documented depth, ordered by level, and equal to
// positions where both exist.
// SPDX-License-Identifier: Apache-2.0
#include "triad/tree/paths.hpp"

#include "tests/catch.hpp"
#include "triad/core/random.hpp"
#include "triad/tree/positions.hpp"
#include "triad/tree/s_expression.hpp"

namespace tree_paths_tests {

using namespace triad;

TEST_CASE("a code is known at compile time, and for two children it is the position and one") {
  constexpr role_paths two(2);
  STATIC_REQUIRE(two.child(two.child(root_role, 1), 0) == 0b110);
  STATIC_REQUIRE(two.in_child(1, 0b110) == 0b10);
  STATIC_REQUIRE(two.in_child(0, 0b110) == no_role);
  STATIC_REQUIRE(two.in_child(1, root_role) == no_role);
  STATIC_REQUIRE(two.under(1, 0b10) == 0b110);
  STATIC_REQUIRE(two.position(0b110) == 5);
}

TEST_CASE("the depth that fits is the one that is stated") {
  struct row {
    index_t branching, depth;
  };
  for (auto const& r :
       {row{2, 64}, row{3, 32}, row{4, 32}, row{5, 22}, row{8, 22}, row{9, 16}, row{16, 16}, row{17, 13}, row{32, 13}})
    CHECK(role_paths(r.branching).max_depth() == r.depth);
  CHECK_THROWS_AS(role_paths(1), contract_violation);
}

TEST_CASE("going down and up again is exact to the deepest level") {
  random_stream stream(1, 1);
  for (index_t b : {2, 3, 4, 5, 9, 17}) {
    role_paths const p(b);
    std::vector<index_t> steps;
    role_code role = root_role;
    for (index_t level = 1; level < p.max_depth(); ++level) {
      steps.push_back(static_cast<index_t>(stream.below(static_cast<std::uint32_t>(b))));
      role = p.child(role, steps.back());
      REQUIRE(p.level(role) == level);
    }
    CAPTURE(b);
    // From the top: moves to the child of the first step, until only the root is left. From the bottom: moves to the
    // parent.
    role_code from_top = role, rebuilt = root_role;
    for (auto const step : steps) {
      for (index_t other = 0; other < b; ++other)
        if (other != step) REQUIRE(p.in_child(other, from_top) == no_role);
      from_top = p.in_child(step, from_top);
    }
    CHECK(from_top == root_role);
    for (auto at = steps.rbegin(); at != steps.rend(); ++at) rebuilt = p.under(*at, rebuilt);
    CHECK(rebuilt == role);
    for (auto at = steps.rbegin(); at != steps.rend(); ++at, role = p.parent(role))
      REQUIRE(p.child_number(role) == *at);
    CHECK(role == root_role);
  }
}

TEST_CASE("codes and positions are two names of one place, in the same order") {
  for (index_t b : {2, 3, 5}) {
    role_paths const paths(b);
    tree_positions<> const positions(b, 4);
    for (index_t r = 0; r < positions.count(); ++r) {
      auto const role = paths.at_position(r);
      REQUIRE(paths.position(role) == r);
      REQUIRE(paths.level(role) == positions.level_of(r));
      if (r > 0) REQUIRE(paths.at_position(r - 1) < role);
      for (index_t c = 0; c < b; ++c) {
        auto const from = positions.child_source(c, r);
        if (from != no_position) REQUIRE(paths.under(c, role) == paths.at_position(from));
        if (from != no_position) REQUIRE(paths.in_child(c, paths.at_position(from)) == role);
      }
    }
  }
}

TEST_CASE("a path reads from the root down") {
  role_paths const paths(3);
  CHECK(path_text(paths, root_role) == "root");
  CHECK(path_text(paths, paths.child(paths.child(root_role, 0), 2)) == "root.0.2");
  auto const t = parse_tree("( A ( B C D ) ( E F ) )");
  CHECK(path_text(t, 0) == "root");
  CHECK(path_text(t, 3) == "root.0.1");
  CHECK(path_text(t, 5) == "root.1.0");
}

}  // namespace tree_paths_tests
