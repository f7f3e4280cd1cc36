// Tests the sines and cosines of positions, which either alternate or are in two halves.
// SPDX-License-Identifier: Apache-2.0
#include "triad/batches/position_waves.hpp"

#include <cmath>
#include <vector>

#include "tests/catch.hpp"

namespace batches_position_waves_tests {

using namespace triad;
using test::WithinAbs;

TEST_CASE("waves are sines and cosines side by side, as they were published") {
  auto const waves = position_waves(3, 4);
  REQUIRE(waves.size() == 12);
  CHECK(std::vector<float>(waves.begin(), waves.begin() + 4) == std::vector<float>{0, 1, 0, 1});
  CHECK_THAT(waves[4], test::WithinAbs(std::sin(1.0), 1e-6));
  CHECK_THAT(waves[5], test::WithinAbs(std::cos(1.0), 1e-6));
  CHECK_THAT(waves[6], test::WithinAbs(std::sin(0.01), 1e-6));
  CHECK_THAT(waves[11], test::WithinAbs(std::cos(0.02), 1e-6));
  CHECK(position_waves(0, 4).empty());
}

TEST_CASE("half waves are sines, then cosines, from an angle of two on") {
  auto const waves = half_waves(3, 7);
  REQUIRE(waves.size() == 21);
  for (int k = 0; k < 3; ++k)
    for (int c = 0; c < 7; ++c) {
      double const angle = (k + 2) * std::pow(10000.0, -(c % 3) / 2.0);
      CAPTURE(k, c);
      CHECK_THAT(waves[static_cast<std::size_t>(k * 7 + c)], WithinAbs(c == 6  ? 0.0
                                                                       : c < 3 ? std::sin(angle)
                                                                               : std::cos(angle),
                                                                       1e-15));
    }
  CHECK(half_waves(2, 2) == std::vector<double>{std::sin(2.0), std::cos(2.0), std::sin(3.0), std::cos(3.0)});
  CHECK(half_waves(2, 3) == std::vector<double>{std::sin(2.0), std::cos(2.0), 0, std::sin(3.0), std::cos(3.0), 0});
  CHECK(half_waves(2, 1) == std::vector<double>{0, 0});
  CHECK(half_waves(2, 0).empty());
}

}  // namespace batches_position_waves_tests
