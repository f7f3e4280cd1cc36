// Tests the counts of questions that already have an answer.
// SPDX-License-Identifier: Apache-2.0
#include "shared/data/given_answers.hpp"

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"

namespace programs_given_answers_tests {

using nlohmann::json;
using triad::programs::given_answer, triad::programs::given_answers;
using triad::test::contains;

TEST_CASE("the answer of a question is a member that is there and not null") {
  auto const question = json::parse(R"({"target": "a", "heads": [0], "labels": null})");
  CHECK(given_answer(question, "target") == json("a"));
  CHECK(given_answer(question, "heads") == json::array({0}));
  CHECK(given_answer(question, "labels").is_null());
  CHECK(given_answer(question, "source").is_null());
}

TEST_CASE(
    "the note counts questions that had an answer and those that had the predicted one; without any it is empty") {
  given_answers targets("a target");
  CHECK(targets.note().empty());
  targets.add(false, false);
  targets.add(false, true);
  CHECK(targets.note().empty());
  targets.add(true, true);
  targets.add(true, false);
  targets.add(true, false);
  CHECK_THAT(targets.note(),
             contains("3 of 5 questions already had a target, which predict replaced; 1 of these 3 equalled"));
}

}  // namespace programs_given_answers_tests
