// Tests that the number of a batch determines its examples, and that each epoch has a new order of the examples.
// SPDX-License-Identifier: Apache-2.0
#include "shared/run/epoch_batches.hpp"

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "tests/catch.hpp"

namespace programs_epoch_batches_tests {

using namespace triad::programs;

TEST_CASE(
    "an epoch has every example once, in another order where that is asked for, and a batch follows from its number") {
  epoch_batches fixed(7, 3, false, 5), shuffled(7, 3, true, 5);
  CHECK(fixed.epoch_updates() == 3);
  auto const epoch = [](epoch_batches& b, std::int64_t e) {
    std::vector<std::size_t> all;
    for (auto u = 3 * e; u < 3 * e + 3; ++u) {
      auto const batch = b.batch(u);
      CHECK(batch.size() == (u % 3 == 2 ? 1u : 3u));
      all.insert(all.end(), batch.begin(), batch.end());
    }
    CHECK(std::set<std::size_t>(all.begin(), all.end()).size() == 7);
    return all;
  };
  auto const first = epoch(fixed, 0);
  CHECK(epoch(fixed, 1) == first);
  CHECK(epoch(shuffled, 0) == first);
  CHECK(epoch(shuffled, 1) != first);
  CHECK(epoch(shuffled, 0) == first);
}

}  // namespace programs_epoch_batches_tests
