// Tests batches of pairs of sequences that are stored as graphs: the upload, and refused input.
// SPDX-License-Identifier: Apache-2.0
#include "triad/batches/edge_pair_loader.hpp"

#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/replay_number.hpp"
#include "triad/batches/position_waves.hpp"

namespace batches_edge_pair_loader_tests {

using namespace triad;
using test::contains;
using list = std::vector<index_t>;

list listed(vec<index_t const> v) { return {v.data_handle(), v.data_handle() + v.size()}; }

constexpr index_t begin = 1, end = 2;
constexpr auto relational = sequence_encoding::relational, positional = sequence_encoding::positional;

edge_pair_dims room(index_t a, index_t b, index_t c, index_t d) {
  return edge_pair_dims_of(a, b) + edge_pair_dims_of(c, d);
}

// The first pair has the source `7 end` and the target `begin 5`, so its graph has 4 nodes. The second pair has the
// source `end` and the target `begin`, so its graph has 2 nodes. With reach 1, the numbers 0 to 2 are relative
// positions within one side. 3 is an edge to the target, 4 is an edge to the source, and 5 is the edge from the first
// node to itself. 6 means that the vector of the edge comes from the encoded source.
template <class Ex, class T>
edge_pair_loader<Ex, T> two_pairs(sequence_encoding encoding, edge_readout readout) {
  edge_pair_loader<Ex, T> loader(room(2, 2, 1, 1), {encoding, {1}, readout}, 6, begin, end);
  loader.add(list{7}, list{5});
  loader.add(list{}, list{});
  return loader;
}

TEMPLATE_TEST_CASE("a batch has the graphs of its sources and of the whole, their tokens, places and rows", "",
                   TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  auto loader = two_pairs<typename TestType::backend, T>(relational, edge_readout::diagonal);
  auto const both = loader.upload();
  auto const& in = both.first;
  auto const& z = in.dims();
  CHECK((z.pairs == 2 && z.targets == 3));
  CHECK((z.source.graphs == 2 && z.source.nodes == 3 && z.source.rows == 5 && z.source.triangles == 9 &&
         z.source.max_nodes == 2));
  CHECK((z.whole.graphs == 2 && z.whole.nodes == 6 && z.whole.rows == 20 && z.whole.triangles == 72 &&
         z.whole.max_nodes == 4));
  CHECK(listed(in.source.graphs.size) == list{2, 1});
  CHECK(listed(in.whole.graphs.size) == list{4, 2});
  CHECK(listed(in.whole.graphs.edge_begin) == list{0, 16});
  CHECK(listed(in.sources) == list{2, 1});
  CHECK(listed(in.source.token) == list{7, end, end});
  CHECK(listed(in.source.position) == list{0, 1, 0});
  CHECK(listed(in.source.self) == list{0, 3, 4});
  CHECK(listed(in.source.relation) == list{5, 2, 0, 1, 5});
  CHECK(listed(in.source_row) == list{0, 1, 4, 5, 16});
  CHECK(listed(in.whole.token) == list{7, end, begin, 5, end, begin});
  CHECK(listed(in.whole.position) == list{0, 1, 0, 1, 0, 0});
  CHECK(listed(in.target_token) == list{begin, 5, begin});
  CHECK(listed(in.target_self) == list{10, 15, 19});
  CHECK(listed(in.wanted) == list{10, 15, 19});
  CHECK(listed(both.second.next) == list{5, end, end});
  CHECK(listed(in.whole.relation) == list{6, 6, 3, 3, 6, 6, 3, 3, 4, 4, 5, 2, 4, 4, 0, 1, 6, 3, 4, 5});
  CHECK(listed(in.origin) == list{6, 7, 3, 3, 8, 9, 3, 3, 4, 4, 5, 2, 4, 4, 0, 1, 10, 3, 4, 5});
  CHECK((in.mask.empty() && in.source_mask.empty()));
  auto const waves = position_waves(4, 6);
  REQUIRE((in.whole.waves.extent(0) == 4 && in.whole.waves.extent(1) == 6));
  for (index_t k = 0; k < 4; ++k)
    for (index_t c = 0; c < 6; ++c)
      CHECK(in.source.waves(k, c) == static_cast<T>(waves[static_cast<std::size_t>(k * 6 + c)]));
}

TEMPLATE_TEST_CASE("positional edges have places of their own, and a target may be read from its begin", "",
                   TRIAD_TEST_BACKENDS) {
  auto loader = two_pairs<TestType, double>(positional, edge_readout::from_begin);
  auto const in = loader.upload().first;
  CHECK(listed(in.wanted) == list{10, 11, 19});
  CHECK(listed(in.target_self) == list{10, 15, 19});
  CHECK(listed(in.whole.relation) == list{20, 20, 2, 3, 20, 20, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 20, 17, 18, 19});
  CHECK(listed(in.origin) == list{20, 21, 2, 3, 22, 23, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 24, 17, 18, 19});
}

TEMPLATE_TEST_CASE("relative positions are clipped within a side, and do not tell how far the other side is", "",
                   TRIAD_TEST_BACKENDS) {
  edge_pair_loader<TestType, double> loader(edge_pair_dims_of(4, 1), {relational, {2}}, 6, begin, end);
  loader.add(list{5, 6, 7}, list{});
  auto const in = loader.upload().first;
  CHECK(listed(in.source.relation) == list{7, 3, 4, 4, 1, 2, 3, 4, 0, 1, 2, 3, 0, 0, 1, 2});
  CHECK(listed(in.whole.relation) == list{8, 8, 8, 8, 5, 8, 8, 8, 8, 5, 8, 8, 8, 8, 5, 8, 8, 8, 8, 5, 6, 6, 6, 6, 7});
}

TEMPLATE_TEST_CASE(
    "a loader of graphs that was cleared knows nothing of the batch before, and lays the next where that lay", "",
    TRIAD_TEST_BACKENDS) {
  edge_pair_loader<TestType, double> loader(room(4, 4, 3, 3), {}, 4, begin, end);
  loader.add(list{7, 8, 9}, list{5, 5, 5});
  loader.add(list{7}, list{5, 5});
  auto const first = loader.upload();
  loader.clear();
  CHECK((loader.dims().pairs == 0 && loader.dims().targets == 0 && loader.dims().whole.max_nodes == 0));
  loader.add(list{4, 4}, list{6});
  auto const second = loader.upload();
  CHECK(listed(second.first.source.token) == list{4, 4, end});
  CHECK(listed(second.first.target_token) == list{begin, 6});
  CHECK(listed(second.first.whole.token) == list{4, 4, end, begin, 6});
  CHECK(listed(second.second.next) == list{6, end});
  CHECK(test::replay_number(first.first) != test::replay_number(second.first));  // sizes differ
  loader.clear();
  loader.add(list{9, 9}, list{9});
  auto const third = loader.upload();
  CHECK(test::replay_number(third.first) == test::replay_number(second.first));  // only values differ
  CHECK(test::replay_number(third.second) == test::replay_number(second.second));
  auto padded = third.first;
  std::uint8_t const masked[1] = {};
  padded.mask.masked = make_vec<std::uint8_t const>(masked, 1);
  CHECK(test::replay_number(padded) != test::replay_number(third.first));
  auto by_masks = third.first;
  by_masks.sources = vec<index_t const>(nullptr, 0);
  CHECK(test::replay_number(by_masks) != test::replay_number(third.first));
}

TEMPLATE_TEST_CASE("sources alone are graphs whose targets have no tokens", "", TRIAD_TEST_BACKENDS) {
  edge_pair_loader<TestType, float> loader(room(4, 0, 2, 0), {}, 4, begin, end);
  CHECK(loader.has_room(3));
  CHECK_FALSE(loader.has_room(3, 0));
  loader.add_source(list{7, 8, 9});
  CHECK(loader.has_room(1));
  CHECK_FALSE(loader.has_room(2));
  loader.add_source(list{6});
  CHECK_FALSE(loader.has_room(0));
  auto const both = loader.upload();
  CHECK(listed(both.first.source.token) == list{7, 8, 9, end, 6, end});
  CHECK(listed(both.first.whole.graphs.size) == list{4, 2});
  CHECK(listed(both.first.sources) == list{4, 2});
  CHECK(
      (both.first.target_token.extent(0) == 0 && both.first.wanted.extent(0) == 0 && both.second.next.extent(0) == 0));
}

TEST_CASE("a pair that is too long, and one pair too many, find no room among graphs and change nothing") {
  edge_pair_loader<reference::backend, double> loader(room(4, 3, 3, 2), {}, 4, begin, end);
  CHECK(loader.has_room(3, 2));
  CHECK_FALSE(loader.has_room(5, 1));
  CHECK_FALSE(loader.has_room(3, 4));
  CHECK_FALSE(loader.has_room(-1, 1));
  CHECK_FALSE(loader.has_room(1, -1));
  CHECK_FALSE(loader.has_room(-1));
  list const six(6, 7), three(3, 7), two(2, 7), one(1, 7);
  CHECK_THROWS_WITH(loader.add(six, one), contains("edge_pair_loader: a pair of 6 and 1 tokens and their ends") &&
                                              contains("there is room for 2 pairs") &&
                                              contains(" nodes in the largest source, "));
  CHECK_THROWS_WITH(loader.add_source(six), contains("edge_pair_loader: a source of 6 tokens and its end"));
  CHECK_THROWS_WITH(loader.add(list{7, -1}, one), contains("edge_pair_loader: token 1 of a sequence is -1"));
  CHECK_THROWS_WITH(loader.add(one, list{-5}), contains("edge_pair_loader: token 0 of a sequence is -5"));
  CHECK_THROWS_WITH(loader.add_source(list{-1}), contains("edge_pair_loader: token 0 of a sequence is -1"));
  CHECK(loader.dims().pairs == 0);
  loader.add(three, two);
  CHECK(loader.has_room(2, 1));
  CHECK_FALSE(loader.has_room(3, 1));
  CHECK_FALSE(loader.has_room(2, 2));
  loader.add(two, one);
  CHECK_FALSE(loader.has_room(0, 0));
  CHECK(listed(loader.upload().second.next) == list{7, 7, end, 7, end});
  CHECK_THROWS_WITH((edge_pair_loader<reference::backend, double>(room(4, 3, 3, 2), {}, 4, -1, end)),
                    contains("edge_pair_loader: begin_token is "));
}

}  // namespace batches_edge_pair_loader_tests
