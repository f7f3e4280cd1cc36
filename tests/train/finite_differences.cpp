// Tests the comparison of a gradient with finite differences: a right gradient passes, a wrong gradient is named, and
// NaN never passes.
// SPDX-License-Identifier: Apache-2.0
#include "triad/train/finite_differences.hpp"

#include <cmath>
#include <vector>

#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/ragged.hpp"
#include "triad/ops/softmax.hpp"
#include "triad/reference/reference.hpp"

namespace train_finite_differences_tests {

using namespace triad;

TEST_CASE("gradient_check of an operation takes two functions") {
  reference::backend ex;
  variables const point{{"x", test::random_values(6, 1)}, {"dy", test::random_values(6, 2)}};
  auto const value = [&](variables const& at) {
    std::vector<double> y(6);
    softmax(ex, tensor<double const, dyn, dyn>(at[0].values.data(), 2, 3), tensor<double, dyn, dyn>(y.data(), 2, 3));
    double f = 0;
    for (std::size_t i = 0; i < 6; ++i) f += y[i] * at[1].values[i];
    return f;
  };
  double factor = 1;
  auto const gradient = [&](variables const& at, variables& d) {
    tensor<double, dyn, dyn> const y(d[1].values.data(), 2, 3), dx(d[0].values.data(), 2, 3);
    softmax(ex, tensor<double const, dyn, dyn>(at[0].values.data(), 2, 3), y);  // df/d(dy) = y
    softmax_grad(ex, y, tensor<double const, dyn, dyn>(at[1].values.data(), 2, 3), dx);
    dx(1, 1) *= factor;
  };
  CHECK_GRADIENT(gradient_check(point, value, gradient));
  factor = 1.01;
  auto const report = gradient_check(point, value, gradient);
  CHECK_FALSE(static_cast<bool>(report));
  CHECK(report.path == "x");
}

TEST_CASE("gradient_check does not pass what is not a number") {
  auto const report = gradient_check(
      {{"x", {1.0}}}, [](variables const&) { return 0.0; },
      [](variables const&, variables& d) { d[0].values[0] = std::nan(""); });
  CHECK_FALSE(static_cast<bool>(report));
}

// The function f = sum a_i x_i^2, whose gradient is 2 a_i x_i.
gradient_report squares(std::vector<double> const& a, std::vector<double> const& x, double slope = 2,
                        gradient_check_options const& o = {}) {
  return gradient_check(
      {{"x", x}},
      [&](variables const& at) {
        double f = 0;
        for (std::size_t i = 0; i < a.size(); ++i) f += a[i] * at[0].values[i] * at[0].values[i];
        return f;
      },
      [&](variables const& at, variables& d) {
        for (std::size_t i = 0; i < a.size(); ++i) d[0].values[i] = slope * a[i] * at[0].values[i];
      },
      o);
}

TEST_CASE("a report says where the largest error was, what both sides say, and how many were looked at") {
  auto const right = squares({1, -2, 3}, {0.5, 1, -1});
  CHECK(static_cast<bool>(right));
  CHECK(right.checks == 6);  // two directions and four single elements
  CHECK_THAT(right.text(), test::contains("gradient_check: right in all 6 checks"));
  auto const wrong = squares({1}, {3}, 4, {.directions = 0, .elements = 1});
  CHECK_FALSE(static_cast<bool>(wrong));
  CHECK((wrong.path == "x" && wrong.element == 0 && wrong.analytic == 12));
  CHECK_THAT(wrong.numeric, test::WithinAbs(6, 1e-6));
  CHECK_THAT(wrong.worst, test::WithinAbs(0.5, 1e-6));  // relative to the larger of the two derivatives
  CHECK_THAT(wrong.text(), test::contains("wrong at x at element 0: backward says 12, finite differences 6"));
}

TEST_CASE("a kink within the step is passed at a smaller one, a wrong gradient at none") {
  auto const at = [](double x, double claimed) {
    return gradient_check(
        {{"x", {x}}}, [](variables const& v) { return std::abs(v[0].values[0]); },
        [&](variables const&, variables& d) { d[0].values[0] = claimed; }, {.directions = 0, .elements = 1});
  };
  CHECK(static_cast<bool>(at(5e-6, 1)));  // the kink of |x| is within the step of 1e-5
  CHECK_FALSE(static_cast<bool>(at(5e-6, -1)));
  CHECK_FALSE(static_cast<bool>(at(5e-6, 0)));
}

TEST_CASE("nothing to check is no pass, and a gradient of another size is a fault") {
  auto const nothing =
      gradient_check({{"x", {}}}, [](variables const&) { return 0.0; }, [](variables const&, variables&) {});
  CHECK_FALSE(static_cast<bool>(nothing));
  CHECK(nothing.text() == "gradient_check: there was nothing to check");
  auto const constant = gradient_check(
      {{"x", {1, 2}}}, [](variables const&) { return 3.0; },
      [](variables const&, variables& d) { d[0].values.assign(2, 0.0); });
  CHECK_FALSE(static_cast<bool>(constant));
  CHECK_THAT(constant.text(), test::contains("all derivatives are zero, by backward and by finite differences"));
  auto const other = gradient_check(
      {{"x", {1, 2}}}, [](variables const&) { return 0.0; },
      [](variables const&, variables& d) { d[0].values.resize(3); });
  CHECK_FALSE(static_cast<bool>(other));
  CHECK(other.text() == "gradient_check: x: the gradient has 3 values for 2");
}

}  // namespace train_finite_differences_tests
