// Distances between results.  The distance from a NaN to any other value is infinite.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/catch.hpp"

namespace triad::test {

/// Returns the larger of two errors. NaN counts as infinite: std::max would lose a NaN at the next comparison.
inline double worse(double worst, double error) {
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst, error);
}

/// Returns the largest difference, divided by the largest expected value. Returns NaN if either array contains a NaN.
template <class T>
double distance(std::vector<T> const& a, std::vector<double> const& b) {
  REQUIRE(a.size() == b.size());
  double difference = 0, largest = 1e-30;
  for (std::size_t i = 0; i < b.size(); ++i) {
    auto const x = static_cast<double>(a[i]);
    if (x == b[i]) continue;  // both are equal, for example minus infinity, or not written
    double const e = std::abs(x - b[i]);
    if (std::isnan(e)) return e;
    difference = std::max(difference, e);
    largest = std::max(largest, std::abs(b[i]));
  }
  return difference / largest;
}

}  // namespace triad::test
