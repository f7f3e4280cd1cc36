// Tests the offsets of graphs that are stored one after another.
// SPDX-License-Identifier: Apache-2.0
#include "triad/batches/graph_offsets.hpp"

#include <vector>

#include "tests/catch.hpp"

namespace batches_graph_offsets_tests {

using namespace triad;

using test::contains;

bool same_dims(graph_dims const& a, graph_dims const& b) {
  return a.graphs == b.graphs && a.rows == b.rows && a.nodes == b.nodes && a.triangles == b.triangles &&
         a.max_nodes == b.max_nodes;
}

TEST_CASE("graphs that are added lie one after the other until there is no room") {
  graph_offsets graphs({3, 14, 6, 40, 3});
  CHECK(graphs.has_room(3));
  CHECK_FALSE((graphs.has_room(0) || graphs.has_room(-1) || graphs.has_room(4) || graphs.has_room(most_nodes + 1)));
  CHECK(same_dims(graphs.add(3), {}));
  CHECK(same_dims(graphs.add(2), {1, 9, 3, 27, 3}));
  CHECK_FALSE(graphs.has_room(2));
  CHECK_THROWS_WITH(graphs.add(2), contains("graph_offsets: a graph of 2 nodes does not fit: the batch has"));
  CHECK(same_dims(graphs.dims(), {2, 13, 5, 35, 3}));
  CHECK(graphs.has_room(1));

  std::vector<std::vector<index_t>> lists;
  auto const batch = graphs.upload([&](std::vector<index_t> const& values, index_t count) {
    lists.emplace_back(values.begin(), values.begin() + count);
    return vec<index_t const>(values.data(), count);
  });
  CHECK(lists == std::vector<std::vector<index_t>>{{3, 2}, {0, 3}, {0, 9}, {0, 27}});
  CHECK((batch.size(1) == 2 && batch.node_begin(1) == 3 && batch.edge_begin(1) == 9 && batch.triangle_begin(1) == 27));
  graphs.clear();
  CHECK(same_dims(graphs.dims(), {}));
}

TEST_CASE("offsets of a capacity that is none are refused with its name and number") {
  CHECK_THROWS_WITH(graph_offsets({1, 1, -2, 1, 1}),
                    contains("a loader's capacity: nodes is -2, expected 0 to 1152921504606846976"));
}

}  // namespace batches_graph_offsets_tests
