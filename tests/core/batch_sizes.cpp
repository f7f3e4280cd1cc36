// Tests that the sizes of a batch are converted to text, and compared with the sizes for which memory was planned.
// SPDX-License-Identifier: Apache-2.0
#include "triad/core/batch_sizes.hpp"

#include <string>

#include "tests/catch.hpp"
#include "triad/batches/edge_pair_batch.hpp"
#include "triad/batches/graph_queries.hpp"
#include "triad/batches/tree_batch.hpp"
#include "triad/layers/fused_layer.hpp"

namespace core_batch_sizes_tests {

using namespace triad;

TEST_CASE("the sizes of a batch are its dims(), or those of its graphs") {
  graph_queries graphs;
  graphs.graphs.dims = {3, 27, 9, 81, 3};
  CHECK(detail::dims_of_batch(graphs).rows == 27);
  pair_batch<float> pairs;
  pairs.sizes = {2, 5, 6, 3, 4};
  CHECK(detail::dims_of_batch(pairs).target_rows == 6);
}

TEST_CASE("sizes are named by what they count") {
  CHECK(detail::dims_text(graph_dims{3, 27, 9, 81, 4}) ==
        "3 graphs, 27 edges, 9 nodes, 81 triangles, 4 nodes in the largest");
  CHECK(detail::dims_text(pair_dims{2, 5, 6, 3, 4}) ==
        "2 pairs, 5 tokens of sources, 6 tokens of targets, 3 in the longest source, 4 in the longest target");
  CHECK(detail::dims_text(edge_pair_dims_of(2, 3)) ==
        "1 pairs, 4 edges of sources, 25 edges of pairs, 2 nodes in the largest source, 5 nodes in the largest pair, "
        "5 nodes, 125 triangles, 3 tokens of targets");
  CHECK(detail::dims_text(tree_dims{7}) == "7 trees");
  CHECK(detail::dims_text(row_dims(7)) == "7 rows");
  CHECK(detail::dims_text(fuse_dims(row_dims(7), 3)) == "7 rows");
  CHECK(detail::dims_text(cross_dims(row_dims(7), 5)) == "7 rows, 5 tokens of sources");
  CHECK(detail::dims_text(fused_dims(row_dims(7), 3, 5)) == "7 rows, 5 tokens of sources");
  auto graphs = dims_of(2);
  graphs.further = 3;
  CHECK(detail::dims_text(graphs) ==
        "1 graphs, 4 edges, 2 nodes, 8 triangles, 2 nodes in the largest, 3 further questions");
  struct of_a_user {
    index_t rows = 7;
  };
  CHECK(detail::dims_text(of_a_user{}) == "another size");
}

TEST_CASE("what does not fit is reported with both sizes, and what was measured is untouched by other faults") {
  graph_dims const batch{3, 27, 9, 81, 3}, capacity{1, 9, 3, 27, 3};
  auto const within = [&](auto&& work) { return detail::within_capacity("it", "of the test", batch, capacity, work); };
  CHECK(within([] { return 5; }) == 5);
  auto const too_small = []() -> int { throw arena_too_small("12 bytes"); };
  CHECK_THROWS_WITH(within(too_small), test::contains("it: a batch of 3 graphs, 27 edges") &&
                                           test::contains("the capacity of the test is 1 graphs, 9 edges") &&
                                           test::contains("12 bytes"));
  CHECK_THROWS_WITH(within([]() -> int { throw contract_violation("another"); }), test::contains("another"));
}

}  // namespace core_batch_sizes_tests
