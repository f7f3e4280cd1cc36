// Compares a gradient with finite differences of its function, in double precision.
// SPDX-License-Identifier: Apache-2.0
//
//   numeric = (f(p + h u) - f(p - h u)) / 2h        analytic = u . df/dp        for each tensor p; u is a random unit
//                                                   vector over all its elements, or selects a single element
//   error = |analytic - numeric| / max(|analytic|, |numeric|, largest gradient element / 100)
//
// The last term of the maximum is for gradients that are zero in exact arithmetic, such as the gradient of a key's
// bias.  Without this term, rounding errors would fail the check.  If relu has a kink between p - h u and p + h u, the
// check fails although the gradient is right.  So a failed check is repeated with other values of h.  A wrong gradient
// fails at every h.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "triad/core/finite.hpp"
#include "triad/core/random.hpp"
#include "triad/layers/layer.hpp"

namespace triad {

struct gradient_check_options {
  double tolerance = 1e-6;           // the rounding error at h = 1e-5 is below 1e-8
  int directions = 2, elements = 4;  // the numbers of directions u and of single elements for each tensor
  philox_key key = 1;                // the seed of the directions and of all other random numbers
  // The options below are only for checks of layers.
  bool train = true;  // whether dropout is on; every evaluation uses the same mask
  keep kept = keep::everything;
  double range = 0.7;  // parameters are drawn from [-range, range]
};

/// One tensor of a function's arguments, or the gradient of this tensor.
struct named_values {
  std::string path;
  std::vector<double> values;
};
using variables = std::vector<named_values>;

struct gradient_report {
  double tolerance = 0, worst = 0;   // worst: the largest error; the next members say where it is
  std::string path;                  // the name of the tensor
  index_t element = -1;              // the index of the element, or -1 for a direction over all elements
  double analytic = 0, numeric = 0;  // the derivative from backward, and from finite differences
  index_t checks = 0;
  bool depends = true;  // false if every derivative is zero, so that nothing was checked
  std::string fault;    // a fault other than a wrong derivative; empty if there is none

  explicit operator bool() const { return fault.empty() && checks > 0 && depends && worst <= tolerance; }
  std::string text() const {
    if (!fault.empty()) return "gradient_check: " + fault;
    if (checks == 0) return "gradient_check: there was nothing to check";
    if (!depends)
      return "gradient_check: all derivatives are zero, by backward and by finite differences, so nothing was "
             "checked: is the batch empty?";
    auto const number = [](double v) {
      char digits[32];
      std::snprintf(digits, sizeof digits, "%.9g", v);
      return std::string(digits);
    };
    auto const where = path + (element < 0 ? " along a direction" : " at element " + std::to_string(element));
    auto const both = "backward says " + number(analytic) + ", finite differences " + number(numeric);
    auto const allowed = ", allowed " + number(tolerance);
    if (*this)
      return "gradient_check: right in all " + std::to_string(checks) + " checks; the largest error is " +
             number(worst) + allowed + ", of " + where + " (" + both + ")";
    return "gradient_check: wrong at " + where + ": " + both + " (error " + number(worst) + allowed + ", " +
           std::to_string(checks) + " checks)";
  }
};

namespace detail {
/// Returns the relative error.  If the error is NaN, returns infinity.
inline double gradient_error(double analytic, double numeric, double floor) {
  double const scale = std::max({std::abs(analytic), std::abs(numeric), floor, std::numeric_limits<double>::min()});
  double const error = std::abs(analytic - numeric) / scale;
  return !is_nan(error) ? error : std::numeric_limits<double>::infinity();
}
}  // namespace detail

namespace detail {
/// The arguments are std::function, so that this function is compiled only once.
inline gradient_report compare_gradient(variables point, std::function<double(variables const&)> const& value,
                                        std::function<void(variables const&, variables&)> const& gradient,
                                        gradient_check_options const& options) {
  gradient_report report;
  report.tolerance = options.tolerance;
  report.depends = false;
  variables exact = point;
  gradient(point, exact);

  double largest = 0;
  for (auto const& tensor : exact)
    for (double g : tensor.values) largest = std::max(largest, std::abs(g));
  random_stream random(options.key, 0x6772616469656e74);

  for (std::size_t t = 0; t < point.size(); ++t) {
    auto& p = point[t].values;
    auto const start = p;
    auto const size = p.size();
    if (exact[t].values.size() != size) {
      report.fault = point[t].path + ": the gradient has " + std::to_string(exact[t].values.size()) + " values for " +
                     std::to_string(size);
      return report;
    }
    auto const along = [&](std::vector<double> const& u, index_t element) {
      double analytic = 0, numeric = 0, error = std::numeric_limits<double>::infinity();
      for (std::size_t i = 0; i < size; ++i)
        if (u[i] != 0) analytic += u[i] * exact[t].values[i];
      for (double const h : {1e-5, 1e-6, 1e-4, 1e-7}) {
        auto const at = [&](double distance) {
          for (std::size_t i = 0; i < size; ++i) p[i] = start[i] + distance * u[i];
          return value(point);
        };
        double const n = (at(h) - at(-h)) / (2 * h), e = gradient_error(analytic, n, largest / 100);
        if (e < error || h == 1e-5) {
          error = e;
          numeric = n;
        }
        if (error <= options.tolerance) break;
      }
      p = start;
      report.depends = report.depends || analytic != 0 || numeric != 0;
      if (report.checks++ == 0 || error > report.worst) {
        report.worst = error;
        report.path = point[t].path;
        report.element = element;
        report.analytic = analytic;
        report.numeric = numeric;
      }
    };
    if (size == 0) continue;
    std::vector<double> u(size);
    for (int n = 0; n < options.directions; ++n) {
      double length = 0;
      for (double& v : u) {
        v = random.uniform(-1, 1);
        length += v * v;
      }
      for (double& v : u) v /= std::sqrt(length);
      along(u, -1);
    }
    for (int n = 0; n < options.elements; ++n) {
      auto const e = random.below(static_cast<std::uint32_t>(size));
      u.assign(size, 0);
      u[e] = 1;
      along(u, static_cast<index_t>(e));
    }
  }
  return report;
}
}  // namespace detail

/// Checks `gradient` against finite differences of `value` at a point.  value(variables const&) returns a double.
/// gradient(variables const&, variables& d) must overwrite the values of d with the gradient.  Before the call, d is a
/// copy of the point.
template <class Value, class Gradient>
gradient_report gradient_check(variables point, Value&& value, Gradient&& gradient,
                               gradient_check_options const& options = {}) {
  return detail::compare_gradient(
      std::move(point), [&](variables const& at) { return static_cast<double>(value(at)); },
      [&](variables const& at, variables& d) { gradient(at, d); }, options);
}

}  // namespace triad
