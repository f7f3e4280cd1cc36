// Tests which names a misspelt name may stand for.
// SPDX-License-Identifier: Apache-2.0
#include "shared/cli/near_names.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace programs_near_names_tests {

using triad::programs::edit_distance, triad::programs::near_names;
using names = std::vector<std::string>;

TEST_CASE("the distance counts insertions, deletions, replacements and swaps, and is the same from either side") {
  struct {
    char const *a, *b;
    std::size_t distance;
  } const cases[] = {{"", "", 0},
                     {"", "abc", 3},
                     {"epochs", "epochs", 0},
                     {"epoch", "epochs", 1},
                     {"epohcs", "epochs", 1},
                     {"baych", "batch", 1},
                     {"learning_rate", "learning-rate", 1},
                     {"sede", "seeds", 2},
                     {"abcd", "dcba", 3},
                     {"ca", "abc", 3}};
  for (auto const& one : cases) {
    CAPTURE(one.a);
    CHECK(edit_distance(one.a, one.b) == one.distance);
    CHECK(edit_distance(one.b, one.a) == one.distance);
  }
}

TEST_CASE("the nearest names come first, then the only longer one, then the longest shorter one") {
  names const all{"batch", "by", "epochs", "evaluate-every", "label-smoothing", "patience", "seed", "seeds", "warmup"};
  CHECK(near_names("epoch", all) == names{"epochs"});
  CHECK(near_names("evaluate_every", all) == names{"evaluate-every"});
  CHECK(near_names("sed", all) == names{"seed"});
  CHECK(near_names("sseds", all) == names{"seeds"});
  CHECK(near_names("seedd", all) == names{"seed", "seeds"});  // both are as near
  CHECK(near_names("eval", all) == names{"evaluate-every"});
  CHECK(near_names("p", all).empty());
  CHECK(near_names("batch-size", all) == names{"batch"});
  CHECK(near_names("seed-of-data", all) == names{"seed"});
  CHECK(near_names("momentum", all).empty());
  CHECK(near_names("xy", all) == names{"by"});
  CHECK(near_names("rate", {"data", "batch"}).empty());  // two of four characters are too many
  CHECK(near_names("lr", all).empty());
  CHECK(near_names("", all).empty());
  CHECK(near_names("epochs", {}).empty());
}

TEST_CASE("a beginning of several names is none of them") {
  CHECK(near_names("evaluat", {"evaluate-every", "evaluate-first"}).empty());
}

}  // namespace programs_near_names_tests
