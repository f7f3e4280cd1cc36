// Tests several affine maps of one input that are computed as one matrix product. The names and values of each map must
// equal those of a separate affine map.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/stacked_linear.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/layers/outcome.hpp"

namespace layers_stacked_linear_tests {

using namespace triad;

struct names {
  static constexpr std::array<char const*, 3> list{"first", "second", "third"};
};

TEST_CASE("the columns of each map are those of an affine map with the parameters of that name") {
  reference::backend ex;
  index_t const rows = 4, in = 3, d = 2;
  stacked_linear<double, names, dyn, dyn> const stack{extents<dyn, dyn>(in, d)};
  CHECK((stack.width() == d && stack.in() == in && stack.out() == 3 * d));
  CHECK(test::paths_of(stack) == std::vector<std::string>{"first.weight", "first.bias", "second.weight", "second.bias",
                                                          "third.weight", "third.bias"});
  test::some_rows const x(rows, in);
  parameter_set<stacked_linear<double, names, dyn, dyn>, reference::backend> p(stack, holding::values);
  auto const values = test::random_values(p.flat_values().extent(0), 4);
  std::copy(values.begin(), values.end(), p.flat_values().data_handle());
  std::vector<double> y(rows * 3 * d), own(rows * d);
  tensor<double, dyn, dyn> const all(y.data(), rows, 3 * d), one(own.data(), rows, d);
  stack.forward(ex, {}, p.values(), x.view(), {}, all);
  index_t k = 0;
  p.values().each([&](std::string_view, auto w) {
    linear<double>{extents<dyn, dyn>(in, d)}.forward(ex, {}, {w.weight, w.bias}, x.view(), {}, one);
    auto const part = stack.part(all, k++);
    for (index_t r = 0; r < rows; ++r)
      for (index_t f = 0; f < d; ++f) CHECK(part(r, f) == one(r, f));
  });
  CHECK(k == 3);
}

TEST_CASE("stacked maps of static and of dynamic shape compute the same bits, and have the gradient of their value") {
  reference::backend ex;
  test::some_rows const x(5, 4), none(0, 4);
  stacked_linear<double, names> const free{extents<dyn>(4)};
  test::expect_same(test::outcome_of(stacked_linear<double, names, 4>{}, x.dims(), x.view<4>(), {5, 12}),
                    test::outcome_of(free, x.dims(), x.view(), {5, 12}));
  CHECK_GRADIENT(gradient_check(ex, free, x.dims(), x.view(), {5, 12}));
  CHECK(test::outcome_of(free, none.dims(), none.view(), {0, 12}).value == 0);
}

}  // namespace layers_stacked_linear_tests
