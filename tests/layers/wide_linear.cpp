// Tests the affine map of wide rows. Its values and gradients, which are computed in chunks, equal those of the plain
// map. Unused columns are not read.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/wide_linear.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/ragged.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/train/gradient_check.hpp"

namespace layers_wide_linear_tests {

using namespace triad;

constexpr index_t chunk = wide_chunk, out = 3;

/// wide_linear as a layer. It reads the first `used` columns of its rows.
template <index_t Out>
struct used_once {
  using input = tensor<double const, dyn, dyn>;
  using output = tensor<double, dyn, Out>;
  wide_linear<double, Out> map;
  index_t used;

  template <class S>
  using fields = fields_of<wide_linear<double, Out>, S>;
  struct saved {};
  template <class S = double>
  fields<S> plan_params(arena& place) const {
    return plan<S>(map, place);
  }
  saved plan_saved(arena&, row_dims, keep) const { return {}; }

  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<double const> w, input x, saved const&, output y) const {
    auto const frame = c.scratch->open();
    map.forward(ex, c, w, map.lay_out(ex, *c.scratch, w, used), x, used, y);
  }
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<double const> w, input x, saved const&, const_view<output> dy,
                tensor<double, dyn, dyn> dx, fields<double> gradient) const {
    fill(ex, 0.0, dx);
    auto const frame = c.scratch->open();
    map.backward_input(ex, map.lay_out(ex, *c.scratch, w, used), dy, used, dx);
    map.backward_params(ex, c, x, dy, gradient);
  }
};

TEMPLATE_TEST_CASE("an affine map of wide rows has the gradient of its value, all columns used or some", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  index_t const rows = 2;
  for (index_t in : {index_t{5}, 2 * chunk + 5})
    for (index_t used : {in, index_t{3}, in / 2}) {
      if (used == 0) continue;
      CAPTURE(in, used);
      auto x = test::random_values(rows * in, 1, 0.1);
      for (index_t i = 0; i < rows * in; ++i)
        if (i % in >= used) x[static_cast<std::size_t>(i)] = 0;
      tensor<double const, dyn, dyn> const view(x.data(), rows, in);
      auto const check = [&](auto const& layer) {
        auto const report =
            gradient_check(ex, layer, row_dims(rows), view, {rows, out}, {.directions = 1, .elements = 4});
        CHECK_GRADIENT(report);
      };
      check(used_once<dyn>{{in, extents<dyn>(out)}, used});
      check(used_once<out>{{in, extents<out>()}, used});
    }
}

/// Computes y for random values. In x and in the weight, the unused columns have the value `behind`.
template <class T, class Ex>
std::vector<T> result(Ex& ex, index_t rows, index_t in, index_t used, T behind) {
  constexpr index_t slack = 16;  // a kernel may read a whole vector at the end of a row
  auto x = test::random_values<T>(rows * in + slack, 1), weight = test::random_values<T>(out * in + slack, 2),
       bias = test::random_values<T>(out, 3);
  for (auto* v : {&x, &weight})
    for (std::size_t i = 0; i < v->size(); ++i)
      if (static_cast<index_t>(i) % in >= used) (*v)[i] = behind;
  wide_linear<T> const map{in, extents<dyn>(out)};
  std::vector<T> y(static_cast<std::size_t>(rows * out), std::numeric_limits<T>::quiet_NaN());
  fields_of<wide_linear<T>, T const> const w{tensor<T const, dyn, dyn>(weight.data(), out, in),
                                             tensor<T const, dyn>(bias.data(), out)};
  test::with_scratch(ex, {}, [&](auto& backend, call const& c) {
    auto const frame = c.scratch->open();
    map.forward(backend, c, w, map.lay_out(backend, *c.scratch, w, used), tensor<T const, dyn, dyn>(x.data(), rows, in),
                used, tensor<T, dyn, dyn>(y.data(), rows, out));
  });
  return y;
}

TEMPLATE_TEST_CASE("wide rows in chunks are the sum by definition, and columns after those in use are not read", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  double const nothing = std::numeric_limits<double>::quiet_NaN();
  for (index_t rows : {1, 3})
    for (index_t used : {index_t{1}, chunk - 1, chunk, chunk + 1, 2 * chunk, 3 * chunk - 1}) {
      CAPTURE(rows, used);
      index_t const in = used + 7;
      auto const x = test::random_values(rows * in, 1), weight = test::random_values(out * in, 2),
                 bias = test::random_values(out, 3);
      auto const y = result<double>(ex, rows, in, used, nothing);
      for (index_t r = 0; r < rows; ++r)
        for (index_t o = 0; o < out; ++o) {
          double sum = bias[static_cast<std::size_t>(o)];
          for (index_t i = 0; i < used; ++i)
            sum += x[static_cast<std::size_t>(r * in + i)] * weight[static_cast<std::size_t>(o * in + i)];
          CHECK_THAT(y[static_cast<std::size_t>(r * out + o)], test::WithinAbs(sum, 1e-9));
        }
    }
}

TEST_CASE("wide rows give the same bits whatever the threads") {
  cpu::backend one(1), two(2), three(3);
  for (index_t used : {chunk - 1, 3 * chunk, 3 * chunk + 5}) {
    auto const y = result<float>(one, 4, used, used, 0);
    CHECK(y == result<float>(two, 4, used, used, 0));
    CHECK(y == result<float>(three, 4, used, used, 0));
  }
}

TEST_CASE("columns that wide rows do not have are refused with a sentence") {
  reference::backend ex;
  CHECK_NOTHROW(result<double>(ex, 1, 4, 4, 0));
  CHECK_THROWS_WITH(result<double>(ex, 1, 4, 5, 0), test::contains("lay_out_wide: used is 5, expected 1 to 4"));
  CHECK_THROWS_WITH(result<double>(ex, 1, 4, 0, 0), test::contains("lay_out_wide: used is 0, expected 1 to 4"));
}

}  // namespace layers_wide_linear_tests
