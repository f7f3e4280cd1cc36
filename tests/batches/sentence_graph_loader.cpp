// Tests the loader of sentences with graphs: what each number of a batch is, which sentences it refuses, and that it
// allocates only in its constructor.
// SPDX-License-Identifier: Apache-2.0
#include "triad/batches/sentence_graph_loader.hpp"

#include <vector>

#include "tests/allocations.hpp"
#include "tests/catch.hpp"
#include "triad/reference/reference.hpp"

namespace batches_sentence_graph_loader_tests {

using namespace triad;

using loader_type = sentence_graph_loader<reference::backend, float>;
constexpr sentence_graph_tables tables{.tokens = 5, .slots = 2, .reach = 1, .labels = {3, 2, 2}};

template <class V>
auto list(V const& view) {
  return std::vector<element_t<V>>(view.data_handle(), view.data_handle() + view.size());
}
using numbers = std::vector<index_t>;
using bits = std::vector<std::uint8_t>;

// Two sentences, of 3 tokens with token 2 queried, and of 1 token without queried tokens.  Both have 2 slots.
struct two {
  numbers tokens{4, 0, 3}, queried{2}, one{1};
  std::vector<sentence_edge> edges{{0, 2, 1}, {0, 0, 1}, {1, 2, 0}};
  std::vector<labelled_node> labels{{2, 1}};
  loader_type loader{sentence_graph_of(3, 2, 3) + sentence_graph_of(1, 2, 2), tables};

