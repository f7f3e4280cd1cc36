// Tests the columns of a batch of sentences: tokens, positions, relative positions, and the rows of each sentence's
// edges.
// SPDX-License-Identifier: Apache-2.0
#include "triad/batches/sentence_columns.hpp"

#include <vector>

#include "tests/catch.hpp"
#include "triad/batches/position_waves.hpp"
#include "triad/reference/backend.hpp"

namespace batches_sentence_columns_tests {

using namespace triad;
using list = std::vector<index_t>;

list listed(vec<index_t const> v) { return {v.data_handle(), v.data_handle() + v.size()}; }

TEST_CASE("sentences lie one after the other, with relative positions clipped at the reach") {
  sentence_columns<reference::backend, float> columns("a_loader", {2, 20, 6, 80, 4}, 2, 4, {});
  auto const before = columns.add(4, [](index_t i) { return 10 + i; });
  CHECK((before.nodes == 0 && before.rows == 0));
  CHECK(columns.add(2, [](index_t i) { return 20 + i; }).rows == 16);
  CHECK_FALSE(columns.has_room(1));
  CHECK_THROWS_AS(columns.add(1, [](index_t) { return index_t{0}; }), contract_violation);

  std::vector<list> kept;  // owns the memory of the views that put() returns
  kept.reserve(20);
  auto const in = columns.upload([&](list const& values, index_t count) {
    kept.emplace_back(values.begin(), values.begin() + count);
    return vec<index_t const>(kept.back().data(), count);
  });
  CHECK(listed(in.graphs.size) == list{4, 2});
  CHECK(listed(in.token) == list{10, 11, 12, 13, 20, 21});
  CHECK(listed(in.position) == list{0, 1, 2, 3, 0, 1});
  CHECK(listed(in.self) == list{0, 5, 10, 15, 16, 19});
  CHECK(listed(in.relation) == list{2, 3, 4, 4, 1, 2, 3, 4, 0, 1, 2, 3, 0, 0, 1, 2, 2, 3, 1, 2});
  auto const waves = position_waves(4, 4);
  REQUIRE((in.waves.extent(0) == 4 && in.waves.extent(1) == 4));
  for (index_t k = 0; k < 4; ++k)
    for (index_t c = 0; c < 4; ++c)
      CHECK(in.waves(k, c) == static_cast<float>(waves[static_cast<std::size_t>(4 * k + c)]));
  columns.clear();
  CHECK(columns.dims().nodes == 0);
}

TEST_CASE("tokens stand where they are put, and relative positions are those of their positions") {
  sentence_columns<reference::backend, float> columns("a_loader", {2, 20, 6, 80, 4}, 3, 4, {}, 9);
  columns.add(2, [](index_t i) { return i; }, [](index_t i) { return 4 + 2 * i; });
  CHECK_THROWS_WITH(columns.add(
                        1, [](index_t i) { return i; }, [](index_t) { return index_t{9}; }),
                    test::contains("the position of a token is outside 0 to 8"));
  std::vector<list> kept;
  kept.reserve(20);
  auto const in = columns.upload([&](list const& values, index_t count) {
    kept.emplace_back(values.begin(), values.begin() + count);
    return vec<index_t const>(kept.back().data(), count);
  });
  CHECK(listed(in.position) == list{4, 6});
  CHECK(listed(in.relation) == list{3, 5, 1, 3});
  CHECK(in.waves.extent(0) == 9);
}

TEST_CASE("waves of no width are refused") {
  CHECK_THROWS_WITH((sentence_columns<reference::backend, float>("a_loader", {2, 20, 6, 80, 4}, 2, 0, {})),
                    test::contains("a_loader: width is 0"));
}

}  // namespace batches_sentence_columns_tests
