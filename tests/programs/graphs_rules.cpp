// Tests rules of composition for labelled graphs, and the further questions that follow from them.
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "graphs/rules.hpp"
#include "tests/catch.hpp"

namespace programs_graphs_rules_tests {

using namespace triad::programs::graphs;

constexpr int no_name = 9;

/// Returns a chain with these labels between nodes 0, 1, ... The question is about its two ends.
labelled_graph chain(std::vector<int> const& labels, int target) {
  labelled_graph g{.nodes = static_cast<int>(labels.size()) + 1,
                   .edges = {},
                   .query = {0, static_cast<int>(labels.size())},
                   .target = target};
  for (int i = 0; i < static_cast<int>(labels.size()); ++i)
    g.edges.push_back({i, i + 1, labels[static_cast<std::size_t>(i)]});
  return g;
}
using asked = std::vector<further_target>;

TEST_CASE("graphs of two edges have rules, whatever the order of the edges, and longer ones have none") {
  composition_rules rules;
  rules.learn(chain({1, 2, 3}, 4));
  CHECK(rules.size() == 0);
  rules.learn(chain({1, 2}, 5));
  auto turned = chain({2, 3}, 6);
  std::swap(turned.edges[0], turned.edges[1]);
  rules.learn(turned);
  CHECK(rules.size() == 2);
  auto backwards = chain({1, 1}, 7), unknown = chain({1, 1}, -1), apart = chain({1, 1}, 7);
  backwards.query = {2, 0};
  apart.edges[1] = {0, 2, 1};
  for (auto const& g : {backwards, unknown, apart}) rules.learn(g);
  CHECK(rules.size() == 2);
}

TEST_CASE("every two edges that follow each other are asked about: by their rule, or that they have no name") {
  composition_rules rules;
  rules.learn(chain({1, 2}, 5));
  CHECK(rules.questions(chain({1, 2, 1, 1}, 4), no_name) == asked{{{0, 2}, 5}, {{1, 3}, no_name}, {{2, 4}, no_name}});
  CHECK(rules.questions(chain({1, 2}, 5), no_name).empty());  // the pair is already the graph's own question
  CHECK(rules.questions(chain({1}, 5), no_name).empty());
}

TEST_CASE("what is given, what leads back, and what has two names is not asked about") {
  composition_rules rules;
  rules.learn(chain({1, 2}, 5));
  auto g = chain({1, 2, 1}, 4);
  g.edges.push_back({0, 2, 3});  // a given edge: with (2, 3), it leads to the question
  g.edges.push_back({3, 2, 3});  // an edge in the other direction
  CHECK(rules.questions(g, no_name) == asked{{{1, 3}, no_name}});

  // There are paths from 0 to 3 through 1, through 2 and through 4. One path with a name is enough. If two paths give
  // different names, there is no question.
  rules.learn(chain({2, 1}, 6));
  labelled_graph ways{.nodes = 6, .edges = {{0, 1, 3}, {1, 3, 3}, {0, 2, 1}, {2, 3, 2}}, .query = {0, 5}, .target = 1};
  CHECK(rules.questions(ways, no_name) == asked{{{0, 3}, 5}});
  ways.edges.push_back({0, 4, 2});
  ways.edges.push_back({4, 3, 1});
  CHECK(rules.questions(ways, no_name).empty());

  rules.learn(chain({1, 2}, 7));  // training data contradict each other
  CHECK(rules.questions(chain({1, 2, 1}, 4), no_name) == asked{{{1, 3}, 6}});
}

}  // namespace programs_graphs_rules_tests
