// Tests the sizes of batches of sentences with graphs, and that a batch lists all of its views.
// SPDX-License-Identifier: Apache-2.0
#include "triad/batches/sentence_graph_batch.hpp"

#include <vector>

#include "tests/catch.hpp"
#include "tests/replay_number.hpp"
#include "triad/batches/room_for.hpp"
#include "triad/batches/sentence_graph_loader.hpp"
#include "triad/reference/reference.hpp"

namespace batches_sentence_graph_batch_tests {

using namespace triad;

TEST_CASE("sizes of sentences with graphs add up, and fit where both parts fit") {
  auto const one = sentence_graph_of(3, 2, 4), other = sentence_graph_of(5, 2, 2), sum = one + other;
  CHECK((sum.graphs.graphs == 2 && sum.graphs.rows == 25 + 49 && sum.grid.cells == 12 + 10 && sum.grid.pairs == 20));
  CHECK((sum.token_grid.cells == 9 + 25 && sum.slot_grid.rows == 4 && sum.slot_grid.cells == 6 + 10));
  CHECK((sum.read_by_pairs() == 20 + 6 + 2 && sum.read_by_roles() == 22 + 8 + 2));
  CHECK(sum.read_by_anchors() == 34 + 8 + 2 * 16 + 4 + 2);
  CHECK((fits(one, sum) && fits(other, larger(one, other)) && !fits(sum, larger(one, other))));
  auto wider = sum;
  ++wider.grid.columns;
  CHECK_FALSE(fits(wider, sum));
  wider = sum;
  ++wider.graphs.nodes;
  CHECK_FALSE(fits(wider, sum));
  for (auto grid : {&sentence_graph_dims::token_grid, &sentence_graph_dims::slot_grid}) {
    wider = sum;
    ++(wider.*grid).cells;
    CHECK_FALSE(fits(wider, sum));
  }
  CHECK(triad::detail::dims_text(one) == "1 graphs, 25 edges, 5 nodes in the largest, 3 tokens, 4 queried nodes");

  std::vector<sentence_graph_dims> const all{one, other, one};
  auto const room = room_for(all, 2, [](auto const& d) { return d; });
  CHECK((room.graphs.graphs == 2 && room.graphs.rows == 74 && room.graphs.max_nodes == 7));
  CHECK((room.grid.cells == 24 && room.grid.pairs == 32 && room.grid.max_columns == 4));
  CHECK((room.token_grid.cells == 34 && room.slot_grid.cells == 16 && room.slot_grid.max_columns == 5));
}

TEST_CASE("a batch of sentences with graphs lists its views, and its number changes with each of them") {
  using loader_type = sentence_graph_loader<reference::backend, float>;
  sentence_graph_tables const tables{.tokens = 5, .slots = 1, .reach = 2, .labels = {2, 3, 2}};
  std::vector<index_t> const tokens{1, 4}, queried{1};
  auto const filled = [&] {
    loader_type loader(sentence_graph_of(2, 1, 2), tables);
    loader.add({.tokens = tokens, .queried = queried});
    return loader;
  };
  auto a = filled(), b = filled();
  auto const in = a.upload().first;
  auto const others = b.upload().first;
  auto const number = test::replay_number(in);
  for (auto member : {&sentence_graph_batch<float>::members, &sentence_graph_batch<float>::role_edges,
                      &sentence_graph_batch<float>::pair_edges, &sentence_graph_batch<float>::score_row,
                      &sentence_graph_batch<float>::queried, &sentence_graph_batch<float>::anchor_edges}) {
    auto other = in;
    other.*member = others.*member;
    CHECK(test::replay_number(other) != number);
  }
  for (auto grid : {&sentence_graph_batch<float>::token_grid, &sentence_graph_batch<float>::slot_grid}) {
    auto other = in;
    other.*grid = others.*grid;
    CHECK(test::replay_number(other) != number);
  }
  auto const bare = sentence_graph_batch<float>::measured(in.dims());
  CHECK((bare.role_edges.extent(0) == 4 + 2 + 1 && bare.pair_edges.extent(0) == 4 + 2 + 1));
  CHECK((bare.anchor_edges.extent(0) == 4 + 2 + 4 + 1 + 1 && bare.slot_grid.cell_begin.extent(0) == 1));
  CHECK((bare.members.extent(0) == 1 && bare.members.data_handle() == nullptr && bare.token.extent(0) == 3));
}

}  // namespace batches_sentence_graph_batch_tests
