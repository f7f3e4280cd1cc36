// Tests that a batch of sequences lists its views, and that the nodes of graphs are sequences.
// SPDX-License-Identifier: Apache-2.0
#include "triad/core/sequences.hpp"

#include "tests/catch.hpp"
#include "tests/ragged.hpp"
#include "tests/replay_number.hpp"
#include "triad/core/batch_views.hpp"

namespace core_sequences_tests {

using namespace triad;
using test::replay_number;

TEST_CASE("the nodes of each graph are a sequence, in the order of the graphs") {
  test::ragged const graphs({3, 0, 2});
  auto const s = nodes_of(graphs.batch());
  CHECK((s.count == 3 && s.rows == 5 && s.longest == 3));
  std::vector<index_t> rows;
  for (index_t k = 0; k < s.count; ++k)
    for (index_t i = 0; i < s.size(k); ++i) rows.push_back(s.begin(k) + i);
  CHECK(rows == std::vector<index_t>{0, 1, 2, 3, 4});
}

TEST_CASE("a batch of sequences is measured with its sizes, and is another step where one of them is another") {
  test::ragged const graphs({3, 0, 2}), others({3, 0, 2});
  auto const s = nodes_of(graphs.batch());
  auto const bare = without_memory(s);
  CHECK((bare.size.data_handle() == nullptr && bare.size.extent(0) == 3));
  CHECK((bare.begin.data_handle() == nullptr && bare.begin.extent(0) == 3));
  CHECK(upload_bytes(s) == 2 * 128);
  auto const number = replay_number(s);
  for (auto member : {&sequence_batch::count, &sequence_batch::rows, &sequence_batch::longest}) {
    auto other = s;
    ++(other.*member);
    CHECK(replay_number(other) != number);
  }
  for (auto member : {&sequence_batch::size, &sequence_batch::begin}) {
    auto other = s;
    other.*member = nodes_of(others.batch()).*member;
    CHECK(replay_number(other) != number);
  }
}

}  // namespace core_sequences_tests
