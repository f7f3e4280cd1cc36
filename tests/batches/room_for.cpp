// Tests the capacity that is computed for a user's data: any batch of the given number of samples fits, and the
// capacity is not larger than needed.
// SPDX-License-Identifier: Apache-2.0
#include "triad/batches/room_for.hpp"

#include <algorithm>
#include <vector>

#include "tests/catch.hpp"
#include "triad/batches/edge_pair_batch.hpp"
#include "triad/batches/pair_batch.hpp"
#include "triad/core/random.hpp"

namespace batches_room_for_tests {

using namespace triad;

struct graph {
  int nodes;
};
struct sentences {
  index_t source, target;
};

TEST_CASE("room for the largest graphs is what they have together") {
  std::vector<graph> const data{{3}, {7}, {2}, {5}};
  auto const two = room_for(data, 2);
  CHECK(
      (two.graphs == 2 && two.rows == 49 + 25 && two.nodes == 12 && two.triangles == 343 + 125 && two.max_nodes == 7));
  auto const all = room_for(data, 100);  // 100 is more than the number of samples
  CHECK((all.graphs == 4 && all.nodes == 17 && all.max_nodes == 7));
  std::vector<index_t> const sizes{4, 4};
  CHECK(room_for(sizes, 1, [](index_t n) { return n; }).rows == 16);
}

TEST_CASE("room by numbers is for usual graphs, or for one of the largest") {
  auto const usual = room_for_graphs(10, 4, 5), large = room_for_graphs(2, 4, 9);
  CHECK((usual.graphs == 10 && usual.rows == 160 && usual.nodes == 40 && usual.triangles == 800));
  CHECK((large.graphs == 2 && large.rows == 81 && large.nodes == 9 && large.triangles == 729));
  CHECK((usual.max_nodes == 5 && large.max_nodes == 9 && large.further == 0));
}

TEST_CASE("any samples fit into the room, whichever they are") {
  random_stream random(3, 0);
  std::vector<sentences> data;
  for (int i = 0; i < 40; ++i) data.push_back({1 + random.below(20), 1 + random.below(20)});
  auto const of_pair = [](sentences const& s) { return dims_of(s.source, s.target); };
  auto const of_edges = [](sentences const& s) { return edge_pair_dims_of(s.source, s.target); };
  auto const pairs = room_for(data, 5, of_pair);
  auto const edges = room_for(data, 5, of_edges);
  for (int trial = 0; trial < 200; ++trial) {
    pair_dims p{};
    edge_pair_dims e{};
    for (std::size_t k = 0; k < 5; ++k) {
      std::swap(data[k], data[k + random.below(static_cast<std::uint32_t>(data.size() - k))]);
      p = p + of_pair(data[k]);
      e = e + of_edges(data[k]);
    }
    REQUIRE(fits(p, pairs));
    REQUIRE(fits(e, edges));
  }
  // The capacity is exact: the samples with the longest targets use all target tokens.
  std::sort(data.begin(), data.end(), [](auto const& a, auto const& b) { return a.target > b.target; });
  index_t longest = 0;
  for (std::size_t k = 0; k < 5; ++k) longest += data[k].target;
  CHECK((pairs.target_rows == longest && edges.targets == longest && pairs.longest_target == data[0].target));
  CHECK(pairs.pairs == 5);
}

TEST_CASE("no samples, or room for none, are refused") {
  std::vector<graph> const none, one{{3}};
  CHECK_THROWS_WITH(room_for(none, 2), test::contains("room_for: 2 of 0 samples"));
  CHECK_THROWS_WITH(room_for(one, 0), test::contains("room_for: 0 of 1 samples"));
}

}  // namespace batches_room_for_tests
