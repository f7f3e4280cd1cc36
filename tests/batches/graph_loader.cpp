// Batches of labelled graphs: what is uploaded, and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include "triad/batches/graph_loader.hpp"

#include <vector>

#include "tests/catch.hpp"
#include "tests/replay_number.hpp"
#include "triad/reference/backend.hpp"

namespace {

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
  CHECK_THROWS_WITH(loader.uploaded_answers(), contains("upload() comes before uploaded_answers()"));
  auto const in = loader.upload();
  CHECK((in.graphs.dims.graphs == 2 && in.graphs.dims.rows == 13 && in.graphs.dims.nodes == 5));
  CHECK(listed(in.graphs.size) == list{3, 2});
  CHECK(listed(in.graphs.node) == list{0, 3});
  CHECK(listed(in.graphs.edge) == list{0, 9});
  CHECK(listed(in.graphs.triangle) == list{0, 27});
  CHECK(listed(in.label) == list{0, 7, 0, 0, 0, 8, 0, 0, 0, 0, 0, 9, 0});
  CHECK(listed(in.query_edge) == list{2, 11});
  CHECK(listed(in.query_source) == list{0, 4});
  CHECK(listed(in.query_target) == list{2, 3});
  CHECK(listed(loader.uploaded_answers()) == list{5, -1});
  CHECK((in.mask.empty() && in.edge_mask.extent(0) == 0));
}

TEST_CASE("a loader that was cleared knows no label of the batch before, and lays the next where that lay") {
  graph_loader<reference::backend> loader({2, 8, 4, 16, 2});
  for (int i = 0; i < 2; ++i) std::fill_n(loader.add(2, 0, 1, 1), 4, index_t{3});
  auto const before = test::replay_number(loader.upload());
  loader.clear();
  CHECK(loader.answers().empty());
  (void)loader.add(2, 0, 0, 0);
  (void)loader.add(2, 1, 1, 0);
  auto const in = loader.upload();
  CHECK(listed(in.label) == list(8));
  CHECK(listed(in.query_edge) == list{0, 7});
  CHECK(test::replay_number(in) == before);  // other values alone
  loader.clear();
  CHECK(loader.upload().graphs.dims.graphs == 0);
}

TEST_CASE("a graph too many, one without nodes and a question about no node are refused, and change nothing") {
  graph_loader<reference::backend> loader({1, 9, 3, 27, 3});
  for (index_t n : {0, -1, 4}) CHECK_THROWS_WITH(loader.add(n, 0, 0, 0), contains("graph_loader: the batch is full"));
  for (index_t bad : {-1, 3}) {
    CHECK_THROWS_WITH(loader.add(3, bad, 0, 0), contains("names a node that is not there"));
    CHECK_THROWS_WITH(loader.add(3, 0, bad, 0), contains("names a node that is not there"));
  }
  CHECK(loader.dims().graphs == 0);
  (void)loader.add(3, 2, 2, 0);
  CHECK_FALSE(loader.has_room(1));
  CHECK_THROWS_AS(loader.add(1, 0, 0, 0), contract_violation);
  CHECK(listed(loader.upload().query_edge) == list{8});
}

}  // namespace