  two() { fill(); }
  void fill() {
    loader.clear();
    loader.add({.tokens = tokens, .queried = queried, .edges = edges, .labels = labels, .label = 1});
    loader.add({.tokens = one, .queried = {}});
  }
};

TEST_CASE("a batch has the tokens, the slots and the relations of its sentences") {
  two both;
  auto const in = both.loader.upload().first;
  CHECK(list(in.token) == numbers{4, 0, 3, 5, 6, 1, 5, 6});
  CHECK(list(in.position) == numbers{0, 1, 2, 3, 4, 0, 1, 2});
  CHECK(list(in.graphs.size) == numbers{5, 3});
  CHECK(list(in.self) == numbers{0, 6, 12, 18, 24, 25, 29, 33});
  // Of the second sentence: its token, then two slots.
  auto const relation = list(in.relation);
  CHECK(numbers(relation.begin() + 25, relation.end()) == numbers{1, 3, 3, 4, 5, 5, 4, 5, 5});
  CHECK(numbers(relation.begin(), relation.begin() + 10) == numbers{1, 2, 2, 3, 3, 0, 1, 2, 3, 3});
}

TEST_CASE("a batch lists the edges that heads read") {
  two both;
  auto const in = both.loader.upload().first;
  CHECK(list(in.grid.rows) == numbers{3, 1});
  CHECK(list(in.grid.columns) == numbers{3, 2});
  CHECK(list(in.grid.cell_begin) == numbers{0, 9});
  CHECK(list(in.grid.pair_begin) == numbers{0, 9});
  CHECK(list(in.members) == numbers{1, 0});
  // The queried nodes of the first sentence are the nodes 2, 3 and 4 of five; of the second, 1 and 2 of three.
  CHECK(list(in.role_edges) == numbers{2, 3, 4, 7, 8, 9, 12, 13, 14, 26, 27, 0, 6, 12, 25, 18, 29});
  CHECK(list(in.pair_edges) == numbers{12, 13, 14, 17, 18, 19, 22, 23, 24, 29, 30, 32, 33, 12, 18, 24, 29, 33, 18, 29});
  CHECK(list(in.score_row) == numbers{13, 1, 2, 3, 14, 5, 6, 7, 15, 16, 10, 11, 17});
}

TEST_CASE("a batch has the three words before each queried token, and no words before a slot") {
  two both;
  auto const in = both.loader.upload().first;
  CHECK(list(in.before) == numbers{5, 4, 0, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5});
  numbers const tokens{4, 0, 3, 1, 2}, queried{0, 4};
  loader_type loader(sentence_graph_of(5, 2, 4), tables);
  loader.add({.tokens = tokens, .queried = queried});
  CHECK(list(loader.upload().first.before) == numbers{5, 5, 5, 0, 3, 1, 5, 5, 5, 5, 5, 5});
}

TEST_CASE("a batch lists the edges between tokens and slots that anchors read") {
  two both;
  auto const in = both.loader.upload().first;
  CHECK(list(in.token_grid.rows) == numbers{3, 1});
  CHECK(list(in.token_grid.columns) == numbers{3, 1});
  CHECK(list(in.token_grid.cell_begin) == numbers{0, 9});
  CHECK(list(in.slot_grid.rows) == numbers{2, 2});
  CHECK(list(in.slot_grid.columns) == numbers{3, 1});
  CHECK(list(in.slot_grid.row_begin) == numbers{0, 2});
  CHECK(list(in.slot_grid.column_begin) == numbers{0, 3});
  CHECK(list(in.slot_grid.cell_begin) == numbers{0, 6});
  CHECK((in.slot_grid.dims.rows == 4 && in.slot_grid.dims.cells == 8));
  CHECK(list(in.queried) == numbers{2, 3, 4, 1, 2});
  numbers const of_tokens{0, 1, 2, 5, 6, 7, 10, 11, 12, 25, 0, 6, 12, 25}, from_slots{15, 16, 17, 20, 21, 22, 28, 31},
      to_slots{3, 8, 13, 4, 9, 14, 26, 27}, of_slots{18, 24, 29, 33, 18, 29};
  numbers all;
  for (auto const& part : {of_tokens, from_slots, to_slots, of_slots}) all.insert(all.end(), part.begin(), part.end());
  CHECK(list(in.anchor_edges) == all);
}

TEST_CASE("targets are the labels that are there, several for one pair and one node") {
  two both;
  both.loader.weigh({.bag = 0.5, .pointers = 3});
  auto const targets = both.loader.upload().second;
  bits edge(13 * 3), node(5 * 2);
  edge[1 * 3 + 2] = edge[1 * 3 + 0] = edge[3 * 3 + 2] = 1;
  node[2 * 2 + 1] = 1;
  CHECK(list(targets.edge) == edge);
  CHECK(list(targets.node) == node);
  CHECK(list(targets.bag) == bits{1, 0, 1, 0, 0, 0});
  CHECK(list(targets.graph) == numbers{1, -1});
  CHECK(list(targets.factor) == std::vector<float>{0.5f, 0.25f, 1.5f});
  CHECK(*targets.factor_of(graph_loss_part::pointers).data_handle() == 1.5f);
  both.fill();  // nothing is left of an earlier batch
  CHECK(list(both.loader.upload().second.edge) == edge);
}

TEST_CASE("a sentence with numbers that no table has is refused with a sentence") {
  two both;
  auto& loader = both.loader;
  loader.clear();
  numbers const far{5}, twice{1, 1}, last{3};
  std::vector<sentence_edge> const edge{{0, 3, 0}}, from{{5, 0, 0}};
  std::vector<labelled_node> const label{{0, 2}};
  CHECK_THROWS_WITH(loader.add({.tokens = far, .queried = {}}), test::contains("token 5, expected 0 to 4"));
  CHECK_THROWS_WITH(loader.add({.tokens = {}, .queried = {}}), test::contains("without tokens"));
  CHECK_THROWS_WITH(loader.add({.tokens = both.tokens, .queried = last}),
                    test::contains("queried token 3, expected 0 to 2"));
  CHECK_THROWS_WITH(loader.add({.tokens = both.tokens, .queried = twice}), test::contains("the queried tokens 1, 1"));
  CHECK_THROWS_WITH(loader.add({.tokens = both.tokens, .queried = {}, .edges = edge}),
                    test::contains("the label of an edge 3, expected 0 to 2"));
  CHECK_THROWS_WITH(loader.add({.tokens = both.tokens, .queried = {}, .edges = from}),
                    test::contains("the first node of an edge 5, expected 0 to 1"));
  CHECK_THROWS_WITH(loader.add({.tokens = both.tokens, .queried = {}, .labels = label}),
                    test::contains("the label of a node 2, expected 0 to 1"));
  CHECK_THROWS_WITH(loader.add({.tokens = both.tokens, .queried = {}, .label = 2}),
                    test::contains("is 2, expected below 2"));
  CHECK(loader.dims().graphs.graphs == 0);
  CHECK((loader.has_room(3, 1) && !loader.has_room(4, 1) && !loader.has_room(3, 3) && !loader.has_room(0, 0)));
  numbers const four{0, 0, 0, 0};
  CHECK_THROWS_WITH(loader.add({.tokens = four, .queried = {}}),
                    test::contains("a sentence of 4 tokens, 0 of them queried, does not fit"));
}

TEST_CASE("a loader of sentences with graphs allocates nothing after it was made") {
  two both;
  both.loader.upload();
  auto const before = test::allocations.load();
  both.fill();
  both.loader.upload();
  CHECK((before > 0 && test::allocations.load() == before));
}

}  // namespace batches_sentence_graph_loader_tests
