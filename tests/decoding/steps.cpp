// Tests the checks of a decoding step's input, and a search that calls a decoder step by step.
// SPDX-License-Identifier: Apache-2.0
#include "triad/decoding/steps.hpp"

#include <cmath>
#include <vector>

#include "tests/catch.hpp"
#include "triad/core/buffer.hpp"

namespace decoding_steps_tests {

using namespace triad;
using test::contains;
using tokens = std::vector<index_t>;

TEST_CASE("steps are taken with a token and a parent for every slot, up to the room, or it is said") {
  decoding_steps<double> steps(6, 9, 3, 2);
  tokens const six(6, 2), self{0, 1, 2, 3, 4, 5};
  CHECK_THROWS_WITH(steps.take(six, {}), contains("decoder: a step before any source, expected begin() first"));
  steps.begin(6);
  CHECK_THROWS_WITH(steps.take(tokens(5, 2), {}), contains("decoder: 5 tokens, expected 6"));
  for (index_t bad : {-1, 9})
    CHECK_THROWS_WITH(steps.take(tokens{2, 2, 2, 2, 2, bad}, {}),
                      contains("decoder: a token or a parent out of range"));
  CHECK_FALSE(steps.take(six, {}));  // the first step has no parents
  CHECK(steps.parent == self);
  steps.tokens = 1;  // the decoder counts the tokens itself
  CHECK_THROWS_WITH(steps.take(six, {}), contains("decoder: 0 parents, expected 6"));
  for (index_t bad : {-1, 6})
    CHECK_THROWS_WITH(steps.take(six, tokens{0, 1, 2, 3, 4, bad}), contains("a token or a parent out of range"));
  CHECK_FALSE(steps.take(six, self));
  CHECK(steps.take(six, tokens{0, 1, 2, 3, 4, 4}));
  CHECK((steps.token == six && steps.parent.back() == 4));
  steps.tokens = 2;
  CHECK_THROWS_WITH(steps.take(six, self), contains("of a hypothesis, expected at most "));
  steps.begin(3);  // a smaller batch in the same memory
  CHECK_FALSE(steps.take(tokens(3, 2), {}));
}

TEST_CASE("a room of no hypothesis or of no token is refused") {
  CHECK_THROWS_WITH(decoding_steps<double>(6, 9, 0, 2),
                    contains("room for 0 hypotheses of 2 tokens, expected 1 or more of each"));
  CHECK_THROWS_WITH(decoding_steps<double>(6, 9, 3, 0),
                    contains("room for 3 hypotheses of 0 tokens, expected 1 or more of each"));
}

TEST_CASE("a search is given each step's logits, and asks with the tokens and parents that it chose") {
  // There are three tokens. 1 is twice as likely as 2. The end, 0, is likely from the third step on.
  beam_search search(1, 3, {.beam = 2, .longest = 4, .begin = 0, .end = 0});
  decoding_steps<double> steps(2, 3, 2, 5);
  steps.begin(2);
  std::vector<tokens> asked;
  std::vector<double> logits(6);
  steps.find(search, host_memory{}, [&](auto newest, auto parents) {
    steps.take(newest, parents);
    asked.emplace_back(newest.begin(), newest.end());
    double const end = steps.tokens++ < 2 ? -50 : 50;
    logits = {end, std::log(2.0), 0, end, std::log(2.0), 0};
    return tensor<double const, dyn, dyn>(logits.data(), 2, 3);
  });
  CHECK(search.best(0).front().tokens == tokens{1, 1});
  REQUIRE(asked.size() == 3);
  CHECK(asked[0] == tokens{0, 0});
  CHECK(asked[1] == tokens{1, 2});
  CHECK(asked[2] == tokens{1, 2});  // 1 1, and 1 2, which precedes the equally likely 2 1

  beam_search other(2, 3, {.beam = 2, .longest = 4, .begin = 0, .end = 0});
  CHECK_THROWS_WITH(
      steps.find(other, host_memory{}, [&](auto, auto) { return tensor<double const, dyn, dyn>(logits.data(), 2, 3); }),
      contains("decoder: a search of "));

  // A search that could exceed the capacity is refused before its first step. With limits, the search fits.
  decoding_steps<double> small(2, 3, 2, 4);
  small.begin(2);
  beam_search deep(1, 3, {.beam = 2, .longest = 4, .begin = 0, .end = 0});
  auto const step = [&](auto newest, auto parents) {
    small.take(newest, parents);
    ++small.tokens;
    return tensor<double const, dyn, dyn>(logits.data(), 2, 3);
  };
  CHECK_THROWS_WITH(small.find(deep, host_memory{}, step),
                    contains("a search of up to 5 tokens a hypothesis, the begin among them, expected at most 4"));
  CHECK(small.tokens == 0);
  deep.limit(0, 3);
  logits = {-50, 0, 0, -50, 0, 0};
  CHECK_NOTHROW(small.find(deep, host_memory{}, step));
  CHECK(small.tokens == 4);
}

}  // namespace decoding_steps_tests
