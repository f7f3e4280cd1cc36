// Programs read off a machine's choices, and how certain they are.
// SPDX-License-Identifier: Apache-2.0
#include "triad/tree/program_trace.hpp"

#include "tests/catch.hpp"
#include "tests/tree/logical_form.hpp"

namespace tree_program_trace_tests {

using namespace triad;
using test::chosen, test::to_logical_form, test::words;

TEST_CASE("the likeliest choices of a trace are its program") {
  words w;
  w.number("( S a )");
  auto const p = to_logical_form(w);
  CHECK(likeliest(chosen(p)) == p);
  CHECK(likeliest({}).empty());
  auto said = chosen(p);
  said[6].arguments[3][2] = said[6].arguments[2][2] = 0.5;  // of trees as likely, the first
  CHECK(likeliest(said)[6].from == 2);
}

TEST_CASE(
    "a program is as certain as the least certain choice that its result depends on, equal trees counted as one") {
  words w;
  auto const source = w.number("( S ( NP ann ) ( VP ( V saw ) ( NP bob ) ) )");
  auto const p = to_logical_form(w);
  auto const memory = execute(p, source, 8);
  auto said = chosen(p);
  CHECK(certainty(said, p, memory) == 1);
  said[3] = chosen(p[3], 4, 0.4);  // not needed
  CHECK(certainty(said, p, memory) == 1);
  said[2].operations = {0.75, 0.25, 0};
  CHECK(certainty(said, p, memory) == 0.75);
  CHECK(likeliest(said) == p);

  // Trees 1 and 2 are the same: a weight shared between them is no doubt.
  tree_program const twice{
      {tree_operation::car, 0, 0, 0}, {tree_operation::car, 0, 0, 0}, {tree_operation::car, 1, 0, 0}};
  auto shared = chosen(twice);
  shared[2].arguments[1][0] = 0.5;
  shared[2].arguments[2][0] = 0.25;
  shared[2].arguments[0][0] = 0.25;
  CHECK(certainty(shared, twice, execute(twice, source, 8)) == 0.75);
  CHECK_THROWS_WITH(certainty(shared, twice, memory), test::contains("belong together"));
}

TEST_CASE("the empty tree is chosen where it has the largest weight, and an empty tree that a step made is the same") {
  words w;
  auto const source = w.number("( S a )");
  tree_program const p{{tree_operation::cdr, 0, 0, 0}, {tree_operation::cons, no_tree, 0, w.labels.insert("by")}};
  auto said = chosen(p);
  CHECK(likeliest(said) == p);
  CHECK(said[1].weight(tree_argument::left, no_tree) == 1);
  CHECK(said[0].weight(tree_argument::cdr, no_tree) == 0);  // of a machine that has none
  (*said[1].empty)[2] = 0.5, said[1].arguments[1][2] = 0.25, said[1].arguments[0][2] = 0.25;
  auto const memory = execute(p, source, 4);
  REQUIRE(memory[1].empty());
  CHECK(likeliest(said)[1].from == no_tree);
  CHECK(certainty(said, p, memory) == 0.75);
  (*said[1].empty)[2] = 0.25, said[1].arguments[1][2] = 0.5;
  CHECK(likeliest(said)[1].from == 1);
  CHECK(certainty(said, likeliest(said), memory) == 0.75);
  (*said[1].empty)[2] = 0.5;  // of two as likely, the one that was made
  CHECK(likeliest(said)[1].from == 1);
}

}  // namespace tree_program_trace_tests
