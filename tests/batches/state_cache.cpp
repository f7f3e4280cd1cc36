// Tests the cache of an encoder's states: what it keeps, in which precision, up to which limit.
// SPDX-License-Identifier: Apache-2.0
#include "triad/batches/state_cache.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "tests/catch.hpp"

namespace batches_state_cache_tests {

using namespace triad;

using tokens = std::vector<index_t>;

TEST_CASE("states are found by the tokens of their sequence, and keep their bits") {
  state_cache<double> cache(2, 1000);
  tokens const a{4, 5}, b{5, 4}, c{4};
  std::vector<double> const of_a{1, 2, 3, 1.0 / 3}, of_b{5, 6, 7, 8};
  CHECK_FALSE(cache.has(a));
  CHECK(cache.keep(a, of_a));
  CHECK(cache.keep(b, of_b));
  CHECK((cache.has(a) && cache.has(b) && !cache.has(c)));
  std::vector<double> found(4);
  CHECK(cache.copy(b, found));
  CHECK(found == of_b);
  CHECK(cache.copy(a, found));
  CHECK(found == of_a);
  std::vector<double> none{-1, -1};
  CHECK_FALSE(cache.copy(c, none));
  CHECK(none == std::vector<double>{-1, -1});
  CHECK((cache.sequences() == 2 && cache.bytes() == 8 * sizeof(double)));
  CHECK(cache.keep(a, of_b));  // the first states remain
  CHECK(cache.copy(a, found));
  CHECK(found == of_a);
  CHECK(cache.bytes() == 8 * sizeof(double));
  cache.clear();
  CHECK((cache.sequences() == 0 && cache.bytes() == 0 && !cache.has(a)));
}

TEST_CASE("the limit counts the bytes of states, and shorter sequences may still fit") {
  state_cache<float> cache(4, 3 * 4 * sizeof(float));
  std::vector<float> const states(12, 1);
  auto const of = [&](std::size_t n) { return std::span(states).first(4 * n); };
  CHECK(cache.bytes_of(2) == 32);
  CHECK(cache.keep(tokens{1, 2}, of(2)));
  CHECK_FALSE(cache.keep(tokens{3, 4}, of(2)));
  CHECK(cache.keep(tokens{3}, of(1)));
  CHECK_FALSE(cache.keep(tokens{4}, of(1)));
  CHECK(cache.bytes() == 48);
}

TEST_CASE("states in bfloat16 take half of the memory, and are rounded to the nearest value, ties to even") {
  state_cache<float> cache(5, 1000, stored_states::bfloat16);
  float const one = 1, step = std::numeric_limits<float>::epsilon() * 0x1p16f;  // of bfloat16, at 1
  std::vector<float> const states{one + step / 2, one + 1.5f * step, -one - 0.75f * step, 3e38f,
                                  -std::numeric_limits<float>::infinity()};
  CHECK(cache.keep(tokens{7}, states));
  CHECK(cache.bytes() == 10);
  std::vector<float> found(5);
  CHECK(cache.copy(tokens{7}, found));
  CHECK(found[0] == one);
  CHECK(found[1] == one + 2 * step);
  CHECK(found[2] == -one - step);
  CHECK(std::abs(found[3] - 3e38f) < 3e38f / 256);
  CHECK(found[4] == states[4]);
  auto rounded = states;
  cache.round(rounded);
  CHECK(rounded == found);
  state_cache<float>(5, 1000).round(rounded);
  CHECK(rounded == found);
}

TEST_CASE("a cache refuses states of another size, and bfloat16 of other types than float") {
  state_cache<double> cache(2, 1000);
  std::vector<double> three(3);
  CHECK_THROWS_WITH(cache.keep(tokens{4, 5}, three), test::contains("3 values, expected rows of 2"));
  std::vector<double> const of_three_rows(6);
  CHECK(cache.keep(tokens{4, 5}, of_three_rows));  // two tokens and an end
  CHECK_THROWS_WITH(cache.copy(tokens{4, 5}, three), test::contains("memory for 3 values, expected 6"));
  CHECK_THROWS_WITH((state_cache<double>(2, 1000, stored_states::bfloat16)), test::contains("stored_states::exact"));
  CHECK_THROWS_WITH((state_cache<float>(0, 1000)), test::contains("width"));
}

}  // namespace batches_state_cache_tests
