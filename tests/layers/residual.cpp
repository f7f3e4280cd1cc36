// Tests a layer whose input is added to its output: the output and the gradient are sums.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/residual.hpp"

#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/layers/outcome.hpp"
#include "triad/layers/layer_norm.hpp"
#include "triad/layers/linear.hpp"

namespace layers_residual_tests {

using namespace triad;

constexpr index_t d = 3;

// An affine map adds the input in the epilogue of its matrix product. A norm adds the input in a later pass.
TEMPLATE_TEST_CASE("a residual adds its input to the value, and the result's gradient to the input's", "",
                   linear<double>, layer_norm_layer<double>) {
  reference::backend ex;
  test::some_rows const x(5, d);
  auto const layer = [] {
    if constexpr (requires { TestType{}.bias; })
      return TestType{extents<dyn, dyn>(d, d)};
    else
      return TestType{extents<dyn>(d)};
  }();
  CHECK_GRADIENT(gradient_check(ex, residual(layer), x.dims(), x.view(), {5, d}));
  auto const alone = test::outcome_of(layer, x.dims(), x.view(), {5, d}),
             beside = test::outcome_of(residual(layer), x.dims(), x.view(), {5, d});
  // With the same parameters, x and dy, the residual has the value y + x, the input gradient dx + dy, and the same
  // parameter gradients.
  auto const last = alone.gradient.size() - 1;
  double more = 0;
  for (std::size_t i = 0; i < x.values.size(); ++i)
    more += (beside.gradient[last].values[i] - alone.gradient[last].values[i]) * x.values[i];
  CHECK_THAT(beside.value - alone.value, test::WithinAbs(more, 1e-13));
  CHECK(std::abs(more) > 0.01);
  for (std::size_t t = 0; t < last; ++t) CHECK(beside.gradient[t].values == alone.gradient[t].values);
  CHECK(test::paths_of(residual(layer)) == test::paths_of(layer));
}

TEST_CASE("a layer whose result is wider than its input has nothing to add to") {
  CHECK_THROWS_WITH(residual(linear<double>{extents<dyn, dyn>(3, 4)}),
                    test::contains("residual: 4 columns out of the layer, expected 3"));
}

}  // namespace layers_residual_tests
