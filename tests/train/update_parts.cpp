// Tests the allowed order of calls in an update in parts.
// SPDX-License-Identifier: Apache-2.0
#include "triad/train/update_parts.hpp"

#include <cstdint>
#include <set>

#include "tests/catch.hpp"

namespace train_update_parts_tests {

using namespace triad;
using test::contains;

TEST_CASE("an update of one share is its parts, whose fractions sum to one") {
  update_parts at({});
  at.expect_none();
  CHECK_THROWS_WITH(at.expect_all(1), contains("finish() of no update, expected accumulate() before it"));
  for (double const bad : {-0.1, 1.5}) CHECK_THROWS_WITH(at.expect_part(bad), contains("expected 0 to 1"));
  CHECK((at.is_first() && at.number() == 0));
  at.expect_part(0.25);
  at.add(0.25);
  CHECK((!at.is_first() && at.number() == 1 && !at.in_share()));
  CHECK_THROWS_WITH(at.expect_none(), contains("finish() it first"));
  CHECK_THROWS_WITH(at.expect_all(1), contains("sum to 0.250000, expected 1"));
  CHECK_NOTHROW(at.expect_all(2));  // another process may compute the other parts
  at.add(0.75);
  CHECK_NOTHROW(at.expect_all(1));
  at.add(0.5);
  for (int const processes : {1, 2})
    CHECK_THROWS_WITH(at.expect_all(processes), contains("sum to 1.500000, expected 1"));
  at.forget();
  at.expect_none();
  at.add(0);  // a batch without questions
  CHECK_NOTHROW(at.expect_all(1));
}

TEST_CASE("shares are begun in their order, and every part of all processes has a number of its own") {
  std::set<std::uint32_t> numbers;
  for (int const rank : {0, 1}) {
    update_parts at(shares_of(4, rank, 2));
    CHECK_THROWS_WITH(at.expect_part(0.1), contains("a part outside of any share"));
    for (auto s = at.shares().first; s < at.shares().last; ++s) {
      CHECK_THROWS_WITH(at.expect_share(s + 1), contains("in order, once an update"));
      at.expect_share(s);
      at.begin(s);
      CHECK((at.in_share() && at.in_first_share() == (s == at.shares().first) && at.is_first()));
      for (int part = 0; part < 3; ++part) {
        at.expect_part(1.0 / 12);
        CHECK(numbers.insert(at.number()).second);
        at.add(1.0 / 12);
      }
      if (s + 1 < at.shares().last) CHECK_THROWS_WITH(at.expect_all(2), contains("the last share of this process"));
      at.end_share();
      CHECK(at.is_first());
    }
    CHECK_NOTHROW(at.expect_all(2));
    CHECK_THROWS_WITH(at.expect_none(), contains("finish() it first"));
    at.forget();
    at.expect_none();
  }
  CHECK(numbers.size() == 12);
}

}  // namespace train_update_parts_tests
