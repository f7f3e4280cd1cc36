// Distances between results.  The distance from a NaN to any other value is infinite.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/catch.hpp"

namespace triad::test {

/// Returns the larger of two errors, where NaN counts as infinite. A maximum by comparison would lose a NaN when the
/// next number is compared.
inline double worse(double worst, double error) {
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst, error);
}

/// The largest difference divided by the largest expected value; NaN if either array contains a NaN.
template <class T>
double distance(std::vector<T> const& a, std::vector<double> const& b) {
  REQUIRE(a.size() == b.size());
  double difference = 0, largest = 1e-30;
  for (std::size_t i = 0; i < b.size(); ++i) {
    auto const x = static_cast<double>(a[i]);
    if (x == b[i]) continue;  // both values are equal, such as a gap that neither writes, or minus infinity
    double const e = std::abs(x - b[i]);
    if (std::isnan(e)) return e;
    difference = std::max(difference, e);
    largest = std::max(largest, std::abs(b[i]));
  }
  return difference / largest;
}

}  // namespace triad::test
