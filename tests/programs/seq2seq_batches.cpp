// Tests batches with a limited number of tokens: each epoch has every pair once, no batch exceeds the limit, epochs
// have different orders, and a batch depends only on its number.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "shared/run/token_batches.hpp"
#include "tests/catch.hpp"
#include "triad/core/random.hpp"

namespace programs_seq2seq_batches_tests {

using namespace triad::programs;
using triad::index_t;
using triad::test::contains;

std::vector<pair_length> lengths(int count, int longest, std::uint64_t seed) {
  triad::counter_random random(seed);
  std::vector<pair_length> result;
  for (int i = 0; i < count; ++i) result.push_back({2 + random.below(longest - 1), 2 + random.below(longest - 1)});
  return result;
}

std::vector<std::size_t> epoch(token_batches& batches, std::int64_t e) {
  std::vector<std::size_t> all;
  for (auto u = batches.first_of(e); u < batches.first_of(e + 1); ++u) {
    auto const b = batches.batch(u);
    all.insert(all.end(), b.begin(), b.end());
  }
  return all;
}

TEST_CASE("an epoch has every pair once, in batches within the bound on either side, none of them empty") {
  for (int const count : {1, 2, 57, 1000}) {
    CAPTURE(count);
    auto const pairs = lengths(count, 30, 7);
    token_batches batches(pairs, 64, 3);
    for (std::int64_t e = 0; e < 3; ++e) {
      auto seen = epoch(batches, e);
      std::sort(seen.begin(), seen.end());
      REQUIRE(seen.size() == pairs.size());
      for (std::size_t i = 0; i < seen.size(); ++i) CHECK(seen[i] == i);
    }
    for (std::int64_t u = 0; u < batches.first_of(3); ++u) {
      auto const b = batches.batch(u);
      CHECK(!b.empty());
      index_t source = 0, target = 0;
      for (auto const i : b) source += pairs[i].source, target += pairs[i].target;
      CHECK(source <= 64);
      CHECK(target <= 64);
    }
  }
}

TEST_CASE("batches are well filled with sentences of about one length, also where the set is larger than a pool") {
  auto const pairs = lengths(3000, 30, 11);
  token_batches batches(pairs, 128, 1);
  double tokens = 0, spread = 0;
  auto const updates = batches.first_of(1);
  for (std::int64_t u = 0; u < updates; ++u) {
    index_t shortest = 100, longest = 0, sum = 0;
    for (auto const i : batches.batch(u)) {
      shortest = std::min(shortest, pairs[i].target), longest = std::max(longest, pairs[i].target);
      sum += pairs[i].target;
    }
    tokens += static_cast<double>(sum), spread += static_cast<double>(longest - shortest);
  }
  CHECK(tokens / static_cast<double>(updates) > 64);  // the lengths of sources limit the batches, too
  CHECK(spread / static_cast<double>(updates) < 6);
}

TEST_CASE("epochs have other orders and other batches, seeds too; the same seed has the same") {
  auto const pairs = lengths(500, 20, 5);
  token_batches one(pairs, 64, 1), same(pairs, 64, 1), other(pairs, 64, 2);
  auto const first = epoch(one, 0);
  CHECK(first == epoch(same, 0));
  CHECK(first != epoch(one, 1));
  CHECK(first != epoch(other, 0));
  auto const companions = [&](token_batches& b, std::int64_t e) {  // the batch that has pair 0
    for (auto u = b.first_of(e); u < b.first_of(e + 1); ++u)
      if (auto const all = b.batch(u); std::find(all.begin(), all.end(), 0U) != all.end())
        return std::set<std::size_t>(all.begin(), all.end());
    return std::set<std::size_t>();
  };
  CHECK(companions(one, 0) != companions(one, 1));
}

TEST_CASE("a batch is a function of its number, whatever was asked before") {
  auto const pairs = lengths(300, 20, 9);
  token_batches forward(pairs, 64, 4);
  std::map<std::int64_t, std::vector<std::size_t>> expected;
  auto const last = forward.first_of(4);
  for (std::int64_t u = 0; u < last; ++u) {
    auto const b = forward.batch(u);
    expected[u].assign(b.begin(), b.end());
  }
  token_batches backward(pairs, 64, 4);
  for (auto u = last - 1; u >= 0; --u) {
    auto const b = backward.batch(u);
    CHECK(std::equal(b.begin(), b.end(), expected[u].begin(), expected[u].end()));
  }
  token_batches late(pairs, 64, 4);  // as in a resumed run
  auto const b = late.batch(last - 2);
  CHECK(std::equal(b.begin(), b.end(), expected[last - 2].begin(), expected[last - 2].end()));
  for (std::int64_t e = 0; e < 4; ++e) {
    CHECK(late.epoch_of(late.first_of(e)) == e);
    if (e > 0) CHECK(late.epoch_of(late.first_of(e) - 1) == e - 1);
  }
}

TEST_CASE("a pair that is longer than a batch is refused, and so is nothing") {
  CHECK_THROWS_WITH(token_batches({{3, 4}, {3, 65}}, 64, 1), contains("3 source and 65 target tokens"));
  CHECK_THROWS_WITH(token_batches({{66, 4}}, 64, 1), contains("66 source and 4 target tokens"));
  CHECK_THROWS_WITH(token_batches({}, 64, 1), contains("no pair to train on"));
  CHECK(token_batches({{64, 64}}, 64, 1).batch(0).size() == 1);
}

}  // namespace programs_seq2seq_batches_tests
