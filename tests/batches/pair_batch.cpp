// Tests the sizes of pairs, the sines and cosines of their positions, and batches of pairs that only measure memory.
// SPDX-License-Identifier: Apache-2.0
#include "triad/batches/pair_batch.hpp"

#include <cmath>
#include <vector>

#include "tests/catch.hpp"
#include "tests/replay_number.hpp"

namespace batches_pair_batch_tests {

using namespace triad;
using test::replay_number;
using test::WithinAbs;

TEST_CASE("sizes of pairs add, grow to hold both, and fit where no part is larger") {
  auto const sum = dims_of(3, 5) + dims_of(4, 2);
  CHECK((sum.pairs == 2 && sum.source_rows == 7 && sum.target_rows == 7 && sum.longest_source == 4 &&
         sum.longest_target == 5));
  auto const both = larger(dims_of(3, 5), dims_of(4, 2));
  CHECK((both.pairs == 1 && both.source_rows == 4 && both.target_rows == 5 && both.longest_source == 4 &&
         both.longest_target == 5));
  CHECK(fits(dims_of(3, 5), both));
  CHECK_FALSE(fits(sum, both));
  CHECK_FALSE(fits(both, dims_of(3, 5)));
  CHECK_FALSE(fits(both, dims_of(4, 4)));
}

TEST_CASE("a batch of pairs without memory has a number for every token, and waves for the longest") {
  auto const sum = dims_of(3, 5) + dims_of(4, 2);
  auto const in = pair_batch<float>::measured(sum, 8);
  CHECK((in.source.count == 2 && in.source.rows == 7 && in.source.longest == 4 && in.source.size.extent(0) == 2));
  CHECK((in.target.count == 2 && in.target.rows == 7 && in.target.longest == 5 && in.target.begin.extent(0) == 2));
  for (auto const& view : {in.source_token, in.source_position, in.target_token, in.target_position})
    CHECK((view.extent(0) == 7 && view.data_handle() == nullptr));
  CHECK((in.waves.extent(0) == 5 && in.waves.extent(1) == 8));
  CHECK(pair_answers::measured(sum).next.extent(0) == 7);
  // Four views of 56 bytes and four of 16 bytes take two cache lines each. The table of sines and cosines is not
  // uploaded with a batch.
  CHECK(upload_bytes(in) == 8 * 128);
  CHECK(upload_bytes(in, pair_answers::measured(sum)) == 9 * 128);
  CHECK(upload_bytes(pair_batch<float>::measured({}, 8)) == 8 * 64);
}

TEST_CASE("recorded work is for one batch of pairs: every size, token and mask tells them apart") {
  auto const in = pair_batch<float>::measured(dims_of(3, 5), 8);
  std::vector<index_t> const numbers(5);
  std::vector<std::uint8_t> const masked(5);
  using batch = pair_batch<float>;
  for (auto member : {&batch::source_token, &batch::source_position, &batch::target_token, &batch::target_position}) {
    auto other = in;
    other.*member = vec<index_t const>(numbers.data(), (in.*member).extent(0));
    CHECK(replay_number(other) != replay_number(in));
  }
  for (auto member : {&batch::source_masked, &batch::target_masked}) {
    auto other = in;
    other.*member = vec<std::uint8_t const>(masked.data(), 5);
    CHECK(replay_number(other) != replay_number(in));
  }
  for (auto member : {&pair_dims::pairs, &pair_dims::source_rows, &pair_dims::target_rows, &pair_dims::longest_source,
                      &pair_dims::longest_target}) {
    auto other = in;
    ++(other.sizes.*member);
    CHECK(replay_number(other) != replay_number(in));
  }
}

}  // namespace batches_pair_batch_tests
