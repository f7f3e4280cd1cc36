// Tests the conversion of scores to probabilities: the formula, scores whose exp would overflow, and rows without
// scores.
// SPDX-License-Identifier: Apache-2.0
#include "shared/report/probabilities.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "tests/catch.hpp"

namespace programs_probabilities_tests {

using triad::programs::probabilities_of;

bool near(double a, double b) { return std::abs(a - b) < 1e-12; }

TEST_CASE("probabilities are exp(x) over the sum of all exp(x), in the order of the scores") {
  std::vector<float> const scores{0.5f, -1.25f, 2.0f};
  auto const found = probabilities_of(scores);
  double const sum = std::exp(0.5) + std::exp(-1.25) + std::exp(2.0);
  REQUIRE(found.size() == 3);
  for (std::size_t c = 0; c < 3; ++c) CHECK(near(found[c], std::exp(static_cast<double>(scores[c])) / sum));
}

TEST_CASE("probabilities of scores too large for exp, or minus infinity, are finite and sum to 1") {
  std::vector<float> const scores{1000.0f, 999.0f, -1e30f, -std::numeric_limits<float>::infinity()};
  auto const found = probabilities_of(scores);
  CHECK(near(found[0], 1 / (1 + std::exp(-1.0))));
  CHECK(found[2] == 0);
  CHECK(found[3] == 0);
  CHECK(near(std::accumulate(found.begin(), found.end(), 0.0), 1));
}

TEST_CASE("no scores have no probabilities") { CHECK(probabilities_of({}).empty()); }

}  // namespace programs_probabilities_tests
