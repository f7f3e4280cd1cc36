// Tests programs of car, cdr and cons: their results, which of their steps are needed, and their text.
// SPDX-License-Identifier: Apache-2.0
#include "triad/tree/program.hpp"

#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/tree/logical_form.hpp"

namespace tree_program_tests {

using namespace triad;
using test::to_logical_form, test::words;

TEST_CASE("a program of car, cdr and cons turns a sentence into its logical form") {
  words w;
  auto const source = w.number("( S ( NP ann ) ( VP ( V saw ) ( NP bob ) ) )");
  auto const p = to_logical_form(w);
  auto const memory = execute(p, source, 8);
  REQUIRE(memory.size() == p.size() + 1);
  CHECK(w.text(memory[1]) == "( VP ( V saw ) ( NP bob ) )");
  CHECK(w.text(memory.back()) == "( LF ( V saw ) ( ARGS ( NP ann ) ( NP bob ) ) )");
}

TEST_CASE("car and cdr of trees that have no such child are empty, and cons of empty trees is a leaf") {
  words w;
  auto const leaf = w.number("( a )"), one = w.number("( a b )");
  CHECK(child_of(leaf, 0).empty());
  CHECK(child_of(one, 1).empty());
  CHECK(child_of(numbered_tree(), 0).empty());
  CHECK(child_of(one, 0) == w.number("( b )"));
  CHECK(execute({tree_operation::cons, 0, 1, 1}, {numbered_tree(), numbered_tree()}, 3) == leaf);
  auto const right = execute({tree_operation::cons, 0, 1, 1}, {numbered_tree(), leaf}, 3);
  CHECK(child_of(right, 0).empty());
  CHECK(child_of(right, 1) == leaf);
}

TEST_CASE("cons loses what roles of the depth have no place for, on either side") {
  words w;
  auto const deep = w.number("( a ( b c ) ( d e f ) )");
  CHECK(cut(deep, 3) == deep);
  CHECK(w.text(cut(deep, 2)) == "( a b d )");
  CHECK(cut(deep, 0).empty());
  auto const x = w.labels.insert("x");
  auto const both = execute({tree_operation::cons, 0, 0, x}, {deep}, 3);
  CHECK(w.text(both) == "( x ( a b d ) ( a b d ) )");
  CHECK(both.depth() == 3);
}

TEST_CASE("what the result does not need is left out of a program's text") {
  words w;
  w.number("( S a )");
  auto p = to_logical_form(w);
  CHECK(needed(p) == std::vector<bool>{true, true, true, false, true, true, true});
  auto const text = to_text(p, w.labels);
  CHECK(text == "T1 = CDR T0; T2 = CAR T0; T3 = CAR T1; T4 = CDR T1; T5 = CONS ARGS T2 T4; T6 = CONS LF T3 T5");
  std::swap(p[0], p[1]);  // a program with the same steps in another order is a different program
  CHECK(to_text(p, w.labels) != text);
  CHECK(needed({}).empty());
  CHECK(to_text(tree_program{}, w.labels).empty());
}

TEST_CASE("an operation has its own arguments, and a step that names a tree of later is refused") {
  CHECK(arguments_of(tree_operation::car).size() == 1);
  CHECK(arguments_of(tree_operation::cdr).front() == tree_argument::cdr);
  CHECK(arguments_of(tree_operation::cons).size() == 2);
  CHECK(name_of(tree_operation::cons) == std::string("CONS"));
  words w;
  auto const leaf = w.number("( a )");
  CHECK_THROWS_WITH(execute(tree_program{{tree_operation::car, 1, 0, 0}}, leaf, 2),
                    test::contains("names tree 1, expected 0 to 0"));
  CHECK_THROWS_AS(execute(tree_program{{tree_operation::cons, 0, -2, 1}}, leaf, 2), contract_violation);
  CHECK_THROWS_WITH(needed(tree_program{{tree_operation::car, 1, 0, 0}}),
                    test::contains("step 1 names tree 1, expected 0 to 0"));
  CHECK_THROWS_AS(to_text(tree_program{{tree_operation::cons, 0, -2, 1}}, w.labels), contract_violation);
}

TEST_CASE("an argument may be the empty tree, which no step makes") {
  words w;
  auto const source = w.number("( S a b )");
  auto const by = w.labels.insert("by");
  tree_program const p{{tree_operation::cdr, 0, 0, 0},
                       {tree_operation::car, no_tree, 0, 0},
                       {tree_operation::cons, no_tree, 1, by},
                       {tree_operation::cons, 3, no_tree, by}};
  auto const memory = execute(p, source, 4);
  CHECK(memory[2].empty());
  CHECK(w.text(memory[3]) == "( by b )");
  CHECK(memory[3].child(0, 0) == no_node);
  CHECK(memory[3].child(0, 1) != no_node);
  CHECK(w.text(memory[4]) == "( by ( by b ) )");
  CHECK(memory[4].child(0, 1) == no_node);
  CHECK(needed(p) == std::vector<bool>{true, false, true, true});
  CHECK(to_text(p, w.labels) == "T1 = CDR T0; T2 = CONS by <empty> T1; T3 = CONS by T2 <empty>");
}

}  // namespace tree_program_tests
