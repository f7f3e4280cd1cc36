// Tests functions about tokens and the edges between them: relative positions, and the index lists of a batch.
// SPDX-License-Identifier: Apache-2.0
#include "triad/batches/token_sequences.hpp"

#include <algorithm>
#include <vector>

#include "tests/catch.hpp"
#include "tests/layers/heads/token_sentences.hpp"
#include "tests/replay_number.hpp"

namespace batches_token_sequences_tests {

using namespace triad;

TEST_CASE("relative positions are clipped at the reach") {
  CHECK(relative_position(3, 3, 16) == 16);
  CHECK(relative_position(0, 40, 16) == 32);
  CHECK(relative_position(40, 0, 16) == 0);
  CHECK(relative_position(2, 5, 16) == 19);
  CHECK((relative_position(0, 1, 1) == 2 && relative_position(0, 2, 1) == 2 && relative_position(5, 0, 0) == 0));
}

TEST_CASE("every kind of edge between a source and its target has a row of its own, and no row is left") {
  for (index_t const reach : {0, 1, 7}) {
    relative_edges const rows{reach};
    std::vector<index_t> all{rows.to_target(), rows.to_source(), rows.begin()};
    for (index_t apart = -reach; apart <= reach; ++apart) all.push_back(rows.within(20, 20 + apart));
    std::sort(all.begin(), all.end());
    std::vector<index_t> each(static_cast<std::size_t>(rows.count()));
    for (std::size_t k = 0; k < each.size(); ++k) each[k] = static_cast<index_t>(k);
    CHECK(all == each);
    CHECK((rows.begin() == rows.relations() && rows.within(0, reach + 5) == rows.within(9, 9 + reach)));
  }
}

TEST_CASE("sentences measured without memory have a number for each token and each edge, and keep their waves") {
  test::token_sentences const two;
  std::vector<double> const numbers(12);
  auto in = two.input();
  in.waves = tensor<double const, dyn, dyn>(numbers.data(), 3, 4);
  auto const bare = without_memory(in);
  for (auto const& view : {bare.token, bare.position, bare.self}) CHECK(view.extent(0) == 5);
  CHECK((bare.relation.extent(0) == 13 && bare.self.data_handle() == nullptr));
  CHECK(bare.waves.data_handle() == numbers.data());
  CHECK(test::replay_number(two.input()) != test::replay_number(in));
  CHECK(token_pairs{}.count() == 0);
  CHECK(two.pairs().count() == 5);
}

}  // namespace batches_token_sequences_tests
