// Helpers for tests of gradients: a check that a report is good, and derivatives with respect to every number.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tests/catch.hpp"

/// Checks that the report of a gradient_check has no error, and prints the report if it has one.
#define CHECK_GRADIENT(...)                   \
  do {                                        \
    auto const checked_report = __VA_ARGS__;  \
    INFO(checked_report.text());              \
    CHECK(static_cast<bool>(checked_report)); \
  } while (false)

namespace triad::test {

/// Returns the derivative of value() with respect to `number`, by a central difference of width 2 h.
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

/// Checks that d is the derivative of value() with respect to each number of x.
template <class Value>
void check_differences(std::vector<double>& x, std::vector<double> const& d, Value&& value) {
  for (std::size_t i = 0; i < x.size(); ++i) CHECK_THAT(d[i], WithinAbs(derivative(x[i], value, 1e-5), 1e-8));
}

}  // namespace triad::test
