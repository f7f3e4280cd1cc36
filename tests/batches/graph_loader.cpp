// Tests batches of labelled graphs: the upload, and refused input.
// SPDX-License-Identifier: Apache-2.0
#include "triad/batches/graph_loader.hpp"

#include <limits>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/replay_number.hpp"
#include "triad/reference/backend.hpp"

namespace batches_graph_loader_tests {

using namespace triad;
using test::contains;
using list = std::vector<index_t>;

list listed(vec<index_t const> v) { return {v.data_handle(), v.data_handle() + v.size()}; }

TEST_CASE("a batch has the labels of every edge, and the row of every edge and node that is asked about") {
  graph_loader<reference::backend> loader({3, 14, 6, 40, 3});
  auto* const first = loader.add(3, 0, 2, 5);
  first[0 * 3 + 1] = 7;
  first[1 * 3 + 2] = 8;
  auto* const second = loader.add(2, 1, 0, -1);
  second[1 * 2 + 0] = 9;
  CHECK(list(loader.answers().begin(), loader.answers().end()) == list{5, -1});
  auto const [in, targets] = loader.upload();
  CHECK((in.graphs.dims.graphs == 2 && in.graphs.dims.rows == 13 && in.graphs.dims.nodes == 5));
  CHECK(listed(in.graphs.size) == list{3, 2});
  CHECK(listed(in.graphs.node_begin) == list{0, 3});
  CHECK(listed(in.graphs.edge_begin) == list{0, 9});
  CHECK(listed(in.graphs.triangle_begin) == list{0, 27});
  CHECK(listed(in.label) == list{0, 7, 0, 0, 0, 8, 0, 0, 0, 0, 0, 9, 0});
  CHECK(listed(in.query_edge) == list{2, 11});
  CHECK(listed(in.query_source) == list{0, 4});
  CHECK(listed(in.query_target) == list{2, 3});
  CHECK(listed(targets) == list{5, -1});
  CHECK((in.mask.empty() && in.edge_mask.extent(0) == 0));
}

TEST_CASE("further questions come after those of the graphs, and weigh what is asked by the known answers") {
  graph_loader<reference::backend> loader({3, 18, 8, 62, 3, 4});
  loader.further_weight(0.5);
  (void)loader.add(3, 0, 2, 5);
  loader.ask({{0, 1}, 2});
  loader.ask({{1, 2}, -1});
  CHECK(loader.has_room(2, 2));
  CHECK_FALSE(loader.has_room(2, 3));
  std::vector<further_question> const more{{{1, 1}, 3}, {{0, 1}, 4}};
  std::vector<labelled_edge> const edges{{0, 7, 1}};
  (void)loader.add({.nodes = 2, .edges = edges, .ask = {1, 0}, .answer = 6, .further = more});
  CHECK_THROWS_WITH(loader.ask({{0, 1}, 0}),
                    contains("another question after 4 further ones of 2 graphs, expected room for it"));
  CHECK(list(loader.answers().begin(), loader.answers().end()) == list{5, 6});
  auto const [in, targets] = loader.upload();
  CHECK((in.graphs.dims.graphs == 2 && in.graphs.dims.further == 4 && in.graphs.dims.questions() == 6));
  CHECK(listed(in.query_edge) == list{2, 11, 1, 5, 12, 10});
  CHECK(listed(in.query_source) == list{0, 4, 0, 1, 4, 3});
  CHECK(listed(in.query_target) == list{2, 3, 1, 2, 4, 4});
  CHECK(listed(targets) == list{5, 6, 2, -1, 3, 4});
  CHECK((in.further_share.extent(0) == 1 && in.further_share(0) == 0.5 * 3 / 2));
  loader.clear();
  // ask() adds a question to the last graph, and there is no graph.
  CHECK_THROWS_WITH(loader.ask({{0, 0}, 0}), contains("another question after 0 further ones"));
  (void)loader.add(2, 0, 1, 1);
  CHECK(loader.upload().first.further_share.extent(0) == 0);
  for (node_pair const pair : {node_pair{0, 2}, node_pair{-1, 0}}) {
    CHECK_THROWS_WITH(loader.ask({pair, 0}), contains("a further question about nodes "));
    std::vector<further_question> const wrong{{pair, 0}};
    CHECK_THROWS_WITH(loader.add({.nodes = 2, .further = wrong}), contains("a further question about nodes "));
  }
  CHECK_THROWS_WITH(loader.add({.nodes = 2, .further = std::vector<further_question>(5)}),
                    contains("a graph of 2 nodes with 5 further questions does not fit"));
  CHECK((loader.dims().graphs == 1 && loader.dims().further == 0));
  CHECK_THROWS_WITH(loader.further_weight(-1), contains("0 or more"));
}

TEST_CASE("a loader that was cleared knows no label of the batch before, and lays the next where that lay") {
  graph_loader<reference::backend> loader({2, 8, 4, 16, 2});
  for (int i = 0; i < 2; ++i) std::fill_n(loader.add(2, 0, 1, 1), 4, index_t{3});
  auto const before = test::replay_number(loader.upload().first);
  loader.clear();
  CHECK(loader.answers().empty());
  (void)loader.add(2, 0, 0, 0);
  (void)loader.add(2, 1, 1, 0);
  auto const [in, targets] = loader.upload();
  CHECK(listed(in.label) == list(8));
  CHECK(listed(in.query_edge) == list{0, 7});
  CHECK(test::replay_number(in) == before);  // only values differ
  loader.clear();
  CHECK(loader.upload().first.graphs.dims.graphs == 0);
}

TEST_CASE("a graph too many, one without nodes and a question about no node are refused, and change nothing") {
  graph_loader<reference::backend> loader({1, 9, 3, 27, 3});
  for (index_t n : {0, -1, 4})
    CHECK_THROWS_WITH(loader.add(n, 0, 0, 0),
                      contains("graph_loader: a graph of " + std::to_string(n) + " nodes does not fit"));
  for (index_t bad : {-1, 3}) {
    CHECK_THROWS_WITH(loader.add(3, bad, 0, 0), contains("a question about nodes "));
    CHECK_THROWS_WITH(loader.add(3, 0, bad, 0), contains("a question about nodes "));
  }
  CHECK(loader.dims().graphs == 0);
  (void)loader.add(3, 2, 2, 0);
  CHECK_FALSE(loader.has_room(1));
  CHECK_THROWS_AS(loader.add(1, 0, 0, 0), contract_violation);
  CHECK(listed(loader.upload().first.query_edge) == list{8});
}

TEST_CASE("a graph that is given as a whole has the labels of its edges, of its nodes, and of inverses") {
  graph_loader<reference::backend> loader({2, 18, 6, 54, 3});
  std::vector<labelled_edge> const edges{{0, 1, 1}, {1, 2, 2}, {2, 4, 1}};
  list const nodes{5, 6, 7};
  auto const opposite = [](index_t label) { return label + 10; };
  (void)loader.add({.nodes = 3, .edges = edges, .ask = {0, 2}, .answer = 4});
  (void)loader.add({.nodes = 3, .edges = edges, .node_labels = nodes, .ask = {2, 0}, .inverse = opposite});
  auto const [in, targets] = loader.upload();
  CHECK(listed(in.label) == list{0, 1, 0, 0, 0, 2, 0, 4, 0, /* and */ 5, 1, 0, 11, 6, 2, 0, 4, 7});
  CHECK(listed(in.query_edge) == list{2, 9 + 6});
  CHECK(listed(targets) == list{4, -1});
}

TEST_CASE("an edge of no node, a label of no edge and two labels of one edge are refused, and nothing is added") {
  graph_loader<reference::backend> loader({2, 18, 6, 54, 3});
  using edges = std::vector<labelled_edge>;
  auto const refused = [&](graph_question const& g, char const* what) {
    CHECK_THROWS_WITH(loader.add(g), contains(what));
    CHECK(loader.dims().graphs == 0);
  };
  edges const outside{{0, 1, 3}}, none{{0, 0, 1}}, two{{0, 1, 1}, {0, 2, 1}}, twice{{0, 1, 1}, {0, 1, 1}},
      own{{1, 2, 1}};
  list const few{1}, zero{1, 0, 1};
  refused({.nodes = 3, .edges = outside}, "edge (0, 3), expected nodes 0 to 2");
  refused({.nodes = 3, .edges = none}, "label of edge (0, 1) is 0");
  refused({.nodes = 3, .edges = two}, "edge (0, 1) has labels 1 and 2");
  refused({.nodes = 3, .edges = own, .node_labels = zero}, "label of edge (1, 1) is 0");
  refused({.nodes = 3, .edges = own, .node_labels = few}, "1 labels of nodes, expected 3");
  refused({.nodes = 3, .edges = twice, .inverse = [](index_t) { return index_t{0}; }}, "label of edge (1, 0) is 0");
  refused({.nodes = 3, .ask = {0, 3}}, "a question about nodes 0 and 3, expected nodes 0 to 2");
  refused({.nodes = 4}, "a graph of 4 nodes does not fit");
  CHECK_NOTHROW(loader.add({.nodes = 3, .edges = twice}));
  CHECK_NOTHROW(loader.add({.nodes = 3, .edges = own, .node_labels = list{1, 2, 3}}));
  // After a graph was refused, a further question belongs to the graph before it.
  graph_dims room{2, 18, 6, 54, 3};
  room.further = 1;
  graph_loader<reference::backend> asked(room);
  asked.add({.nodes = 3, .edges = own, .answer = 0});
  CHECK_THROWS_WITH(asked.add({.nodes = 3, .edges = two}), contains("has labels 1 and 2"));
  CHECK_NOTHROW(asked.ask({{0, 1}, 2}));
  CHECK_FALSE(asked.has_room(index_t{1} << 32));
  CHECK_FALSE(asked.has_room(3, std::numeric_limits<index_t>::max()));
}

TEST_CASE("further questions that would weigh nothing are refused") {
  graph_dims room{1, 9, 3, 27, 3};
  room.further = 1;
  graph_loader<reference::backend> loader(room);
  std::vector<further_question> const known{{{0, 1}, 1}}, unknown{{{0, 1}, -1}};
  loader.add({.nodes = 3, .further = known});
  CHECK_THROWS_WITH(loader.upload(), contains("further questions alone weigh nothing"));
  for (double const weight : {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    CHECK_THROWS_WITH(loader.further_weight(weight),
                      contains("the weight of further questions is " + std::to_string(weight)));
  loader.further_weight(0);
  CHECK_NOTHROW(loader.upload());
  loader.further_weight(1);
  loader.clear();
  loader.add({.nodes = 3, .further = unknown});
  CHECK_NOTHROW(loader.upload());
}

}  // namespace batches_graph_loader_tests
