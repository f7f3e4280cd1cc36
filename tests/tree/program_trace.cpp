// Tests programs that are extracted from a machine's choices, and how certain these choices are.
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
  auto trace = chosen(p);
  trace[6].arguments[3][2] = trace[6].arguments[2][2] = 0.5;  // of equally likely trees, the first is taken
  CHECK(likeliest(trace)[6].from == 2);
}

TEST_CASE(
    "a program is as certain as the least certain choice that its result depends on, equal trees counted as one") {
  words w;
  auto const source = w.number("( S ( NP ann ) ( VP ( V saw ) ( NP bob ) ) )");
  auto const p = to_logical_form(w);
  auto const memory = execute(p, source, 8);
  auto trace = chosen(p);
  CHECK(certainty(trace, p, memory) == 1);
  trace[3] = chosen(p[3], 4, 0.4);  // this step is not needed
  CHECK(certainty(trace, p, memory) == 1);
  trace[2].operations = {0.75, 0.25, 0};
  CHECK(certainty(trace, p, memory) == 0.75);
  CHECK(likeliest(trace) == p);

  // Trees 1 and 2 are equal. So the choice is certain even if the weight is divided between them.
  tree_program const twice{
      {tree_operation::car, 0, 0, 0}, {tree_operation::car, 0, 0, 0}, {tree_operation::car, 1, 0, 0}};
  auto shared = chosen(twice);
  shared[2].arguments[1][0] = 0.5;
  shared[2].arguments[2][0] = 0.25;
  shared[2].arguments[0][0] = 0.25;
  CHECK(certainty(shared, twice, execute(twice, source, 8)) == 0.75);
  CHECK_THROWS_WITH(certainty(shared, twice, memory), test::contains("trees, expected 4"));
}

TEST_CASE("the empty tree is chosen where it has the largest weight, and an empty tree that a step made is the same") {
  words w;
  auto const source = w.number("( S a )");
  tree_program const p{{tree_operation::cdr, 0, 0, 0}, {tree_operation::cons, no_tree, 0, w.labels.insert("by")}};
  auto trace = chosen(p);
  CHECK(likeliest(trace) == p);
  CHECK(trace[1].weight(tree_argument::left, no_tree) == 1);
  CHECK(trace[0].weight(tree_argument::cdr, no_tree) == 0);  // the machine has no empty tree
  (*trace[1].empty)[2] = 0.5, trace[1].arguments[1][2] = 0.25, trace[1].arguments[0][2] = 0.25;
  auto const memory = execute(p, source, 4);
  REQUIRE(memory[1].empty());
  CHECK(likeliest(trace)[1].from == no_tree);
  CHECK(certainty(trace, p, memory) == 0.75);
  (*trace[1].empty)[2] = 0.25, trace[1].arguments[1][2] = 0.5;
  CHECK(likeliest(trace)[1].from == 1);
  CHECK(certainty(trace, likeliest(trace), memory) == 0.75);
  (*trace[1].empty)[2] = 0.5;  // equal weights of the empty tree and another tree: the other tree is chosen
  CHECK(likeliest(trace)[1].from == 1);
}

}  // namespace tree_program_trace_tests
