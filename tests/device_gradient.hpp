// Compares gradients on a device with those of the reference. On the host, the same tests compare gradients with finite
// differences.
// SPDX-License-Identifier: Apache-2.0
//
// The stand-in for a GPU takes seconds for work that the host does in milliseconds, and finite differences need dozens
// of values. So gradient_check(ex, layer, ...) on a device is the function in this header, which computes only one
// value and one gradient.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "tests/backends.hpp"
#include "triad/train/gradient_check.hpp"

namespace triad::test {

/// The tolerance allows for rounding in sums of another order. An error in a formula would give a much larger
/// difference.
inline constexpr double device_tolerance = 1e-9;

/// Adds to the report the error of every element of `found` relative to the reference's.
inline void compare_with_reference(gradient_report& report, variables const& expected, variables const& found) {
  report.tolerance = device_tolerance;
  if (expected.size() != found.size()) report.fault = "the reference has a gradient of other tensors";
  if (!report.fault.empty()) return;
  double largest = 0;
  for (auto const& tensor : expected)
    for (double const g : tensor.values) largest = std::max(largest, std::abs(g));
  for (std::size_t t = 0; t < expected.size(); ++t) {
    auto const &right = expected[t].values, &ours = found[t].values;
    if (right.size() != ours.size()) {
      report.fault = expected[t].path + ": the reference has a gradient of another size";
      return;
    }
    for (std::size_t i = 0; i < right.size(); ++i) {
      double const error = detail::gradient_error(ours[i], right[i], largest / 100);
      if (report.checks++ > 0 && error <= report.worst) continue;
      report.worst = error;
      report.path = expected[t].path;
      report.element = static_cast<index_t>(i);
      report.analytic = ours[i];
      report.numeric = right[i];
    }
  }
}

/// Checks that a layer's value and gradient on a device equal those of the reference. Also checks the rules of
/// gradient_check: no memory is read before it is written, and no memory is written beyond the end of a gradient. In
/// the report, `numeric` is the value of the reference.
template <class Layer, class Dims>
gradient_report gradient_check(on_device& ex, Layer const& layer, Dims const& dims, typename Layer::input const& in,
                               output_shape shape, gradient_check_options const& options = {}) {
  reference::backend plain;
  triad::detail::layer_under_check<on_device, Layer, Dims> here(ex, layer, dims, in, shape, options);
  triad::detail::layer_under_check<reference::backend, Layer, Dims> there(plain, layer, dims, in, shape, options);
  gradient_report report;
  report.fault = here.fault();
  auto const at = there.start();
  variables expected = at, found = at;
  there.gradient(at, expected);
  here.gradient(at, found);
  expected.push_back({"the value", {there.value(at)}});
  found.push_back({"the value", {here.value(at)}});
  compare_with_reference(report, expected, found);
  if (report.fault.empty()) report.fault = here.stray();
  return report;
}

}  // namespace triad::test
