// Tree transforms: programs read off a machine's choices, what they compute, and how they are told and drawn.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tree_transforms/drawing.hpp"
#include "tree_transforms/score.hpp"
#include "tree_transforms/temperature.hpp"
#include "triad/tree/s_expression.hpp"

namespace {

using namespace tree_transforms;

/// Labels of a sentence and its logical form.
struct words {
  triad::vocabulary labels;
  numbered_tree number(std::string const& text) {
    auto const tree = triad::parse_tree(text);
    labels.insert(tree);
    return labels.number(tree);
  }
  std::string text(numbered_tree const& tree) const { return triad::to_text(labels.label(tree)); }
};

/// A step with all its weight on one choice, but for `doubt`, which goes to tree 0 or to another operation.
traced_step chosen(instruction const& i, index_t trees, double doubt = 0) {
  traced_step step;
  step.operations[static_cast<std::size_t>(i.what)] = 1 - doubt;
  step.operations[i.what == operation::car ? 1 : 0] = doubt;
  step.arguments.resize(static_cast<std::size_t>(trees));
  for (auto const a : {argument::car, argument::cdr, argument::left, argument::right})
    step.arguments[static_cast<std::size_t>(i.tree(a))][static_cast<std::size_t>(a)] = 1;
  step.root = i.root;
  step.root_score = 1;
  return step;
}

trace chosen(program const& p) {
  trace said;
  for (auto const& i : p) said.push_back(chosen(i, static_cast<index_t>(said.size()) + 1));
  return said;
}

/// ( S A ( VP V B ) )  to  ( LF V ( ARGS A B ) ), with one step that nothing needs.
program to_logical_form(words& w) {
  auto const args = w.labels.insert("ARGS"), form = w.labels.insert("LF");
  return {{operation::cdr, 0, 0, 0},       // T1 ( VP V B )
          {operation::car, 0, 0, 0},       // T2 A
          {operation::car, 1, 0, 0},       // T3 V
          {operation::cons, 3, 3, form},   // T4 not needed
          {operation::cdr, 1, 0, 0},       // T5 B
          {operation::cons, 2, 5, args},   // T6
          {operation::cons, 3, 6, form}};  // T7
}

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
  CHECK(execute({operation::cons, 0, 1, 1}, {numbered_tree(), numbered_tree()}, 3) == leaf);
  auto const right = execute({operation::cons, 0, 1, 1}, {numbered_tree(), leaf}, 3);
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
  auto const both = execute({operation::cons, 0, 0, x}, {deep}, 3);
  CHECK(w.text(both) == "( x ( a b d ) ( a b d ) )");
  CHECK(both.depth() == 3);
}

TEST_CASE(
    "the likeliest choices of a trace are its program, and what the result does not need is left out of its text") {
  words w;
  w.number("( S a )");
  auto p = to_logical_form(w);
  auto const read = likeliest(chosen(p));
  REQUIRE(read.size() == p.size());
  CHECK(read == p);
  CHECK(needed(p) == std::vector<bool>{true, true, true, false, true, true, true});
  CHECK(to_text(p, w.labels) ==
        "T1 = CDR T0; T2 = CAR T0; T3 = CAR T1; T4 = CDR T1; T5 = CONS ARGS T2 T4; T6 = CONS LF T3 T5");
  std::swap(p[0], p[1]);  // the same computation in another order is another program
  CHECK(to_text(p, w.labels) != to_text(read, w.labels));
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
  program const twice{{operation::car, 0, 0, 0}, {operation::car, 0, 0, 0}, {operation::car, 1, 0, 0}};
  auto shared = chosen(twice);
  shared[2].arguments[1][0] = 0.5;
  shared[2].arguments[2][0] = 0.25;
  shared[2].arguments[0][0] = 0.25;
  CHECK(certainty(shared, twice, execute(twice, source, 8)) == 0.75);
}

TEST_CASE(
    "softmax cools down by the same factor every update, and gumbel's temperature falls as the released program's") {
  options o;
  CHECK(temperature_at(o, "softmax", 0) == 1);
  CHECK(training_settings(o).find("cooling") == std::string::npos);  // as a checkpoint of before has it
  CHECK(to_toml(o).find("cooling = 0") != std::string::npos);        // a preset may have another
  o.temperature = 16, o.cooling = 4, o.updates = 100;
  for (auto const& [update, expected] : {std::pair(0, 16.0), {1, 8.0}, {3, 2.0}, {4, 1.0}, {99, 1.0}})
    CHECK_THAT(temperature_at(o, "softmax", static_cast<std::uint64_t>(update)),
               triad::test::WithinAbs(expected, 1e-12));
  CHECK_NOTHROW(settle(o));
  CHECK(training_settings(o).find("cooling = 4") != std::string::npos);
  o.choice = "gumbel";
  CHECK_THROWS_WITH(settle(o), triad::test::contains("are about --choice softmax"));
  CHECK(temperature_at(o, "gumbel", 20) == 0.8);
  CHECK(temperature_at(o, "gumbel-released", 70) == 0.5);
  o.argument_choice = "softmax";  // which is what cools
  CHECK_NOTHROW(settle(o));
  o.argument_choice.clear();
  o.choice = "softmax", o.cooling = 101;
  CHECK_THROWS_WITH(settle(o), triad::test::contains("--cooling 101 is longer than the run of --updates 100"));
  o.cooling = 0;
  CHECK_THROWS_WITH(settle(o), triad::test::contains("go together"));
}

