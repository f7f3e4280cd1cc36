// Tests the dropout layer: which elements it drops, in which calls it drops elements, and its gradient.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/dropout.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/layers/outcome.hpp"

namespace layers_dropout_tests {

using namespace triad;

constexpr index_t d = 3;

TEST_CASE("a dropout layer drops in training alone, each place by its own counter") {
  reference::backend ex;
  index_t const many = 200;
  std::vector<double> const ones(static_cast<std::size_t>(many * d), 1.0);
  auto first = ones, second = ones;
  std::uint64_t const step = 1;
  call c;
  c.key = 4;
  c.step = &step;
  dropout_layer<double, d> const drop{{}, 0.5};
  auto const run = [&](index_t place, std::vector<double>& y) {
    drop.forward(ex, c.child(place), {}, tensor<double const, dyn, d>(ones.data(), many), {},
                 tensor<double, dyn, d>(y.data(), many));
  };
  run(0, first);
  CHECK(first == ones);
  c.train = true;
  run(0, first);
  run(1, second);
  CHECK(first != second);
  auto const kept = std::count(first.begin(), first.end(), 2.0);
  CHECK(kept + std::count(first.begin(), first.end(), 0.0) == many * d);
  CHECK(std::abs(static_cast<double>(kept) - 300) < 62);  // five standard deviations
}

TEST_CASE("dropout has the gradient of its value and no parameters, and no rows are no matter") {
  reference::backend ex;
  test::some_rows const x(5, d), none(0, d);
  for (double rate : {0.0, 0.4}) {
    dropout_layer<double> const drop{extents<dyn>(d), rate};
    CHECK_GRADIENT(gradient_check(ex, drop, x.dims(), x.view(), {5, d}));
    test::expect_same(test::outcome_of(drop, x.dims(), x.view(), {5, d}),
                      test::outcome_of(dropout_layer<double, d>{{}, rate}, x.dims(), x.view<d>(), {5, d}));
    CHECK(test::paths_of(drop).empty());
    CHECK(test::outcome_of(drop, none.dims(), none.view(), {0, d}).value == 0);
  }
  CHECK_THROWS_WITH(test::outcome_of(dropout_layer<double>{extents<dyn>(d), 1.0}, x.dims(), x.view(), {5, d}),
                    test::contains("dropout is 1.000000, expected at least 0 and below 1"));
}

}  // namespace layers_dropout_tests
