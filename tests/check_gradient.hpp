// What tests of gradients end with: a report that must be good, and a derivative in every single number.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tests/catch.hpp"

/// The report of a gradient_check is good, or its text is shown.
#define CHECK_GRADIENT(...)                   \
  do {                                        \
    auto const checked_report = __VA_ARGS__;  \
    INFO(checked_report.text());              \
    CHECK(static_cast<bool>(checked_report)); \
  } while (false)

namespace triad::test {

/// The derivative of value() with respect to `number`, by a central difference of width 2 h.
template <class Value>
double derivative(double& number, Value&& value, double h) {
  double const before = number;
  number = before + h;
  double const above = value();
  number = before - h;
  double const below = value();
  number = before;
  return (above - below) / (2 * h);
}

/// d holds the derivative of value() with respect to each number of x.
template <class Value>
void check_differences(std::vector<double>& x, std::vector<double> const& d, Value&& value) {
  for (std::size_t i = 0; i < x.size(); ++i) CHECK_THAT(d[i], WithinAbs(derivative(x[i], value, 1e-5), 1e-8));
}

}  // namespace triad::test