TEST_CASE("a tree is right where every position is, and partly right by its nodes") {
  std::vector<placed_node> const right{{0, 3}, {1, 4}, {2, 5}};
  tally t;
  t.add(right, std::vector<index_t>{3, 4, 5, 0, 0, 0, 0});
  CHECK(t.whole == 1);
  CHECK(t.partial() == 1);
  t.add(right, std::vector<index_t>{3, 4, 0, 0, 0, 0, 2});  // one is missing, one too many
  CHECK(t.accuracy() == 0.5);
  CHECK_THAT(t.partial(), triad::test::WithinAbs(5.0 / 7, 1e-12));
  t.add(right, std::vector<index_t>{3, 4, 5, 1, 0, 0, 0});
  CHECK(t.whole == 1);
}

triad::tree_positions<> const positions(2, 8);

explanation example(words& w) {
  auto const source = w.number("( S ( NP ann ) ( VP ( V saw ) ( NP \"bob<&\" ) ) )");
  auto const p = to_logical_form(w);
  auto const memory = execute(p, source, 8);
  auto said = chosen(p);
  for (std::size_t k = 0; k < said.size(); ++k) said[k].tree = memory[k + 1];
  return explain_trace(source, said, w.labels, positions, symbols_of(memory.back(), positions));
}

TEST_CASE("an explanation says at each step what was done, to which trees, and what was written") {
  words w;
  auto const e = example(w);
  auto const text = to_text(e);
  CHECK(
      text.find("T7  CONS 1.00  LF  T3 1.00  T6 1.00\n      ( LF ( V saw ) ( ARGS ( NP ann ) ( NP \"bob<&\" ) ) )\n") !=
      std::string::npos);
  CHECK(text.find("T4  CONS 1.00  LF  T3 1.00  T3 1.00  (not needed)") != std::string::npos);
  CHECK(text.find("it gives the machine's answer") != std::string::npos);
  CHECK(e.agrees);

  auto const json = nlohmann::json::parse(to_json(e));
  REQUIRE(json["steps"].size() == 7);
  CHECK(json["program"] == e.program);
  CHECK(json["steps"][6]["root"]["label"] == "LF");
  CHECK(json["steps"][6]["arguments"][1] == nlohmann::json({{"argument", "right"}, {"tree", 6}, {"weight", 1.0}}));
  CHECK(json["steps"][6]["weights"]["left"].size() == 7);
  CHECK(json["steps"][3]["needed"] == false);

  auto const dot = to_dot(e);
  CHECK(dot.find("T6 -> T7 [label=\"right 1.00\"]") != std::string::npos);
  CHECK(dot.find("\\\"bob<&\\\"") != std::string::npos);  // quotes are escaped
}

TEST_CASE("an explanation whose program gives another tree than the machine says so") {
  words w;
  auto const source = w.number("( S ( NP ann ) ( VP ( V saw ) ( NP bob ) ) )");
  auto said = chosen(to_logical_form(w));
  said.back().tree = source;
  auto const e = explain_trace(source, said, w.labels, positions, symbols_of(source, positions));
  CHECK(!e.agrees);
  CHECK(to_text(e).find("does not give the machine's answer") != std::string::npos);

  auto stray = symbols_of(execute(to_logical_form(w), source, 8).back(), positions);
  stray.back() = 1;  // under no node: no tree has it, and the answer is not right
  CHECK(!explain_trace(source, said, w.labels, positions, stray).agrees);
}

TEST_CASE("a drawing of a tree has every node on its level, over its children, and no two labels on each other") {
  auto const tree = triad::parse_tree("( LF ( V photographed ) ( ARGS ( NP ( DET a ) ( AP x ) ) ( NP y ) ) )");
  auto const made = lay_out(tree);
  REQUIRE(made.nodes.size() == static_cast<std::size_t>(tree.size()));
  CHECK(made.height == line_height * static_cast<double>(tree.depth()));
  auto const at = [&](index_t i) { return made.nodes[static_cast<std::size_t>(i)]; };
  tree.walk([&](index_t i, index_t parent, index_t level) {
    CHECK(at(i).y == (static_cast<double>(level) + 0.5) * line_height);
    CHECK(at(i).x - label_width(tree.label(i)) / 2 >= 0);
    CHECK(at(i).x + label_width(tree.label(i)) / 2 <= made.width);
    if (parent != triad::no_node) CHECK(at(parent).y < at(i).y);
    double least = 1e9, most = -1e9;
    for (auto c = tree.first_child(i); c != triad::no_node; c = tree.next_child(i, c))
      least = std::min(least, at(c).x), most = std::max(most, at(c).x);
    if (!tree.is_leaf(i)) CHECK((least <= at(i).x && at(i).x <= most));
    for (index_t j = 0; j < i; ++j)
      if (at(j).y == at(i).y)
        CHECK(std::abs(at(i).x - at(j).x) >= (label_width(tree.label(i)) + label_width(tree.label(j))) / 2);
  });
  CHECK(lay_out(symbol_tree()).width == 0);
}

TEST_CASE("an explanation as SVG has every tree's labels, escaped, and greys what is not needed") {
  words w;
  auto const svg = to_svg(example(w));
  CHECK(svg.starts_with("<svg "));
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(svg.find("bob&lt;&amp;") != std::string::npos);
  CHECK(svg.find("bob<") == std::string::npos);
  CHECK(svg.find("fill=\"#999\">T4  CONS") != std::string::npos);
  CHECK(svg.find("fill=\"#223\">T7  CONS") != std::string::npos);
}

}  // namespace
