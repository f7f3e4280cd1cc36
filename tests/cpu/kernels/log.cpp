// Tests the logarithm of vectors: it is as accurate as float allows, near 1 too, and for every exponent.
// SPDX-License-Identifier: Apache-2.0
#include "triad/cpu/kernels/log.hpp"

#include <cmath>
#include <limits>

#include "tests/catch.hpp"

namespace cpu_log_tests {

using namespace triad;

double log_of(float x, float beyond_one, int exponent = 0) {
  return static_cast<double>(
      simd::log(simd::broadcast(x), simd::broadcast(beyond_one), simd::ints{} + exponent)[simd::lanes - 1]);
}

TEST_CASE("the logarithm of a float has a float's digits") {
  for (int i = 1; i <= 4000; ++i) {
    float const x = static_cast<float>(i) / 1000;
    CAPTURE(x);
    REQUIRE_THAT(log_of(x, x - 1), test::WithinRel(std::log(static_cast<double>(x)), 3e-7));
  }
  for (float const x : {1.2e-38f, 1e-30f, 1e-7f, 3e12f, 3e38f}) {
    CAPTURE(x);
    CHECK_THAT(log_of(x, x - 1), test::WithinRel(std::log(static_cast<double>(x)), 3e-7));
  }
}

TEST_CASE("near 1, a logarithm keeps the digits of the difference from 1") {
  for (float const z : {0.0f, 1e-30f, -1e-12f, -3e-8f, 1e-4f, -0.01f, 0.3f, -0.25f}) {
    CAPTURE(z);
    double const exact = std::log1p(static_cast<double>(z));
    CHECK_THAT(log_of(1 + z, z), test::WithinAbs(exact, 3e-7 * std::abs(exact)));
    CHECK_THAT(log_of((1 + z) / 8, z, 3), test::WithinAbs(exact, 3e-7 * std::abs(exact)));
  }
}

TEST_CASE("an exponent of its own is added, and a power of two is taken away exactly") {
  for (int const k : {-3000, -1, 1, 700}) {
    CAPTURE(k);
    double const exact = k * std::log(2.0) + std::log(1.75);
    CHECK_THAT(log_of(1.75f, std::ldexp(1.75f, k) - 1, k), test::WithinRel(exact, 3e-7));
  }
  for (float const x : {1.0f, 0.70710679f, 1.4142134f, 1.4142137f, 6.5e-30f, 48.0f}) {
    simd::floats y = simd::broadcast(x);
    auto const k = simd::take_exponent(y);
    CAPTURE(x, y[0], k[0]);
    CHECK((y[0] * y[0] >= 0.4999999f && y[0] * y[0] < 2));
    CHECK(std::ldexp(y[0], k[0]) == x);
  }
}

TEST_CASE("a lane is NaN if its source is no finite number, and unchanged otherwise") {
  auto const of = [](float source) { return simd::if_finite(simd::broadcast(source), simd::broadcast(5))[0]; };
  for (float const source : {0.0f, -1.0f, 3e38f, 1e-40f}) CHECK(of(source) == 5);
  constexpr float inf = std::numeric_limits<float>::infinity();
  for (float const source : {inf, -inf, std::numeric_limits<float>::quiet_NaN()}) CHECK(std::isnan(of(source)));
}

}  // namespace cpu_log_tests
