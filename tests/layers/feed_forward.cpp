// Tests the feed-forward block: its gradient with each activation, and that relu needs less memory than gelu.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/feed_forward.hpp"

#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/layers/outcome.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/train/gradient_check.hpp"

namespace layers_feed_forward_tests {

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

}  // namespace layers_feed_forward_tests
