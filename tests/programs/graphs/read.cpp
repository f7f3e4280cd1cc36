// Tests graphs that a program makes edge by edge.
// SPDX-License-Identifier: Apache-2.0
#include "graphs/read.hpp"

#include "tests/catch.hpp"

namespace programs_read_tests {

namespace graphs = triad::programs::graphs;

using triad::test::contains;

TEST_CASE("a graph that is made edge by edge has the labels of a pair as one word, and no node that it does not have") {
  graphs::written_graph g{.nodes = 2, .node_labels = {}, .pairs = {}, .query = {0, 1}, .target = "x"};
  g.edge(0, "b", 1).edge(0, "a", 1);
  auto const data = graphs::data_of({g}, {}, {});
  CHECK(data.words.edge_labels.all() == "a + b");
  REQUIRE(data.train.size() == 1);
  CHECK(data.train[0].edges.size() == 1);
  auto beyond = g;
  beyond.edge(0, "a", 2);
  CHECK_THROWS_WITH(graphs::data_of({beyond}, {}, {}),
                    contains("an edge names node 2, expected a whole number from 0 to 1"));
  beyond = g;
  beyond.query = {0, -1};
  CHECK_THROWS_WITH(graphs::data_of({beyond}, {}, {}), contains("the query names node -1"));
  g.edge(1, "", 0);
  CHECK_THROWS_WITH(graphs::data_of({g}, {}, {}), contains("the label \"\" is empty"));
}

}  // namespace programs_read_tests
