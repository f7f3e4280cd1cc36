// Tests positions, also at compile time: parents, children, and the blocks of positions that car, cdr and cons copy.
// SPDX-License-Identifier: Apache-2.0
#include "triad/tree/positions.hpp"

#include <set>

#include "tests/catch.hpp"

namespace tree_positions_tests {

using namespace triad;

TEST_CASE("a static tree has its positions and blocks at compile time, and no size") {
  constexpr tree_positions<2, 4> p;
  STATIC_REQUIRE(p.count() == 15);
  STATIC_REQUIRE(p.child(4, 1) == 10);
  STATIC_REQUIRE(p.child_source(0, 0) == 1);
  STATIC_REQUIRE(p.child_source(1, 2) == 6);
  STATIC_REQUIRE(p.child_source(1, 7) == no_position);
  STATIC_REQUIRE(p.cons_source(0).position == no_position);
  STATIC_REQUIRE((p.cons_source(6).argument == 1 && p.cons_source(6).position == 2));
  STATIC_REQUIRE((p.child_block(1, 2).part == 3 && p.child_block(1, 2).whole == 11 && p.child_block(1, 2).size == 4));
  STATIC_REQUIRE((p.place_of(0).above == 0 && p.place_of(0).size == 1 && !p.place_of(0).last));
  STATIC_REQUIRE((p.place_of(8).begin == 7 && p.place_of(8).size == 8 && p.place_of(8).above == 4));
  STATIC_REQUIRE((p.place_of(8).offset == 1 && p.place_of(8).last));
  STATIC_REQUIRE(std::is_empty_v<tree_positions<2, 4>>);
}

TEST_CASE("children, parents, slots and levels agree, whatever the branching and depth") {
  for (index_t b : {2, 3, 5, 9})
    for (index_t d : {1, 2, 3, 4}) {
      tree_positions<> const p(b, d);
      CAPTURE(b, d);
      for (index_t r = 0; r < p.count(); ++r) {
        if (r > 0) REQUIRE(p.child(p.parent(r), p.child_number(r)) == r);
        if (r > 0) REQUIRE(p.level_of(r) == p.level_of(p.parent(r)) + 1);
        REQUIRE((p.level_begin(p.level_of(r)) <= r && r < p.level_begin(p.level_of(r) + 1)));
      }
    }
}

TEST_CASE("places agree with levels, and their sources with the formulas of sources") {
  for (index_t b : {2, 3, 5, 9})
    for (index_t d : {1, 2, 3, 4, b == 2 ? 9 : 5}) {
      tree_positions<> const p(b, d);
      for (index_t r = 0; r < p.count(); ++r) {
        CAPTURE(b, d, r);
        index_t const level = p.level_of(r), begin = p.level_begin(level), size = p.level_size(level);
        auto const at = p.place_of(r);
        REQUIRE((at.begin == begin && at.size == size && at.offset == r - begin && at.last == (level + 1 == d)));
        REQUIRE(at.above == (level > 0 ? p.level_size(level - 1) : 0));
        for (index_t c = 0; c < b; ++c) {
          index_t const below = p.level_begin(level + 1) + c * size + r - begin;
          REQUIRE(p.child_source(c, at) == (level + 1 < d ? below : no_position));
        }
        auto const from = p.cons_source(at);
        if (level == 0) {
          REQUIRE((from.argument == 0 && from.position == no_position));
        } else {
          index_t const above = p.level_size(level - 1);
          REQUIRE(from.argument == (r - begin) / above);
          REQUIRE(from.position == p.level_begin(level - 1) + (r - begin) % above);
        }
      }
    }
}

TEST_CASE("the source of a position under a child is found by descending beside it") {
  for (index_t b : {2, 3, 5})
    for (index_t d : {1, 2, 4}) {
      tree_positions<> const p(b, d);
      CAPTURE(b, d);
      for (index_t c = 0; c < b; ++c) {
        // The law of child_source: source(root) is child c of the root, and source(child k of r) is child k of
        // source(r).
        REQUIRE(p.child_source(c, 0) == (d > 1 ? 1 + c : no_position));
        for (index_t r = 0; r < p.count(); ++r)
          for (index_t k = 0; k < b && p.child(r, k) < p.count(); ++k) {
            index_t const expected = p.child(p.child_source(c, r), k);
            REQUIRE(p.child_source(c, p.child(r, k)) == (expected < p.count() ? expected : no_position));
          }
      }
    }
}

TEST_CASE("cons takes every position below the root from one argument, and undoes child") {
  for (index_t b : {2, 3, 5})
    for (index_t d : {1, 2, 4}) {
      tree_positions<> const p(b, d);
      std::set<index_t> taken;
      for (index_t r = 1; r < p.count(); ++r) {
        auto const part = p.cons_source(r);
        CAPTURE(b, d, r);
        REQUIRE(p.child_source(part.argument, part.position) == r);
        taken.insert(part.argument * p.count() + part.position);
      }
      CHECK(static_cast<index_t>(taken.size()) == p.count() - 1);
      CHECK(p.cons_source(0).position == no_position);
    }
}

TEST_CASE("blocks say level by level what sources say position by position") {
  tree_positions<3, dyn> const p(3, 4);
  for (index_t c = 0; c < 3; ++c)
    for (index_t level = 0; level < 3; ++level) {
      auto const block = p.child_block(c, level);
      for (index_t i = 0; i < block.size; ++i) REQUIRE(p.child_source(c, block.part + i) == block.whole + i);
    }
}

template <index_t Longest>
void check_runs() {
  for (index_t b : {2, 3, 5})
    for (index_t d : {1, 2, 3, 5}) {
      tree_positions<> const p(b, d);
      tree_runs<Longest> const runs(p);
      CAPTURE(b, d, Longest);
      REQUIRE(runs.count() == 1 + b * runs.below_child());
      std::set<index_t> seen;
      for (index_t i = 0; i < runs.count(); ++i) {
        auto const run = runs(i);
        REQUIRE((1 <= run.size && run.size <= Longest));
        auto const from = p.cons_source(run.begin);
        REQUIRE(from.argument == (i == 0 ? 0 : (i - 1) / runs.below_child()));
        for (index_t q = run.begin; q < run.begin + run.size; ++q) {
          seen.insert(q);
          REQUIRE(p.level_of(q) == p.level_of(run.begin));
          REQUIRE(p.cons_source(q).argument == from.argument);
          if (i > 0) REQUIRE(p.cons_source(q).position == from.position + q - run.begin);
          for (index_t c = 0; c < b; ++c) {
            index_t const to = p.child_source(c, run.begin);
            REQUIRE(p.child_source(c, q) == (to == no_position ? no_position : to + q - run.begin));
          }
        }
      }
      index_t total = 0;
      for (index_t i = 0; i < runs.count(); ++i) total += runs(i).size;
      CHECK(static_cast<index_t>(seen.size()) == p.count());
      CHECK((total == p.count() && *seen.begin() == 0 && *seen.rbegin() == p.count() - 1));
    }
}

TEST_CASE("runs have every position once, and are moved as a whole") {
  check_runs<1>();
  check_runs<2>();
  check_runs<7>();
  check_runs<32>();
}

TEST_CASE("runs are as few as their length allows") {
  tree_runs<32> const runs(tree_positions<>(2, 10));  // below a child: 1, 1, 1, 1, 1, 1, 2, 4 and 8 runs
  CHECK(runs.below_child() == 20);
  CHECK(runs.count() == 41);
  CHECK((runs(0).begin == 0 && runs(0).size == 1));
  CHECK((runs(20).begin == 511 + 224 && runs(20).size == 32));
  CHECK((runs(21).begin == 2 && runs(21).size == 1));
  CHECK((runs(40).begin == 991 && runs(40).size == 32));
}

TEST_CASE("a shape that is none, or that cannot be numbered, is refused") {
  CHECK_THROWS_AS(tree_positions<>(1, 3), contract_violation);
  CHECK_THROWS_AS(tree_positions<>(2, 0), contract_violation);
  CHECK_THROWS_AS(tree_positions<>(2, 63), contract_violation);
  CHECK_THROWS_AS((tree_positions<2, 4>(2, 5)), contract_violation);
  CHECK_NOTHROW(tree_positions<>(2, 40));
}

}  // namespace tree_positions_tests
