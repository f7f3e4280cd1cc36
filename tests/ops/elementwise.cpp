// Tests elementwise functions, on every backend.
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/elementwise.hpp"

#include <cmath>
#include <type_traits>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/ops/rows.hpp"
#include "triad/cpu/cpu.hpp"

namespace ops_elementwise_tests {

using namespace triad;
using test::contains;
using test::random_values;
using test::rows_of;
using test::tolerance;
using test::WithinAbs;

TEMPLATE_TEST_CASE("functions of elements and fill are what they say at every size", "", TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  for (index_t n : {0, 1, 17, 16384, 16385, 50000}) {
    CAPTURE(n);
    auto const x = random_values<T>(n, 1), b = random_values<T>(n, 2);
    auto const xs = make_vec(x.data(), n);
    std::vector<T> y(x.size());
    auto const ys = make_vec(y.data(), n);
    transform(ex, relu(), xs, ys);
    for (std::size_t i = 0; i < y.size(); ++i) REQUIRE(y[i] == (x[i] > T(0) ? x[i] : T(0)));
    transform(ex, relu_grad(), ys, make_vec(b.data(), n), ys);
    for (std::size_t i = 0; i < y.size(); ++i) REQUIRE(y[i] == (x[i] > T(0) ? b[i] : T(0)));
    transform(ex, plus(), xs, make_vec(b.data(), n), ys);
    transform(ex, times(), ys, xs, ys);
    transform(ex, scale_by<double>{2}, ys, ys);
    for (std::size_t i = 0; i < y.size(); ++i)
      REQUIRE_THAT(y[i], WithinAbs(static_cast<double>((x[i] + b[i]) * x[i] * T(2)), tolerance<T>));
    transform(ex, leaky_relu<double>{0.25}, xs, ys);
    for (std::size_t i = 0; i < y.size(); ++i) REQUIRE(y[i] == (x[i] > T(0) ? x[i] : x[i] / T(4)));
    transform(ex, leaky_relu_grad<double>{0.25}, xs, make_vec(b.data(), n), ys);
    for (std::size_t i = 0; i < y.size(); ++i) REQUIRE(y[i] == (x[i] > T(0) ? b[i] : b[i] / T(4)));
    fill(ex, T(3), ys);
    CHECK(y == std::vector<T>(y.size(), T(3)));
  }
}

TEMPLATE_TEST_CASE("gelu is x times the normal distribution function", "", TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  std::vector<T> x, y(81), back(81), dy;
  for (int i = -40; i <= 40; ++i) {
    x.push_back(static_cast<T>(i) / T(8));
    dy.push_back(static_cast<T>(i % 7) - T(2.5));
  }
  auto const view = [](auto& v) { return make_vec(v.data(), 81); };
  transform(ex, gelu{}, view(x), view(y));
  transform(ex, gelu_grad{}, view(x), view(dy), view(back));
  double const close = std::is_same_v<T, float> ? 5e-7 : 1e-15;
  for (std::size_t i = 0; i < 81; ++i) {
    long double const at = x[i], below = std::erfc(-at / std::sqrt(2.0L)) / 2,
                      density = std::exp(-at * at / 2) / std::sqrt(2 * std::acos(-1.0L));
    CHECK_THAT(static_cast<double>(y[i]),
               WithinAbs(static_cast<double>(at * below), close * std::abs(static_cast<double>(at))));
    CHECK_THAT(static_cast<double>(back[i]), WithinAbs(static_cast<double>(dy[i] * (below + at * density)), 4 * close));
  }
}

TEMPLATE_TEST_CASE("elu is x, or exp(x) - 1 below 0", "", TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  auto const x = random_values<T>(81, 1, 4), dy = random_values<T>(81, 2);
  std::vector<T> y(81), back(81);
  transform(ex, elu{}, make_vec(x.data(), 81), make_vec(y.data(), 81));
  transform(ex, elu_grad{}, make_vec(x.data(), 81), make_vec(dy.data(), 81), make_vec(back.data(), 81));
  double const close = std::is_same_v<T, float> ? 5e-7 : 1e-15;
  for (std::size_t i = 0; i < 81; ++i) {
    double const at = x[i], below = std::expm1(at);
    CHECK_THAT(static_cast<double>(y[i]), WithinAbs(at > 0 ? at : below, close));
    CHECK_THAT(static_cast<double>(back[i]), WithinAbs(static_cast<double>(dy[i]) * (at > 0 ? 1 : below + 1), close));
  }
}

TEST_CASE("functions of views that do not fit are refused with a sentence") {
  reference::backend ex;
  std::vector<double> v(100);
  auto const m = [&](index_t r, index_t c) { return rows_of(v, {r, c}); };
  CHECK_THROWS_WITH(transform(ex, plus(), m(2, 3), m(3, 2), m(2, 3)),
                    contains("transform: b is (3, 2), expected (2, 3)"));
  CHECK_THROWS_WITH(transform(ex, relu(), m(2, 3), m(3, 2)), contains("transform: y is (3, 2), expected (2, 3)"));
}

}  // namespace ops_elementwise_tests
