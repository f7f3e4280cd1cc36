// How far results are apart, where NaN is as far as can be.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/catch.hpp"

namespace triad::test {

/// The larger of two errors.  NaN counts as infinite: a maximum by comparison forgets it at the next number.
inline double worse(double worst, double error) {
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst, error);
}

/// The largest difference over the largest expected value; NaN where one is met.
template <class T>
double distance(std::vector<T> const& a, std::vector<double> const& b) {
  REQUIRE(a.size() == b.size());
  double difference = 0, largest = 1e-30;
  for (std::size_t i = 0; i < b.size(); ++i) {
    auto const x = static_cast<double>(a[i]);
    if (x == b[i]) continue;  // a gap, or minus infinity
    double const e = std::abs(x - b[i]);
    if (std::isnan(e)) return e;
    difference = std::max(difference, e);
    largest = std::max(largest, std::abs(b[i]));
  }
  return difference / largest;
}

}  // namespace triad::test
