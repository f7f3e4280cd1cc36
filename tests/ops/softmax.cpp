// Tests the softmax of rows: its properties on every backend, and errors for operands of different sizes.
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/softmax.hpp"

#include <cmath>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/ops/rows.hpp"
#include "triad/cpu/cpu.hpp"

namespace ops_softmax_tests {

using namespace triad;
using test::contains;
using test::random_values;
using test::rows_of;
using test::sizes;
using test::tolerance;
using test::WithinAbs;

TEMPLATE_TEST_CASE("rows of a softmax sum to one, do not see a shift, and have a gradient that sums to zero", "",
                   TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  for (auto const s : sizes) {
    CAPTURE(s.rows, s.columns);
    auto x = random_values<T>(s.rows * s.columns, 1, 5), dy = random_values<T>(s.rows * s.columns, 2), y = x,
         shifted = x, dx = dy;
    softmax(ex, rows_of(std::as_const(x), s), rows_of(y, s));
    for (auto& v : shifted) v += T(80);
    softmax(ex, rows_of(std::as_const(shifted), s), rows_of(shifted, s));  // in place
    softmax_grad(ex, rows_of(std::as_const(y), s), rows_of(std::as_const(dx), s), rows_of(dx, s));
    for (index_t r = 0; r < s.rows; ++r) {
      double sum = 0, gradient = 0;
      for (index_t c = 0; c < s.columns; ++c) {
        sum += static_cast<double>(rows_of(y, s)(r, c));
        gradient += static_cast<double>(rows_of(dx, s)(r, c));
        REQUIRE_THAT(rows_of(shifted, s)(r, c), WithinAbs(static_cast<double>(rows_of(y, s)(r, c)),
                                                          sizeof(T) == 4 ? 1e-5 : 1e-13));  // x + 80 is rounded
        REQUIRE_THAT(std::log(rows_of(y, s)(r, c) / rows_of(y, s)(r, 0)),
                     WithinAbs(static_cast<double>(rows_of(x, s)(r, c) - rows_of(x, s)(r, 0)), tolerance<T>));
      }
      REQUIRE_THAT(sum, WithinAbs(1, tolerance<T>));
      REQUIRE_THAT(gradient, WithinAbs(0, tolerance<T>));
    }
  }
}

TEMPLATE_TEST_CASE("a softmax of huge and of masked scores stays finite", "", TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  std::vector<T> x{T(-1e9), T(1e4), T(-1e9), T(-1e9)}, y(4);
  softmax(ex, rows_of(std::as_const(x), {2, 2}), rows_of(y, {2, 2}));
  CHECK(y == std::vector<T>{T(0), T(1), T(0.5), T(0.5)});
}

TEST_CASE("a softmax of what does not fit is refused with a sentence") {
  reference::backend ex;
  std::vector<double> v(100);
  auto const m = [&](index_t r, index_t c) { return rows_of(v, {r, c}); };
  CHECK_THROWS_WITH(softmax(ex, m(2, 3), m(3, 2)), contains("softmax: y is (3, 2), expected (2, 3)"));
  CHECK_THROWS_WITH(softmax_grad(ex, m(2, 3), m(2, 3), m(3, 2)),
                    contains("softmax_grad: dx is (3, 2), expected (2, 3)"));
}

}  // namespace ops_softmax_tests
