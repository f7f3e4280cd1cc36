// Compares Philox with its published outputs. Tests that dropout has the given rate, is repeatable, and differs between
// calls. Also tests random numbers that are computed from a counter.
// SPDX-License-Identifier: Apache-2.0
#include "triad/core/random.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <vector>

#include "tests/catch.hpp"

namespace core_random_tests {

using namespace triad;
using triad::test::WithinAbs;

// The limit is five standard deviations. A correct generator exceeds it in one of a million tests.
constexpr double deviations = 5;

TEST_CASE("philox gives the known answers of its authors") {
  // The outputs for philox 4x32 with 10 rounds from Random123's kat_vectors.
  STATIC_REQUIRE(philox({0, 0, 0, 0}, 0) == philox_words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  STATIC_REQUIRE(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, 0xffffffffffffffff) ==
                 philox_words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  STATIC_REQUIRE(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822) ==
                 philox_words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

// This is a function instead of a lambda, because a compiler would try to evaluate a lambda at compile time.
double correlation(random_stream a, random_stream b, index_t count) {
  double sum = 0;
  for (index_t i = 0; i < count; ++i) sum += (a.uniform() - 0.5) * (b.uniform() - 0.5);
  return sum / static_cast<double>(count) * 12;
}

TEST_CASE("a stream is uniform, and two streams or two keys have nothing in common") {
  index_t const count = 200000;
  random_stream stream(1, 2);
  std::array<int, 16> bins{};
  double mean = 0;
  for (index_t i = 0; i < count; ++i) {
    double const u = stream.uniform();
    REQUIRE((u >= 0 && u < 1));
    ++bins[static_cast<std::size_t>(u * 16)];
    mean += u / static_cast<double>(count);
  }
  CHECK_THAT(mean, WithinAbs(0.5, deviations / std::sqrt(12.0 * static_cast<double>(count))));
  double chi2 = 0, expected = static_cast<double>(count) / 16;
  for (int b : bins) chi2 += (b - expected) * (b - expected) / expected;
  CHECK(chi2 < 15 + deviations * std::sqrt(30.0));
  double const noise = deviations / std::sqrt(static_cast<double>(count));
  CHECK_THAT(correlation({1, 2}, {1, 3}, count), WithinAbs(0, noise));
  CHECK_THAT(correlation({1, 2}, {2, 2}, count), WithinAbs(0, noise));
  CHECK_THAT(correlation({1, 2}, {1, 2}, count), WithinAbs(1, noise));
}

TEST_CASE("below gives every number under its bound equally often and no other") {
  random_stream stream(3, 4);
  for (std::uint32_t bound : {1u, 2u, 3u, 7u, 1000u, 0x80000001u, 0xffffffffu}) {
    CAPTURE(bound);
    std::uint64_t low = 0;
    for (int i = 0; i < 1000; ++i) {
      auto const v = stream.below(bound);
      REQUIRE(v < bound);
      low += v < bound / 2 ? 1u : 0u;
    }
    double const share = std::floor(bound / 2.0) / bound;
    CHECK_THAT(static_cast<double>(low) / 1000,
               WithinAbs(share, deviations * std::sqrt(share * (1 - share) / 1000) + 1e-12));
  }
  std::set<std::uint32_t> seen;
  for (int i = 0; i < 200; ++i) seen.insert(stream.below(7));
  CHECK(seen.size() == 7);
  CHECK_THROWS_WITH(stream.below(0), test::contains("a number below 0, expected a bound of 1 or more"));
}

double share_kept(dropout_mask const& m, index_t count) {
  index_t kept = 0;
  for (index_t e = 0; e < count; ++e) kept += m.keeps(static_cast<std::uint64_t>(e)) ? 1 : 0;
  return static_cast<double>(kept) / static_cast<double>(count);
}

TEST_CASE("dropout keeps the share that its rate says, all at rate 0 and none at rate 1") {
  index_t const count = 100000;
  for (double rate : {0.1, 0.2, 0.5, 0.9}) {
    dropout_mask const m{rate, 1, 2, nullptr};
    CHECK_THAT(share_kept(m, count),
               WithinAbs(1 - rate, deviations * std::sqrt(rate * (1 - rate) / static_cast<double>(count))));
    CHECK_THAT(m.scale() * (1 - rate), WithinAbs(1, 1e-12));
  }
  CHECK(share_kept({0, 1, 2, nullptr}, 1000) == 1);
  CHECK(share_kept({1, 1, 2, nullptr}, 1000) == 0);
  CHECK(dropout_mask{1, 1, 2, nullptr}.scale() == 0);
}

TEST_CASE("a mask is the same every time, and another for every step, path and key") {
  std::uint64_t first = 5, second = 6;
  dropout_mask const m{0.5, 1, 2, &first};
  auto const agreement = [&](dropout_mask const& other) {
    int same = 0;
    for (std::uint64_t e = 0; e < 4096; ++e) same += m.keeps(e) == other.keeps(e) ? 1 : 0;
    return same / 4096.0;
  };
  double const noise = deviations * 0.5 / 64;  // five standard deviations of the mean of 4096 coin tosses
  CHECK(agreement(dropout_mask{0.5, 1, 2, &first}) == 1);
  CHECK_THAT(agreement({0.5, 1, 2, &second}), WithinAbs(0.5, noise));
  CHECK_THAT(agreement({0.5, 1, 3, &first}), WithinAbs(0.5, noise));
  CHECK_THAT(agreement({0.5, 1, (std::uint64_t{1} << 32) + 2, &first}), WithinAbs(0.5, noise));
  CHECK_THAT(agreement({0.5, 2, 2, &first}), WithinAbs(0.5, noise));
  CHECK_THAT(agreement({0.5, (std::uint64_t{1} << 32) + 1, 2, &first}), WithinAbs(0.5, noise));
  // Different parts of one step have different streams, too.
  std::uint64_t const part = std::uint64_t{1} << 32 | first, later = std::uint64_t{300} << 32 | first;
  for (auto const* step : {&part, &later}) CHECK_THAT(agreement({0.5, 1, 2, step}), WithinAbs(0.5, noise));
  // Neighbouring elements, rows and blocks are independent. Elements that are 2^34 or more apart are independent, too.
  // A 32-bit counter would repeat there.
  for (std::uint64_t shift :
       {std::uint64_t{1}, std::uint64_t{16}, std::uint64_t{64}, std::uint64_t{1024}, std::uint64_t{1} << 34,
        (std::uint64_t{1} << 34) - 2048, std::uint64_t{1} << 35, std::uint64_t{1} << 40}) {
    int same = 0;
    for (std::uint64_t e = 0; e < 4096; ++e) same += m.keeps(e) == m.keeps(e + shift) ? 1 : 0;
    CHECK_THAT(same / 4096.0, WithinAbs(0.5, noise));
  }
}

TEST_CASE("rows of a matrix begin new blocks of dropout, so that no element is decided twice") {
  std::set<std::uint64_t> elements;
  for (index_t columns : {1, 63, 64, 65, 200}) {
    elements.clear();
    for (index_t r = 0; r < 5; ++r) {
      CHECK(dropout_element(r, 0, columns) % dropout_block == 0);
      for (index_t c = 0; c < columns; ++c) elements.insert(dropout_element(r, c, columns));
    }
    CHECK(elements.size() == static_cast<std::size_t>(5 * columns));
  }
}

TEST_CASE("below 2^34 elements a mask is what it was with counters of 32 bits") {
  std::uint64_t const step = 5 * (std::uint64_t{1} << 32) + 77, path = 0xfedcba9876543210;
  dropout_mask const m{0.5, 9, path, &step};
  for (std::uint64_t e : {std::uint64_t{0}, std::uint64_t{12345}, (std::uint64_t{1} << 34) - 1}) {
    auto const words = philox({static_cast<std::uint32_t>(e / 64 * 16 + e % 16), 77, static_cast<std::uint32_t>(path),
                               static_cast<std::uint32_t>(path >> 32) ^ 5 * 0x9E3779B9u},
                              9);
    CHECK(m.keeps(e) == (words[e % 64 / 16] >= m.threshold()));
  }
}

TEST_CASE("random numbers are the same on every platform and cover their range evenly") {
  counter_random random(1, 2);
  counter_random again(1, 2);
  counter_random other(1, 3);
  int counts[7] = {};
  int equal = 0;
  for (int i = 0; i < 70000; ++i) {
    int const x = random.below(7);
    REQUIRE((x >= 0 && x < 7));
    REQUIRE(x == again.below(7));
    equal += x == other.below(7) ? 1 : 0;
    ++counts[x];
  }
  for (int const n : counts) CHECK(std::abs(n - 10000) < 500);
  CHECK(std::abs(equal - 10000) < 500);
  CHECK(counter_random(42, 7)() == 0xe4e28608b50ef46dU);
}

}  // namespace core_random_tests
