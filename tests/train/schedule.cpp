// Tests learning rates at the updates at which a schedule changes.
// SPDX-License-Identifier: Apache-2.0
#include "triad/train/schedule.hpp"

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "tests/catch.hpp"

namespace train_schedule_tests {

using namespace triad;
using triad::test::WithinRel;

constexpr double exact = 1e-14;  // allows for the rounding of a few operations

TEST_CASE("linear warm-up begins at zero, peaks after the warm-up and ends at zero") {
  linear_warmup const s{1e-3, 4, 10};
  CHECK(s.rate(0) == 0);
  CHECK_THAT(s.rate(1), WithinRel(0.25e-3, exact));
  CHECK_THAT(s.rate(4), WithinRel(1e-3, exact));
  CHECK_THAT(s.rate(7), WithinRel(0.5e-3, exact));
  CHECK(s.rate(10) == 0);
  CHECK(s.rate(1000) == 0);
  CHECK_THAT((linear_warmup{2, 0, 2.5}.rate(1)), WithinRel(1.2, exact));
  CHECK((linear_warmup{2, 0, 2.5}.rate(0)) == 2);
  CHECK_THROWS_WITH((linear_warmup{.peak = 3e-3, .warmup = 100}.rate(0)), test::contains("linear_warmup: total is 0"));
}

TEST_CASE("a cosine with warm-up rises by even steps, falls to its floor and stays there") {
  cosine_warmup const s{2, 4, 100, 0.1};
  CHECK_THAT(s.rate(0), WithinRel(0.5, exact));
  CHECK_THAT(s.rate(1), WithinRel(1 * (0.1 + 0.9 * (1 + std::cos(std::numbers::pi / 100)) / 2), exact));
  CHECK_THAT(s.rate(50), WithinRel(2 * 0.55, exact));
  CHECK_THAT(s.rate(100), WithinRel(0.2, exact));
  CHECK_THAT(s.rate(1000), WithinRel(0.2, exact));
  CHECK_THAT((cosine_warmup{.peak = 3, .total = 10}.rate(0)), WithinRel(3.0, exact));
  CHECK_THROWS_WITH((cosine_warmup{.peak = 3}.rate(0)), test::contains("cosine_warmup: total is 0"));
}

TEST_CASE("the inverse square root begins where it is told and falls from the end of the warm-up") {
  inverse_sqrt const s{1, 0.2, 4};
  CHECK_THAT(s.rate(0), WithinRel(0.2, exact));
  CHECK_THAT(s.rate(2), WithinRel(0.6, exact));
  CHECK_THAT(s.rate(4), WithinRel(1.0, exact));
  CHECK_THAT(s.rate(16), WithinRel(0.5, exact));
  CHECK_THROWS_WITH((inverse_sqrt{1, 0, 0}.rate(0)), test::contains("inverse_sqrt: warmup is 0"));
}

// Computes the rates step by step, like the loop of the released program.
template <class Step>
std::vector<double> by_the_loop(double peak, std::uint64_t warmup, std::uint64_t iterations, std::uint64_t epochs,
                                Step step) {
  std::vector<double> rates;
  double rate = peak;
  std::uint64_t update = 0, steps = 0;
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
    for (std::uint64_t i = 0; i < iterations; ++i, ++update) {
      if (update < warmup) rate = peak * static_cast<double>(update) / static_cast<double>(warmup);
      rates.push_back(rate);
    }
    if (update > warmup) rate = step(rate, static_cast<double>(++steps));
  }
  return rates;
}

TEST_CASE("the tree machine's cosine and exponential follow the loop of its program") {
  for (std::uint64_t warmup : {0u, 1u, 3u, 4u, 5u, 10u, 12u})
    for (std::uint64_t iterations : {1u, 2u, 4u, 7u}) {
      CAPTURE(warmup, iterations);
      std::uint64_t const epochs = 15;
      auto const last = static_cast<double>(epochs - (warmup + iterations - 1) / iterations + 1);
      double const pi = std::numbers::pi;
      auto const cosine = by_the_loop(0.01, warmup, iterations, epochs, [&](double rate, double t) {
        return rate * (1 + std::cos(pi * t / last)) / (1 + std::cos(pi * (t - 1) / last));
      });
      auto const exponential =
          by_the_loop(0.01, warmup, iterations, epochs, [](double rate, double) { return 0.8 * rate; });
      for (std::uint64_t k = 0; k < cosine.size(); ++k) {
        CAPTURE(k);
        CHECK_THAT((dtm_main_cosine{0.01, warmup, iterations, epochs}.rate(k)), WithinRel(cosine[k], 1e-12));
        CHECK_THAT((dtm_main_exponential{0.01, 0.8, warmup, iterations}.rate(k)), WithinRel(exponential[k], 1e-12));
      }
    }
}

TEST_CASE("a constant rate is constant") { CHECK(constant_rate{0.5}.rate(0) == constant_rate{0.5}.rate(1000)); }

TEST_CASE("a constant rate rises linearly over its warm-up") {
  constant_rate const schedule{0.5, 4};
  CHECK(schedule.rate(0) == 0);
  CHECK(schedule.rate(1) == 0.125);
  CHECK(schedule.rate(4) == 0.5);
  CHECK(schedule.rate(1000) == 0.5);
}

}  // namespace train_schedule_tests
