// Tests the choice of a threshold: the scores of each threshold, and which of them is the best.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "meanings/json_meaning.hpp"
#include "meanings/threshold.hpp"
#include "tests/catch.hpp"

namespace programs_meanings_threshold_tests {

using namespace triad::programs::meanings;
using triad::index_t;

/// A sentence of three tokens.  The label of an edge is "r"; the answers have edges between tokens as columns.
given_row row_with(std::vector<edge> edges) {
  meaning m;
  m.tokens = {"a", "b", "c"};
  for (int i = 0; i < 3; ++i) (void)m.add(node::token(i));
  m.edges = std::move(edges);
  return {m, {}, {}};
}
meaning answer_of(given_row const& row, found_graph const& found) {
  auto m = row.graph;
  m.edges.clear();
  for (std::size_t i = 0; i < found.edges.size(); i += 3)
    m.edges.push_back({static_cast<int>(found.edges[i]), "r", static_cast<int>(found.edges[i + 2])});
  for (auto& labels : m.node_labels) labels.clear();
  for (std::size_t i = 0; i < found.labels.size(); i += 2)
    m.node_labels[static_cast<std::size_t>(found.labels[i])].push_back("u");
  return m;
}
struct chooser {
  threshold_choice choice{};
  int answers = 0;

  void add(given_row const& row, found_graph const& found) {
    choice.add(
        row, found,
        [&](found_graph const& part) {
          ++answers;
          return answer_of(row, part);
        },
        [&](meaning const& graph) { return same_graph(graph, row.graph); });
  }
};
edge const ab{0, "r", 1}, bc{1, "r", 2};
std::vector<index_t> const both{0, 0, 1, 1, 0, 2};

TEST_CASE("a cut has the edges and labels with at least the threshold, and the label of the graph") {
  found_graph const all{both, {0, 0, 2, 1}, 3, {0.25f, 0.75f}, {0.5f, 0.25f}, 0.875f};
  auto const half = cut(all, 0.5);
  CHECK(half.edges == std::vector<index_t>{1, 0, 2});
  CHECK(half.edge_probabilities == std::vector<float>{0.75f});
  CHECK(half.labels == std::vector<index_t>{0, 0});
  CHECK(half.label_probabilities == std::vector<float>{0.5f});
  CHECK(half.graph_label == 3);
  CHECK(half.graph_probability == 0.875f);
  CHECK(cut(all, 0).edges == both);
  CHECK(cut(all, 0.9).edges.empty());
}

TEST_CASE("the threshold with the most exact matches is chosen, the nearest to 0.5 among equals") {
  chooser c;
  c.add(row_with({ab, bc}), {both, {}, -1, {0.32f, 0.9f}, {}, 0});  // right up to 0.3
  c.add(row_with({ab}), {both, {}, -1, {0.9f, 0.17f}, {}, 0});      // right from 0.2 on
  c.add(row_with({}), {{}, {}, -1, {}, {}, 0});                     // right with any
  CHECK(threshold_choice::at(c.choice.best()) == 0.3);
  CHECK(c.choice.exact_match(c.choice.best()) == 1);
  CHECK(c.choice.exact_match(9) == 2.0 / 3);
  CHECK(c.choice.of(9).edges.given == 3);
  CHECK(c.choice.of(9).edges.both == 2);
}

TEST_CASE("F1 of edges and labels decides between thresholds with as many exact matches") {
  chooser c;
  // No threshold is right: a wrong edge has 0.62, and the right edge has 0.72.
  c.add(row_with({ab}), {both, {0, 0}, -1, {0.72f, 0.62f}, {0.95f}, 0});
  CHECK(c.choice.exact_match(c.choice.best()) == 0);
  CHECK(threshold_choice::at(c.choice.best()) == 0.65);
  // In 20 other sentences, a right label has 0.42, and the edge is not found at all.
  auto labelled = row_with({ab});
  labelled.graph.node_labels[0] = {"u"};
  for (int i = 0; i < 20; ++i) c.add(labelled, {{}, {0, 0}, -1, {}, {0.42f}, 0});
  CHECK(c.choice.exact_match(c.choice.best()) == 0);
  CHECK(threshold_choice::at(c.choice.best()) == 0.4);
}

TEST_CASE("without a difference the threshold is 0.5, and each graph is made once") {
  chooser c;
  CHECK(threshold_choice::at(c.choice.best()) == 0.5);
  c.add(row_with({ab, bc}), {both, {}, -1, {0.97f, 0.99f}, {}, 0});
  CHECK(threshold_choice::at(c.choice.best()) == 0.5);
  CHECK(c.answers == 1);
  c.add(row_with({ab, bc}), {both, {}, -1, {0.4f, 0.97f}, {}, 0});
  CHECK(c.answers == 3);
}

TEST_CASE("of two thresholds at the same distance from 0.5 the lower is chosen") {
  chooser c;
  // From 0.55 on, two rows are right, and 4 of 6 edges are found.  Up to 0.45, the other two rows are right, and 6 of 9
  // edges and labels are right.
  c.add(row_with({ab}), {both, {}, -1, {0.9f, 0.52f}, {}, 0});
  c.add(row_with({ab}), {both, {0, 0}, -1, {0.9f, 0.52f}, {0.52f}, 0});
  for (int i = 0; i < 2; ++i) c.add(row_with({ab, bc}), {both, {}, -1, {0.9f, 0.47f}, {}, 0});
  for (std::size_t const k : {8, 10}) {
    CHECK(c.choice.exact_match(k) == 0.5);
    CHECK(c.choice.of(k).f1() == 0.8);
  }
  CHECK(threshold_choice::at(c.choice.best()) == 0.45);
}

TEST_CASE("a row that is left out counts as wrong, and not in F1") {
  chooser c;
  auto row = row_with({});
  row.left_out = "reason";
  c.choice.add(
      row, {both, {}, -1, {0.9f, 0.9f}, {}, 0}, [&](found_graph const& part) { return answer_of(row, part); },
      [](meaning const&) { return false; });
  CHECK(c.choice.exact_match(9) == 0);
  CHECK(c.choice.of(9).edges.found == 0);
}

}  // namespace programs_meanings_threshold_tests
