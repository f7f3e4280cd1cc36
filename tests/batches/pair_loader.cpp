// Tests batches of pairs of sequences: the upload, and refused input.
// SPDX-License-Identifier: Apache-2.0
#include "triad/batches/pair_loader.hpp"

#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/replay_number.hpp"
#include "triad/batches/position_waves.hpp"

namespace batches_pair_loader_tests {

using namespace triad;
using test::contains;
using tokens = std::vector<index_t>;

tokens list(vec<index_t const> v) { return {v.data_handle(), v.data_handle() + v.size()}; }

constexpr index_t begin = 2, end = 3;

TEMPLATE_TEST_CASE("a batch has its sources with ends, its targets after the begin, and the tokens that follow", "",
                   TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  pair_loader<typename TestType::backend, T> loader({3, 9, 9, 5, 4}, 6, begin, end);
  loader.add(tokens{7, 8, 9}, tokens{5});
  loader.add(tokens{}, tokens{4, 6, 5});
  loader.add(tokens{6}, tokens{});
  auto const& z = loader.dims();
  CHECK((z.pairs == 3 && z.source_rows == 7 && z.target_rows == 7 && z.longest_source == 4 && z.longest_target == 4));
  auto const both = loader.upload();
  auto const& in = both.first;
  CHECK(in.dims().source_rows == 7);
  CHECK((in.source.count == 3 && in.source.rows == 7 && in.source.longest == 4));
  CHECK((in.target.count == 3 && in.target.rows == 7 && in.target.longest == 4));
  CHECK(list(in.source.size) == tokens{4, 1, 2});
  CHECK(list(in.source.begin) == tokens{0, 4, 5});
  CHECK(list(in.target.size) == tokens{2, 4, 1});
  CHECK(list(in.target.begin) == tokens{0, 2, 6});
  CHECK(list(in.source_token) == tokens{7, 8, 9, end, end, 6, end});
  CHECK(list(in.source_position) == tokens{0, 1, 2, 3, 0, 0, 1});
  CHECK(list(in.target_token) == tokens{begin, 5, begin, 4, 6, 5, begin});
  CHECK(list(in.target_position) == tokens{0, 1, 0, 1, 2, 3, 0});
  CHECK(list(both.second.next) == tokens{5, end, 4, 6, 5, end, end});
  CHECK((in.source_masked.extent(0) == 0 && in.target_masked.extent(0) == 0));
  REQUIRE((in.waves.extent(0) == 5 && in.waves.extent(1) == 6));
  auto const waves = half_waves(5, 6);
  for (index_t k = 0; k < 5; ++k)
    for (index_t c = 0; c < 6; ++c) CHECK(in.waves(k, c) == static_cast<T>(waves[static_cast<std::size_t>(k * 6 + c)]));
}

TEMPLATE_TEST_CASE("a loader that was cleared knows nothing of the batch before, and lays the next where that lay", "",
                   TRIAD_TEST_BACKENDS) {
  pair_loader<TestType, double> loader({2, 8, 8, 5, 5}, 4, begin, end);
  loader.add(tokens{7, 8, 9}, tokens{5, 5, 5});
  loader.add(tokens{7}, tokens{5, 5});
  auto const first = loader.upload();
  loader.clear();
  CHECK(loader.dims().longest_source == 0);
  loader.add(tokens{4, 4}, tokens{6});
  auto const second = loader.upload();
  CHECK(list(second.first.source_token) == tokens{4, 4, end});
  CHECK(list(second.first.target_token) == tokens{begin, 6});
  CHECK(list(second.second.next) == tokens{6, end});
  CHECK(test::replay_number(first.first) != test::replay_number(second.first));  // sizes differ
  CHECK(test::replay_number(first.second) != test::replay_number(second.second));
  loader.clear();
  loader.add(tokens{9, 9}, tokens{9});
  auto const third = loader.upload();
  CHECK(test::replay_number(third.first) == test::replay_number(second.first));  // only values differ
  CHECK(test::replay_number(third.second) == test::replay_number(second.second));
  auto padded = third.first;
  std::uint8_t const masked[3] = {};
  padded.source_masked = make_vec(masked, 3);
  CHECK(test::replay_number(padded) != test::replay_number(third.first));
}

TEMPLATE_TEST_CASE("sources may have an end of their own", "", TRIAD_TEST_BACKENDS) {
  constexpr index_t source_end = 9;
  pair_loader<TestType, double> loader({2, 8, 8, 5, 5}, 4, begin, end, {}, source_end);
  loader.add(tokens{7, 8}, tokens{5});
  loader.add_source(tokens{6});
  auto const both = loader.upload();
  CHECK(list(both.first.source_token) == tokens{7, 8, source_end, 6, source_end});
  CHECK(list(both.first.target_token) == tokens{begin, 5});
  CHECK(list(both.second.next) == tokens{5, end});
}

TEMPLATE_TEST_CASE("sources alone have targets of no tokens", "", TRIAD_TEST_BACKENDS) {
  pair_loader<TestType, float> loader({2, 6, 0, 4, 0}, 4, begin, end);
  CHECK(loader.has_room(3));
  CHECK_FALSE(loader.has_room(3, 0));
  loader.add_source(tokens{7, 8, 9});
  CHECK(loader.has_room(1));
  CHECK_FALSE(loader.has_room(2));
  loader.add_source(tokens{6});
  CHECK_FALSE(loader.has_room(0));
  auto const both = loader.upload();
  CHECK(list(both.first.source_token) == tokens{7, 8, 9, end, 6, end});
  CHECK(list(both.first.target.size) == tokens{0, 0});
  CHECK(list(both.first.target.begin) == tokens{0, 0});
  CHECK((both.first.target.rows == 0 && both.first.target_token.extent(0) == 0 && both.second.next.extent(0) == 0));
  CHECK((both.first.waves.extent(0) == 4 && both.first.waves.extent(1) == 4));
}

TEST_CASE("a pair that is too long, one token too many and one pair too many find no room and change nothing") {
  pair_loader<reference::backend, double> loader({2, 7, 6, 5, 4}, 4, begin, end);
  CHECK(loader.has_room(4, 3));
  CHECK_FALSE(loader.has_room(5, 1));
  CHECK_FALSE(loader.has_room(1, 4));
  CHECK_FALSE(loader.has_room(-1, 1));
  CHECK_FALSE(loader.has_room(1, -1));
  CHECK_FALSE(loader.has_room(-1));
  CHECK_FALSE(loader.has_room(5));
  tokens const five(5, 7), three(3, 7), one(1, 7);
  CHECK_THROWS_WITH(loader.add(five, one),
                    contains("pair_loader: a pair of 5 and 1 tokens and their ends does not fit: the batch has") &&
                        contains("ask has_room() first"));
  CHECK_THROWS_WITH(loader.add_source(five),
                    contains("pair_loader: a source of 5 tokens and its end does not fit: the batch has") &&
                        contains("make the loader with room_for(data, most)"));
  CHECK_THROWS_WITH(loader.add(tokens{7, -2}, one), contains("pair_loader: token 1 of a sequence is -2"));
  CHECK_THROWS_WITH(loader.add(one, tokens{-1}), contains("pair_loader: token 0 of a sequence is -1"));
  CHECK_THROWS_WITH(loader.add_source(tokens{-1}), contains("pair_loader: token 0 of a sequence is -1"));
  CHECK(loader.dims().pairs == 0);
  loader.add(three, three);
  CHECK(loader.has_room(2, 1));
  CHECK_FALSE(loader.has_room(3, 1));
  CHECK_FALSE(loader.has_room(2, 2));
  loader.add(one, one);
  CHECK_FALSE(loader.has_room(0, 0));
  CHECK(list(loader.upload().second.next) == tokens{7, 7, 7, end, 7, end});
  CHECK_THROWS_WITH((pair_loader<reference::backend, double>({2, 7, 6, 5, 4}, 4, -1, end)),
                    contains("pair_loader: begin_token is "));
}

}  // namespace batches_pair_loader_tests
