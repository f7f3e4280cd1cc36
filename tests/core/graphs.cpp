// Tests that a batch of graphs lists all of its views, and that the key of a mask of triangles depends on its view and
// its fill value.
// SPDX-License-Identifier: Apache-2.0
#include "triad/core/graphs.hpp"

#include "tests/catch.hpp"
#include "tests/ragged.hpp"
#include "tests/replay_number.hpp"
#include "triad/core/batch_views.hpp"

namespace core_graphs_tests {

using namespace triad;
using test::replay_number;

bool same_dims(graph_dims const& a, graph_dims const& b) {
  return a.graphs == b.graphs && a.rows == b.rows && a.nodes == b.nodes && a.triangles == b.triangles &&
         a.max_nodes == b.max_nodes;
}

TEST_CASE("sizes of graphs add, grow to hold both, and fit where no part is larger") {
  CHECK(same_dims(dims_of(3), {1, 9, 3, 27, 3}));
  auto const sum = dims_of(3) + dims_of(2), most = larger(sum, dims_of(4));
  CHECK(same_dims(sum, {2, 13, 5, 35, 3}));
  CHECK(same_dims(most, {2, 16, 5, 64, 4}));
  CHECK((fits(sum, most) && fits(dims_of(4), most) && fits({}, dims_of(0))));
  for (auto member :
       {&graph_dims::graphs, &graph_dims::rows, &graph_dims::nodes, &graph_dims::triangles, &graph_dims::max_nodes}) {
    auto more = most;
    ++(more.*member);
    CHECK_FALSE(fits(more, most));
  }
}

TEST_CASE("a batch of graphs measured without memory has a number for each graph in each of its views") {
  test::ragged const graphs({3, 0, 2});
  auto const bare = without_memory(graphs.batch());
  for (auto const& view : {bare.size, bare.node_begin, bare.edge_begin, bare.triangle_begin}) {
    CHECK(view.data_handle() == nullptr);
    CHECK(view.extent(0) == 3);
  }
  CHECK((bare.dims.rows == 13 && bare.dims.nodes == 5 && bare.dims.triangles == 35 && bare.dims.max_nodes == 3));
  CHECK(upload_bytes(graphs.batch()) == 4 * 128);  // each view has three numbers
}

TEST_CASE("two batches of graphs are one step only where all sizes and views are the same") {
  test::ragged const graphs({3, 0, 2}), others({3, 0, 2});
  auto const g = graphs.batch();
  auto const number = replay_number(g);
  CHECK(replay_number(graphs.batch()) == number);
  for (auto member : {&graph_dims::graphs, &graph_dims::rows, &graph_dims::nodes, &graph_dims::triangles,
                      &graph_dims::max_nodes, &graph_dims::further}) {
    auto other = g;
    ++(other.dims.*member);
    CHECK(replay_number(other) != number);
  }
  for (auto member :
       {&graph_batch::size, &graph_batch::node_begin, &graph_batch::edge_begin, &graph_batch::triangle_begin}) {
    auto other = g;
    other.*member = others.batch().*member;
    CHECK(replay_number(other) != number);
  }
}

TEST_CASE("a mask of no triangle shuts none, and one that shuts them otherwise is another step") {
  CHECK(triangle_mask{}.empty());
  std::vector<std::uint8_t> const masked(35);
  triangle_mask mask{make_vec(masked.data(), 35)};
  CHECK_FALSE(mask.empty());
  auto const number = replay_number(mask);
  CHECK(number != replay_number(triangle_mask{}));
  mask.fill = -1e3;
  CHECK(replay_number(mask) != number);
}

}  // namespace core_graphs_tests
