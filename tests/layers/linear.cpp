// Tests the affine map of rows: a case computed by hand, its gradient, static and dynamic sizes, and the epilogue of
// its product.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/linear.hpp"

#include <vector>

#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/layers/outcome.hpp"

namespace layers_linear_tests {

using namespace triad;

TEST_CASE("an affine map is a product and a bias, and gradients are added but the input's") {
  reference::backend ex;
  std::vector<double> x{1, 2, 3, 4, 5, 6}, w{1, 0, -1, 2, 1, 0}, b{10, 20}, y(4), dx(6, 9), dw(6, 1), db(2, 1);
  std::vector<double> const dy{1, 0, 0, 1};
  linear<double> const map{extents<dyn, dyn>(3, 2)};
  CHECK((map.in() == 3 && map.out() == 2));
  using matrix_of = tensor<double, dyn, dyn>;
  using read = tensor<double const, dyn, dyn>;
  linear<double>::fields<double const> const values{read(w.data(), 2, 3), make_vec<double const>(b.data(), 2)};
  linear<double>::fields<double> const gradients{matrix_of(dw.data(), 2, 3), make_vec(db.data(), 2)};
  test::with_scratch(ex, {}, [&](auto& backend, call const& c) {
    map.forward(backend, c, values, read(x.data(), 2, 3), {}, matrix_of(y.data(), 2, 2));
    map.backward(backend, c, values, read(x.data(), 2, 3), {}, read(dy.data(), 2, 2), matrix_of(dx.data(), 2, 3),
                 gradients);
  });
  CHECK(y == std::vector<double>{8, 24, 8, 33});
  CHECK(dx == std::vector<double>{1, 0, -1, 2, 1, 0});
  CHECK(dw == std::vector<double>{2, 3, 4, 5, 6, 7});
  CHECK(db == std::vector<double>{2, 2});

  epilogue<double> after;
  after.relu = true;
  std::vector<double> const down(4, -10);
  test::with_scratch(ex, {}, [&](auto& backend, call const& c) {
    map.forward(backend, c, {values.weight, make_vec<double const>(down.data(), 2)}, read(x.data(), 2, 3), {},
                matrix_of(y.data(), 2, 2), after);
    map.backward(backend, c, values, read(x.data(), 2, 3), {}, read(dy.data(), 2, 2), matrix_of(nullptr, 0, 3),
                 gradients);
  });
  CHECK(y == std::vector<double>{0, 0, 0, 3});
  CHECK(dw == std::vector<double>{3, 5, 7, 9, 11, 13});  // in a call without dx
}

TEST_CASE("an affine map of static and of dynamic shape computes the same bits, and has the gradient of its value") {
  reference::backend ex;
  test::some_rows const x(7, 6);
  for (bool bias : {true, false}) {
    linear<double, 6, 4> const fixed{{}, bias};
    linear<double> const free{extents<dyn, dyn>(6, 4), bias};
    test::expect_same(test::outcome_of(fixed, x.dims(), x.view<6>(), {7, 4}),
                      test::outcome_of(free, x.dims(), x.view(), {7, 4}));
    CHECK_GRADIENT(gradient_check(ex, free, x.dims(), x.view(), {7, 4}));
  }
  // Static widths take no memory in the layer.
  static_assert(sizeof(linear<double, 6, 4>) == sizeof(bool) && sizeof(linear<double>) > 2 * sizeof(index_t));
  static_assert(std::is_trivially_copyable_v<linear<double>>);
}

TEST_CASE("an affine map of no rows and of one column is one") {
  test::some_rows const none(0, 3), narrow(4, 1);
  CHECK(test::outcome_of(linear<double>{extents<dyn, dyn>(3, 2)}, none.dims(), none.view(), {0, 2}).value == 0);
  reference::backend ex;
  CHECK_GRADIENT(gradient_check(ex, linear<double>{extents<dyn, dyn>(1, 1)}, narrow.dims(), narrow.view(), {4, 1}));
}

}  // namespace layers_linear_tests
