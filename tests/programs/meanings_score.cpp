// Tests the scores of predicted graphs, and the generated commands.
// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>

#include "meanings/commands.hpp"
#include "meanings/score.hpp"
#include "tests/catch.hpp"

namespace programs_meanings_score_tests {

using namespace triad::programs::meanings;
using triad::programs::confusion;

meaning sentence(std::vector<edge> edges, std::vector<std::vector<std::string>> labels, std::string kind = "plain") {
  meaning m;
  m.tokens = {"a", "b", "c"};
  m.nodes = {node::token(0), node::token(1), node::slot(0)};
  m.node_labels = std::move(labels);
  m.edges = std::move(edges);
  m.kind = std::move(kind);
  return m;
}

TEST_CASE("edges and labels of predicted graphs are counted with and without their names") {
  given_row const row{sentence({{0, "r", 1}, {0, "s", 1}, {1, "r", 2}}, {{"x"}, {}, {"y"}}), {}, {}};
  graph_tally t;
  confusion confused;
  t.add(row, row.graph, true, &confused, "dev");
  // One label of the first pair is wrong, the second pair is missed, a pair is false, and a label is missed.
  t.add(row, sentence({{0, "r", 1}, {0, "t", 1}, {2, "r", 2}}, {{"x"}, {}, {}}), false, &confused, "dev");
  CHECK((t.rows == 2 && t.exact == 1 && t.exact_match() == 0.5));
  CHECK((t.edges.given == 6 && t.edges.found == 6 && t.edges.both == 4));
  CHECK((t.pairs.given == 4 && t.pairs.found == 4 && t.pairs.both == 3));
  CHECK((t.labels.given == 4 && t.labels.found == 3 && t.labels.both == 3));
  CHECK((t.by_edge.at("r").given == 4 && t.by_edge.at("r").found == 4 && t.by_edge.at("r").both == 3));
  CHECK((t.by_edge.at("t").given == 0 && t.by_edge.at("t").precision() == 0));
  CHECK((t.by_label.at("y").given == 2 && t.by_label.at("y").both == 1 && t.by_label.at("y").recall() == 0.5));
  CHECK(t.edges.f1() == 2 * 4.0 / 12);
  CHECK(overlap{}.f1() == 1);
  CHECK((t.by_kind.at("plain").rows == 2 && t.by_kind.at("plain").exact == 1));
  CHECK(confused.csv() == "part,target,predicted,count\ndev,r,r,2\ndev,s,s,1\ndev,s,t,1\n");

  given_row left_out{sentence({}, {{}, {}, {}}, "odd"), "an entity is twice in the question", {}};
  t.add(left_out, row.graph, false);
  CHECK((t.rows == 3 && t.exact == 1 && t.edges.found == 6 && t.by_kind.at("odd").rows == 1));

  // The scores of kinds have the unit of the other figures, since one function prints both.
  auto const scores = scores_of("dev", t);
  CHECK((scores.part == "dev" && scores.examples == 3 && scores.kinds.size() == 2));
  CHECK((scores.figures[0].name == "exact match" && scores.figures[0].value == 1 / 3.0));
  CHECK((scores.kinds[0].kind == "odd" && scores.kinds[0].value == 0));
  CHECK((scores.kinds[1].kind == "plain" && scores.kinds[1].value == 0.5 && scores.kinds[1].examples == 2));
}

TEST_CASE("commands are graphs with several parents and several labels, and grow with their clauses") {
  command_generator from(1);
  long long parents = 0, labels = 0;
  std::size_t largest = 0, smallest_test = 1000;
  for (int i = 0; i < 400; ++i) {
    auto const m = checked(from.next(1 + i % 4));
    CHECK(m.find(node::slot(0)) >= 0);
    std::set<std::pair<int, int>> pairs;
    std::set<std::pair<int, std::string>> themes;
    for (auto const& e : m.edges) {
      labels += pairs.insert({e.from, e.to}).second ? 0 : 1;
      parents += e.label == "theme" && !themes.insert({e.to, e.label}).second ? 1 : 0;
    }
    if (i % 4 < 2) largest = std::max(largest, m.nodes.size());
    if (i % 4 == 3) smallest_test = std::min(smallest_test, m.nodes.size());
  }
  CHECK((parents > 20 && labels > 20));
  CHECK((largest <= 11 && smallest_test >= 9));
  CHECK(command_generator(1).next(2) == command_generator(1).next(2));
}

}  // namespace programs_meanings_score_tests
