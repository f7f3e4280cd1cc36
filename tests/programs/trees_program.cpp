// Tests the program trees: text and drawing of a machine's steps, the scores of trees, and how the temperature of
// choices falls.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/tree/logical_form.hpp"
#include "trees/drawing.hpp"
#include "trees/options.hpp"
#include "trees/score.hpp"
#include "triad/tree/s_expression.hpp"

namespace programs_trees_program_tests {

using namespace triad::programs::trees;
using triad::index_t, triad::symbol_tree;

using triad::test::chosen, triad::test::to_logical_form, triad::test::words;

TEST_CASE(
    "softmax cools down by the same factor every update, and gumbel's temperature falls as the released program's") {
  options o;
  CHECK(temperature_at(o, "softmax", 0) == 1);
  CHECK(training_settings(o).find("cooling") == std::string::npos);  // as in a checkpoint of an older version
  CHECK(to_toml(o).find("cooling = 0") != std::string::npos);        // because a preset may have another value
  o.temperature = 16, o.cooling = 4, o.updates = 100;
  for (auto const& [update, expected] : {std::pair(0, 16.0), {1, 8.0}, {3, 2.0}, {4, 1.0}, {99, 1.0}})
    CHECK_THAT(temperature_at(o, "softmax", static_cast<std::uint64_t>(update)),
               triad::test::WithinAbs(expected, 1e-12));
  CHECK_NOTHROW(o.settle());
  CHECK(training_settings(o).find("cooling = 4") != std::string::npos);
  o.choice = "gumbel";
  CHECK_THROWS_WITH(o.settle(), triad::test::contains("are about --choice softmax"));
  CHECK(temperature_at(o, "gumbel", 20) == 0.8);
  CHECK(temperature_at(o, "gumbel-released", 70) == 0.5);
  o.argument_choice = "softmax";  // only softmax is cooled
  CHECK_NOTHROW(o.settle());
  o.argument_choice.clear();
  o.choice = "softmax", o.cooling = 101;
  CHECK_THROWS_WITH(o.settle(), triad::test::contains("--cooling 101 is longer than the run of --updates 100"));
  o.cooling = 0;
  CHECK_THROWS_WITH(o.settle(), triad::test::contains("go together"));
}

TEST_CASE("a tree is right where every position is, and partly right by its nodes") {
  std::vector<placed_node> const right{{0, 3}, {1, 4}, {2, 5}};
  tally t;
  t.add(right, std::vector<index_t>{3, 4, 5, 0, 0, 0, 0});
  CHECK(t.whole == 1);
  CHECK(t.partial() == 1);
  t.add(right, std::vector<index_t>{3, 4, 0, 0, 0, 0, 2});  // one node is missing, and another is wrong
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
  auto trace = chosen(p);
  for (std::size_t k = 0; k < trace.size(); ++k) trace[k].tree = memory[k + 1];
  return explain_trace(source, trace, w.labels, positions, symbols_of(memory.back(), positions));
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

TEST_CASE("an explanation whose program gives another tree than the machine is told as such") {
  words w;
  auto const source = w.number("( S ( NP ann ) ( VP ( V saw ) ( NP bob ) ) )");
  auto trace = chosen(to_logical_form(w));
  trace.back().tree = source;
  auto const e = explain_trace(source, trace, w.labels, positions, symbols_of(source, positions));
  CHECK(to_text(e).find("does not give the machine's answer") != std::string::npos);
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

}  // namespace programs_trees_program_tests
