// Tests the table that assigns numbers to names.
// SPDX-License-Identifier: Apache-2.0
#include "shared/data/numbering.hpp"

#include "shared/data/json_lines.hpp"
#include "tests/catch.hpp"

namespace programs_numbering_tests {

using namespace triad::programs;
using triad::test::contains;

TEST_CASE("names have numbers from the first on, and come back from a checkpoint") {
  numbering words(1);
  CHECK(words.add("b") == 1);
  CHECK(words.add("a") == 2);
  CHECK(words.add("b") == 1);
  CHECK((words.find("a") == 2 && words.find("c") == -1 && words.find("c", 0) == 0));
  CHECK((words.name(2) == "a" && words.name_or_none(0).empty() && words.end() == 3));
  CHECK(words.all() == "b, a");
  numbering again(1);
  read_names({{"words", words.names()}}, "file", {{"words", &again}});
  CHECK(again == words);
  CHECK_THROWS_WITH(read_names({{"words", 3}}, "file", {{"words", &again}}),
                    contains("file: its vocabulary is not one of this program's"));
}

}  // namespace programs_numbering_tests
