// Tests the questions of `predict`, and that a command line may give them in only one way.
// SPDX-License-Identifier: Apache-2.0
#include "shared/data/questions.hpp"

#include <iostream>
#include <new>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"
#include "triad/core/errors.hpp"

namespace programs_questions_tests {

using triad::programs::expect_one_way, triad::programs::questions;
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
  CHECK(asked.answer("test", [&](std::string const& question) { found.push_back(asked.place() + " " + question); }) ==
        0);
  CHECK(found == std::vector<std::string>{"question 1 a", "question 2 b"});
  asked.file = "c";
  CHECK_THROWS_WITH(asked.answer("test", [](std::string const&) {}),
                    contains("questions on the command line and --file"));
}

TEST_CASE("a question that cannot be answered costs the others nothing, and the status is 1") {
  questions const asked{{"a", "", "{}", "vast", "b"}, ""};
  std::vector<std::string> found;
  auto const answer = [&](std::string const& question) {
    if (question.empty()) throw triad::data_error("there is nothing to answer");
    if (question == "vast") throw std::bad_alloc();
    if (question == "{}") (void)nlohmann::json::parse("{}").at("source");
    found.push_back(question);
  };
  std::vector<std::string> refused;
  asked.ask(answer, [&](triad::programs::refused_question const& q) { refused.push_back(q.what); });
  CHECK(found == std::vector<std::string>{"a", "b"});
  REQUIRE(refused.size() == 3);
  CHECK(refused[0] == "question 2: there is nothing to answer");
  CHECK_THAT(refused[1], contains("question 3: "));
  CHECK_THAT(refused[2], contains("question 4: there is not enough memory to answer it"));
  CHECK(asked.answer("test", answer) == 1);
}

TEST_CASE("a line of data is no question in plain text") {
  using triad::programs::expect_plain_question;
  for (auto const* question : {"go left", "", "IN: and out", "12", "[ a ]", "\"quoted\" words", "{ x }", "a, b",
                               "source", "# one", "\" I agree . \"", "[ 1 ]"}) {
    CAPTURE(question);
    CHECK_NOTHROW(expect_plain_question(question));
  }
  auto const refused = [](char const* line, char const* what) {
    CAPTURE(line);
    CHECK_THROWS_WITH(expect_plain_question(line), contains(what));
  };
  refused("a b\tb a", "column 4: found a tab, as between columns of data");
  refused("1\tdogs\t_\t_", "column 2: found a tab");
  refused("IN: jump twice OUT: I_JUMP I_JUMP", "found a line of SCAN");
  refused("{\"tokens\": [\"a\"]}", "found a value of JSON, expected a question in plain text");
  refused("[\"a\", \"b\"]", "found a value of JSON");
  refused("\"a, b\",\"c\"", "found a row of CSV");
  refused("Source\tTarget", "found the names of columns");
  refused("question,query", "found the names of columns");
}

TEST_CASE("the first line of a file is seen before it is asked") {
  triad::test::scratch_folder const folder;
  questions asked{{},
                  triad::test::saved(folder,
                                     "\xef\xbb\xbf"
                                     "a b\r\nc\n",
                                     "lines")};
  CHECK(asked.first_line() == "a b");
  std::vector<std::string> found;
  CHECK(asked.answer("test", [&](std::string const& question) { found.push_back(question); }) == 0);
  CHECK(found == std::vector<std::string>{"a b", "c"});
  std::vector<std::string> places;
  CHECK(asked.answer("test", [&](std::string const&) { places.push_back(asked.place()); }) == 0);
  CHECK(places == std::vector<std::string>{asked.file + ":1", asked.file + ":2"});
  CHECK_FALSE((questions{{}, triad::test::saved(folder, "", "empty")}).first_line());
  CHECK_FALSE((questions{{"a"}, ""}).first_line());
}

TEST_CASE("a Git LFS pointer on standard input is no question") {
  std::istringstream pointer("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n");
  auto* const before = std::cin.rdbuf(pointer.rdbuf());
  questions const asked{};
  int answered = 0;
  std::string refused;
  try {
    asked.ask([&](std::string const&) { ++answered; }, [](triad::programs::refused_question const&) {});
  } catch (triad::data_error const& e) {
    refused = e.what();
  }
  std::cin.rdbuf(before);
  std::cin.clear();
  CHECK(answered == 0);
  CHECK_THAT(refused, contains("standard input: a Git LFS pointer"));
}

}  // namespace programs_questions_tests
