// What predict is asked, and that it is asked in one way.
// SPDX-License-Identifier: Apache-2.0
#include "apps/questions.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace examples_questions_tests {

using triad::apps::expect_one_way, triad::apps::questions;
using triad::test::contains;

TEST_CASE("one way to ask, or none, is taken; several are refused by their names") {
  CHECK_NOTHROW(expect_one_way({}));
  CHECK_NOTHROW(expect_one_way({{"--tree", false}, {"--data", false}}));
  CHECK_NOTHROW(expect_one_way({{"--tree", false}, {"--data", true}}));
  CHECK_THROWS_WITH(expect_one_way({{"--tree", true}, {"--data", true}}),
                    contains("2 ways to ask, --tree and --data: give one"));
  CHECK_THROWS_WITH(expect_one_way({{"--tree", true}, {"--length", false}, {"--data", true}}),
                    contains("2 ways to ask, --tree and --data: give one"));
  CHECK_THROWS_WITH(expect_one_way({{"--tree", true}, {"--length", true}, {"--data", true}}),
                    contains("3 ways to ask, --tree and --length and --data: give one"));
}

TEST_CASE("questions are one way with a program's own options, and are answered in their order") {
  questions asked{{"a", "b"}, ""};
  CHECK_NOTHROW(asked.expect_one_way({{"--tree", false}}));
  CHECK_THROWS_WITH(asked.expect_one_way({{"--tree", true}}), contains("--tree and questions on the command line"));
  std::vector<std::string> found;
  asked.answer([&](std::string const& question) { found.push_back(question); });
  CHECK(found == std::vector<std::string>{"a", "b"});
  asked.file = "c";
  CHECK_THROWS_WITH(asked.answer([](std::string const&) {}), contains("questions on the command line and --file"));
}

}  // namespace examples_questions_tests
