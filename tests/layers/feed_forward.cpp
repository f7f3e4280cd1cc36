// The feed-forward block: its gradient with either activation, and what relu does not pay for gelu.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/feed_forward.hpp"

#include <cmath>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/layers/outcome.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/train/gradient_check.hpp"

namespace {

using namespace triad;

TEMPLATE_TEST_CASE("a feed-forward block has the gradient of its value with relu and with gelu", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  index_t const rows = 5;
  auto const values = test::random_values(rows * 4, 1);
  tensor<double const, dyn, dyn> const x(values.data(), rows, 4);
  for (auto f : {activation::relu, activation::gelu})
    for (double rate : {0.0, 0.4}) {
      CAPTURE(f == activation::gelu, rate);
      auto const report = gradient_check(ex, feed_forward<double>(4, 70, 3, rate, f), row_dims(rows), x, {rows, 3});
      CHECK_GRADIENT(report);
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
               test::WithinAbs(static_cast<double>(at * below), close * std::abs(static_cast<double>(at))));
    CHECK_THAT(static_cast<double>(back[i]),
               test::WithinAbs(static_cast<double>(dy[i] * (below + at * density)), 4 * close));
  }
}

TEST_CASE("gelu on the cpu has the same bits whatever the threads, and whatever stands beside a value") {
  auto const x = test::random_values<float>(40001, 5, 6), dy = test::random_values<float>(40001, 6);
  auto const run = [&](int threads, index_t first, index_t count) {
    cpu::backend ex(threads);
    std::vector<float> y(static_cast<std::size_t>(2 * count));
    auto const value = make_vec(y.data(), count), slope = make_vec(y.data() + count, count);
    transform(ex, gelu{}, make_vec(x.data() + first, count), value);
    transform(ex, gelu_grad{}, make_vec(x.data() + first, count), make_vec(dy.data() + first, count), slope);
    return y;
  };
  auto const all = run(1, 0, 40001);
  CHECK(run(3, 0, 40001) == all);
  auto const few = run(1, 77, 5);
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(few[i] == all[77 + i]);
    CHECK(few[5 + i] == all[40001 + 77 + i]);
  }
}

TEST_CASE("feed-forward blocks of static and of dynamic shape compute the same bits") {
  test::some_rows const x(7, 6);
  for (auto between : {activation::relu, activation::gelu})
    test::expect_same(
        test::outcome_of(feed_forward<double, 6, 10, 3>(6, 10, 3, 0.3, between), x.dims(), x.view<6>(), {7, 3}),
        test::outcome_of(feed_forward<double>(6, 10, 3, 0.3, between), x.dims(), x.view(), {7, 3}));
}

TEST_CASE("a block with relu keeps one matrix, and one with gelu two") {
  auto const bytes = [](activation f) {
    return planned_bytes([&](arena& a) { (void)feed_forward<float>(8, 64, 8, 0.1, f).plan_saved(a, row_dims(100)); });
  };
  CHECK(bytes(activation::relu) == 100 * 64 * sizeof(float) + arena_slack);
  CHECK(bytes(activation::gelu) == 2 * bytes(activation::relu));
}

}  // namespace
