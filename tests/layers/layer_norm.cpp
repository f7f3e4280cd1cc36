// Tests layer normalisation with gain and bias: a case computed by hand, its gradient, static and dynamic sizes.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/layer_norm.hpp"

#include <cmath>
#include <vector>

#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/layers/outcome.hpp"

namespace layers_layer_norm_tests {

using namespace triad;

TEST_CASE("a norm takes away the mean, divides by the deviation with its epsilon, and leaves both") {
  reference::backend ex;
  layer_norm_layer<double> const norm{extents<dyn>(2), 3.0};  // a variance of 1 and an epsilon of 3 halve the result
  std::vector<double> const x{4, 6, 7, 7}, gain{10, 20}, bias{1, 2};
  std::vector<double> y(4);
  test::spoiled_memory const memory([&](arena& a) { return norm.plan_saved(a, row_dims(2)); });
  auto place = memory.place();
  auto const s = norm.plan_saved(place, row_dims(2));
  norm.forward(ex, {}, {tensor<double const, dyn>(gain.data(), 2), tensor<double const, dyn>(bias.data(), 2)},
               tensor<double const, dyn, dyn>(x.data(), 2, 2), s, tensor<double, dyn, dyn>(y.data(), 2, 2));
  CHECK(y == std::vector<double>{-4, 12, 1, 2});
  CHECK((s.mean(0) == 5 && s.mean(1) == 7 && s.rstd(0) == 0.5));
  CHECK_THAT(s.rstd(1), test::WithinAbs(1 / std::sqrt(3.0), 1e-15));
}

TEST_CASE("a norm of static and of dynamic shape computes the same bits, and has the gradient of its value") {
  reference::backend ex;
  test::some_rows const x(7, 6), none(0, 6);
  layer_norm_layer<double> const free{extents<dyn>(6)};
  test::expect_same(test::outcome_of(layer_norm_layer<double, 6>{}, x.dims(), x.view<6>(), {7, 6}),
                    test::outcome_of(free, x.dims(), x.view(), {7, 6}));
  CHECK_GRADIENT(gradient_check(ex, free, x.dims(), x.view(), {7, 6}));
  CHECK_GRADIENT(gradient_check(ex, layer_norm_layer<double>{extents<dyn>(6), 0.1}, x.dims(), x.view(), {7, 6}));
  CHECK(test::outcome_of(free, none.dims(), none.view(), {0, 6}).value == 0);
  CHECK(test::paths_of(free) == std::vector<std::string>{"gain", "bias"});
}

}  // namespace layers_layer_norm_tests
