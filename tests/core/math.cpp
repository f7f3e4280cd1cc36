// Tests functions of numbers. Compares their values with values that were computed by hand, and their gradients with
// finite differences.
// SPDX-License-Identifier: Apache-2.0
#include "triad/core/math.hpp"

#include <cmath>
#include <limits>

#include "tests/check_gradient.hpp"

namespace core_math_tests {

using namespace triad;
using test::WithinAbs;

TEST_CASE("the functions of one or two numbers are what their names say") {
  CHECK(unchanged{}(3.5) == 3.5);
  CHECK(plus{}(2.0, 3.0) == 5);
  CHECK(times{}(2.0f, 3.0f) == 6);
  CHECK(scale_by<double>{0.5}(3.0f) == 1.5f);
  CHECK((relu{}(2.0) == 2 && relu{}(0.0) == 0 && relu{}(-2.0) == 0));
  CHECK((relu_grad{}(2.0, 7.0) == 7 && relu_grad{}(0.0, 7.0) == 0));
}

TEMPLATE_TEST_CASE("relu passes NaN of either sign, and makes +0 of -0 and of all below", "", float, double) {
  using T = TestType;
  constexpr T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity(),
              small = std::numeric_limits<T>::min();
  for (T x : {nan, -nan}) CHECK((std::isnan(relu{}(x)) && relu_grad{}(x, T(7)) == 7));
  for (T x : {T(0), -T(0), -small, T(-1), std::numeric_limits<T>::lowest(), -inf}) {
    CAPTURE(x);
    CHECK((relu{}(x) == 0 && !std::signbit(relu{}(x)) && relu_grad{}(x, T(7)) == 0));
  }
  for (T x : {small, T(1), std::numeric_limits<T>::max(), inf}) CHECK((relu{}(x) == x && relu_grad{}(x, T(7)) == 7));
  static_assert(relu{}(T(-2)) == 0 && relu_grad{}(T(2), T(7)) == 7);
}

TEST_CASE("the functions with a part below 0 are what their names say") {
  CHECK((leaky_relu<double>{0.25}(2.0) == 2 && leaky_relu<double>{0.25}(0.0) == 0));
  CHECK(leaky_relu<double>{0.25}(-2.0f) == -0.5f);
  CHECK((leaky_relu_grad<double>{0.25}(2.0, 8.0) == 8 && leaky_relu_grad<double>{0.25}(0.0, 8.0) == 2));
  CHECK((elu{}(2.0) == 2 && elu{}(0.0) == 0 && elu{}(-100.0) == -1));
  CHECK_THAT(elu{}(-1.0), WithinAbs(-0.6321205588285577, 1e-15));
  CHECK_THAT(elu{}(-1e-9), WithinAbs(-1e-9, 1e-17));  // a plain exp(x) - 1 would have an error in the eighth digit
}

TEST_CASE("gelu is x times the share of a normal variable below x") {
  // The expected values use the normal distribution function at 1 and 2, from tables.
  CHECK(gelu{}(0.0) == 0);
  CHECK_THAT(gelu{}(1.0), WithinAbs(0.8413447460685429, 1e-15));
  CHECK_THAT(gelu{}(2.0), WithinAbs(2 * 0.9772498680518208, 1e-15));
  CHECK_THAT(gelu{}(-1.0), WithinAbs(-0.1586552539314571, 1e-15));
  CHECK_THAT(gelu{}(-40.0), WithinAbs(0, 1e-300));
}

TEST_CASE("the sigmoid lies between 0 and 1 and reaches both, without NaN") {
  CHECK((sigmoid{}(0.0) == 0.5 && sigmoid{}(1e4) == 1 && sigmoid{}(-1e4) == 0 && sigmoid{}(-1e4f) == 0));
  CHECK_THAT(sigmoid{}(1.0), WithinAbs(0.7310585786300049, 1e-15));
  CHECK((sigmoid_grad{}(0.5, 8.0) == 2 && sigmoid_grad{}(1.0, 8.0) == 0 && sigmoid_grad{}(0.0, 8.0) == 0));
}

TEST_CASE("the gradients are the derivatives of the values") {
  for (double x : {-3.0, -0.7, 0.3, 2.0}) {
    CAPTURE(x);
    CHECK_THAT(sigmoid_grad{}(sigmoid{}(x), 2.0),
               WithinAbs(2 * test::derivative(x, [&] { return sigmoid{}(x); }, 1e-5), 1e-9));
    CHECK_THAT(gelu_grad{}(x, 2.0), WithinAbs(2 * test::derivative(x, [&] { return gelu{}(x); }, 1e-5), 1e-9));
    CHECK_THAT(relu_grad{}(relu{}(x), 2.0), WithinAbs(2 * test::derivative(x, [&] { return relu{}(x); }, 1e-5), 1e-9));
    CHECK_THAT(elu_grad{}(x, 2.0), WithinAbs(2 * test::derivative(x, [&] { return elu{}(x); }, 1e-5), 1e-9));
    leaky_relu<double> const leaky{0.2};
    leaky_relu_grad<double> const leaky_grad{0.2};
    auto const slope = test::derivative(x, [&] { return leaky(x); }, 1e-5);
    CHECK_THAT(leaky_grad(x, 2.0), WithinAbs(2 * slope, 1e-9));
    CHECK_THAT(leaky_grad(leaky(x), 2.0), WithinAbs(2 * slope, 1e-9));
  }
  CHECK(gelu_grad{}(0.0, 1.0) == 0.5);
}

}  // namespace core_math_tests
