// Tests a branch next to a residual connection, with a norm after the sum or before the branch.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/sublayer.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/layers/outcome.hpp"
#include "triad/layers/linear.hpp"

namespace layers_sublayer_tests {

using namespace triad;

using affine = sublayer<double, linear<double>>;

affine of_width(index_t d, norm_position place, double rate = 0, double epsilon = 1e-5) {
  return {linear<double>{extents<dyn, dyn>(d, d)}, {extents<dyn>(d), epsilon}, rate, place};
}

// The norm of two columns is -1 and 1. If epsilon is three times the variance, it is -0.5 and 0.5.
TEST_CASE("a norm comes after the sum, or before the branch, off the residual stream") {
  reference::backend ex;
  std::vector<double> const weight{0, 1, 1, 0}, bias{1, 3}, gain{1, 1}, zero{0, 0}, x{3, 5};
  std::vector<double> y(2);
  using read = tensor<double const, dyn, dyn>;
  affine::fields<double const> const w{
      {read(weight.data(), 2, 2), make_vec<double const>(bias.data(), 2)},
      {make_vec<double const>(gain.data(), 2), make_vec<double const>(zero.data(), 2)}};
  auto const run = [&](norm_position where, double epsilon) {
    auto const layer = of_width(2, where, 0, epsilon);
    test::spoiled_memory const memory([&](arena& a) { return layer.plan_saved(a, row_dims(1)); });
    auto place = memory.place();
    auto const saved = layer.plan_saved(place, row_dims(1));
    layer.forward(ex, {}, w, read(x.data(), 1, 2), saved, tensor<double, dyn, dyn>(y.data(), 1, 2));
    return y;
  };
  // The branch maps (3, 5) to (6, 6). So the sum is (9, 11), which has variance 1.
  CHECK(run(norm_position::after, 3) == std::vector<double>{-0.5, 0.5});
  // The norm gives (-0.5, 0.5), which the branch maps to (1.5, 2.5).
  CHECK(run(norm_position::before, 3) == std::vector<double>{4.5, 7.5});
}

TEST_CASE("a sublayer has the gradient of its value, its norm after or before, with dropout of the branch") {
  reference::backend ex;
  test::some_rows const x(5, 4), none(0, 4);
  for (auto place : {norm_position::after, norm_position::before})
    for (double rate : {0.0, 0.3}) {
      CAPTURE(place == norm_position::before, rate);
      auto const layer = of_width(4, place, rate);
      CHECK_GRADIENT(gradient_check(ex, layer, x.dims(), x.view(), {5, 4}));
      using fixed = sublayer<double, linear<double, 4, 4>, 4>;
      test::expect_same(test::outcome_of(fixed{{}, {}, rate, place}, x.dims(), x.view<4>(), {5, 4}),
                        test::outcome_of(layer, x.dims(), x.view(), {5, 4}));
      CHECK(test::outcome_of(layer, none.dims(), none.view(), {0, 4}).value == 0);
    }
  CHECK(test::paths_of(of_width(4, norm_position::after)) ==
        std::vector<std::string>{"weight", "bias", "norm.gain", "norm.bias"});
}

// A layer of a user, whose last step is no product.
struct other_branch : linear<double> {
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<double const> w, tensor<double const, dyn, dyn> x, saved const& s,
               tensor<double, dyn, dyn> y, epilogue<double> const& after = {}) const {
    linear<double>::forward(ex, c, w, x, s, y, {.dropout = after.dropout});
    for (index_t r = 0; r < y.extent(0); ++r)
      for (index_t k = 0; k < y.extent(1); ++k) y(r, k) += after.residual(r, k);
  }
};

TEST_CASE("the norm after a branch is the same, whether a product computes it or the sublayer") {
  static_assert(ends_with_product<linear<double>> && !ends_with_product<other_branch> &&
                ends_with_product<linear<double, 4, 4>>);
  test::some_rows const x(5, 4);
  for (double rate : {0.0, 0.3}) {
    sublayer<double, other_branch> const other{
        {linear<double>{extents<dyn, dyn>(4, 4)}}, {extents<dyn>(4), 1e-5}, rate, norm_position::after};
    test::expect_same(test::outcome_of(other, x.dims(), x.view(), {5, 4}),
                      test::outcome_of(of_width(4, norm_position::after, rate), x.dims(), x.view(), {5, 4}));
  }
}

}  // namespace layers_sublayer_tests
