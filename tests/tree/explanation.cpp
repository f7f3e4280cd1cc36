// Tests the explanation of a machine's steps on one tree, with labels: each step, how certain it is, and whether the
// extracted program agrees with the machine.
// SPDX-License-Identifier: Apache-2.0
#include "triad/tree/explanation.hpp"

#include <cstddef>
#include <vector>

#include "tests/catch.hpp"
#include "tests/tree/logical_form.hpp"

namespace tree_explanation_tests {

using namespace triad;
using test::chosen, test::to_logical_form, test::words;

tree_positions<> const positions(2, 8);

std::vector<index_t> symbols_of(numbered_tree const& tree) {
  std::vector<index_t> symbols(static_cast<std::size_t>(positions.count()));
  place_labels(positions, tree, vec<index_t>(symbols.data(), positions.count()));
  return symbols;
}

TEST_CASE("an explanation has what each step did, to which trees, and what it wrote") {
  words w;
  auto const source = w.number("( S ( NP ann ) ( VP ( V saw ) ( NP bob ) ) )");
  auto const p = to_logical_form(w);
  auto const memory = execute(p, source, 8);
  auto trace = chosen(p);
  trace[0] = chosen(p[0], 1, 0.25);
  for (std::size_t k = 0; k < trace.size(); ++k) trace[k].tree = memory[k + 1];
  auto const answer = symbols_of(memory.back());
  auto const e = explain_trace(source, trace, w.labels, positions, answer);
  CHECK(e.source == w.labels.label(source));
  CHECK(e.agrees);
  CHECK(e.certainty == 0.75);
  CHECK(e.program == to_text(p, w.labels));
  REQUIRE(e.steps.size() == 7);
  CHECK(e.steps[0].weight == 0.75);
  CHECK(e.steps[0].root.empty());
  CHECK(!e.steps[3].needed);
  auto const& last = e.steps[6];
  CHECK(last.what == tree_operation::cons);
  CHECK(last.root == "LF");
  CHECK(last.root_score == 1);
  REQUIRE(last.arguments.size() == 2);
  CHECK(last.arguments[1].which == tree_argument::right);
  CHECK(last.arguments[1].tree == 6);
  CHECK(to_text(last.tree) == "( LF ( V saw ) ( ARGS ( NP ann ) ( NP bob ) ) )");
}

TEST_CASE("an explanation whose program gives another tree than the machine says so") {
  words w;
  auto const source = w.number("( S ( NP ann ) ( VP ( V saw ) ( NP bob ) ) )");
  auto trace = chosen(to_logical_form(w));
  trace.back().tree = source;
  CHECK(!explain_trace(source, trace, w.labels, positions, symbols_of(source)).agrees);

  auto stray = symbols_of(execute(to_logical_form(w), source, 8).back());
  CHECK(explain_trace(source, trace, w.labels, positions, stray).agrees);
  stray.back() = 1;  // it has no parent, so no tree has it, and the answer is wrong
  CHECK(!explain_trace(source, trace, w.labels, positions, stray).agrees);
  CHECK_THROWS_WITH(explain_trace(source, trace, w.labels, positions, {}),
                    test::contains("0 symbols of the answer, expected"));
}

}  // namespace tree_explanation_tests
