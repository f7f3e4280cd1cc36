// Tests the sizes of pairs that are stored as graphs, and batches of pairs that only measure memory.
// SPDX-License-Identifier: Apache-2.0
#include "triad/batches/edge_pair_batch.hpp"

#include <vector>

#include "tests/catch.hpp"
#include "tests/replay_number.hpp"

namespace batches_edge_pair_batch_tests {

using namespace triad;

TEST_CASE("dims of pairs of graphs add up, and one that is as large as two holds either") {
  auto const a = edge_pair_dims_of(3, 2), b = edge_pair_dims_of(1, 5), sum = a + b, most = larger(a, b);
  CHECK((a.source.rows == 9 && a.whole.rows == 25 && a.whole.triangles == 125 && a.targets == 2));
  CHECK((sum.pairs == 2 && sum.source.rows == 10 && sum.whole.rows == 61 && sum.targets == 7 &&
         sum.whole.max_nodes == 6));
  CHECK((most.pairs == 1 && most.source.rows == 9 && most.whole.rows == 36 && most.targets == 5));
  CHECK((fits(a, most) && fits(b, most) && !fits(sum, most) && !fits(a, b) && !fits(b, a)));
  auto const in = edge_pair_batch<float>::measured(sum, 8);
  CHECK((in.source.token.extent(0) == 4 && in.source.relation.extent(0) == 10 && in.origin.extent(0) == 61 &&
         in.source_row.extent(0) == 10));
  CHECK((in.wanted.extent(0) == 7 && in.sources.extent(0) == 2 && in.whole.waves.extent(0) == 6 &&
         in.whole.waves.extent(1) == 8));
  CHECK(edge_pair_batch<float>::measured_answers(sum).next.extent(0) == 7);
}

TEST_CASE("recorded work is for one batch of pairs as graphs: its sizes, rows and masks tell them apart") {
  using batch = edge_pair_batch<float>;
  auto const in = batch::measured(edge_pair_dims_of(3, 2), 8);
  auto const number = test::replay_number(in);
  CHECK(test::replay_number(batch::measured(edge_pair_dims_of(3, 2), 8)) == number);
  CHECK(test::replay_number(batch::measured(edge_pair_dims_of(2, 3), 8)) != number);
  std::vector<index_t> const rows(25);
  for (auto member : {&batch::sources, &batch::target_token, &batch::target_self, &batch::wanted, &batch::origin,
                      &batch::source_row}) {
    auto other = in;
    other.*member = vec<index_t const>(rows.data(), (in.*member).extent(0));
    CHECK(test::replay_number(other) != number);
  }
  for (auto member : {&batch::source_mask, &batch::mask}) {
    auto other = in;
    (other.*member).fill = -1e3;
    CHECK(test::replay_number(other) != number);
  }
  auto other = in;
  ++other.sizes.pairs;
  CHECK(test::replay_number(other) != number);
}

}  // namespace batches_edge_pair_batch_tests
