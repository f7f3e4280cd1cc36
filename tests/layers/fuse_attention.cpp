// Tests the fuse-attention layer. Compares its gradients with finite differences, also with dropout. Also tests that
// projections that are computed elsewhere give the same results.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/fuse_attention.hpp"

#include <cstdint>
#include <type_traits>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/ragged.hpp"
#include "triad/core/fields.hpp"
#include "triad/train/initialize.hpp"

namespace layers_fuse_attention_tests {

using namespace triad;

struct problem {
  index_t rows, layers;
  fuse_attention_layer<double> layer;
  std::vector<double> x, states, dy, y, dx, d_states, values, gradients;
  test::spoiled_memory memory;
  fuse_attention_layer<double>::saved saved;

  problem(index_t r, index_t l, index_t d, index_t heads, double rate)
      : rows(r),
        layers(l),
        layer{d, heads, rate},
        x(test::random_values<double>(r * d, 1)),
        states(test::random_values<double>(l * r * d, 2)),
        dy(test::random_values<double>(r * d, 3)),
        y(x.size()),
        dx(x.size()),
        d_states(states.size()),
        values(planned_bytes([&](arena& a) { (void)layer.plan_params(a); }) / sizeof(double)),
        gradients(values.size()),
        memory([&](arena& a) { return layer.plan_saved(a, {row_dims(r), l}); }),
        saved([&] {
          auto place = memory.place();
          return layer.plan_saved(place, {row_dims(r), l});
        }()) {
    initialize(fields<double>(values), 7);
  }

  template <class S>
  fuse_attention_layer<double>::fields<S> fields(std::vector<double>& from) {
    arena place(from.data(), from.size() * sizeof(double));
    return layer.plan_params<S>(place);
  }
  static tensor<double, dyn, dyn> table(std::vector<double>& v, index_t r) {
    return tensor<double, dyn, dyn>(v.data(), r, static_cast<index_t>(v.size()) / r);
  }
  fuse_input<double> in() {
    return {table(x, rows), layer_states<double const>(states.data(), layers, rows, layer.width()), layers};
  }

  template <class Ex>
  double value(Ex& ex) {
    test::with_scratch(ex, call{.train = true, .key = 3}, [&](auto& any, call const& c) {
      layer.forward(any, c, fields<double const>(values), in(), saved, table(y, rows));
    });
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * dy[i];
    return sum;
  }
  template <class Ex>
  void differentiate(Ex& ex) {
    test::with_scratch(ex, call{.train = true, .key = 3}, [&](auto& any, call const& c) {
      layer.backward(any, c, fields<double const>(values), in(), saved, table(dy, rows), table(dx, rows),
                     fields<double>(gradients), {}, layer_states<double>(d_states.data(), layers, rows, layer.width()));
    });
  }
};

TEMPLATE_TEST_CASE("gradients of the fuse-attention layer are those of finite differences, dropout included", "",
                   TRIAD_TEST_BACKENDS) {
  std::remove_cvref_t<TestType> ex;
  for (double rate : {0.0, 0.3}) {
    problem p(3, 4, 6, 2, rate);
    (void)p.value(ex);
    p.differentiate(ex);
    auto const check = [&](std::vector<double>& x, std::vector<double> const& dx) {
      test::check_differences(x, dx, [&] { return p.value(ex); });
    };
    check(p.x, p.dx);
    check(p.states, p.d_states);
    check(p.values, p.gradients);  // includes the keys' bias, whose gradient is zero
  }
}

TEMPLATE_TEST_CASE("fuse-attention layers of many shapes have the gradients of their values", "", TRIAD_TEST_BACKENDS) {
  std::remove_cvref_t<TestType> ex;
  random_stream random(19, 44);
  for (int drawn = 0; drawn < (test::is_device<std::remove_cvref_t<TestType>> ? 2 : 30); ++drawn) {
    auto const any = [&](std::uint32_t most) { return 1 + static_cast<index_t>(random.below(most)); };
    index_t const rows = any(4), layers = any(5), heads = any(3), d = heads * any(3);
    double const rate = random.below(2) == 0 ? 0.3 : 0.0;
    CAPTURE(drawn, rows, layers, heads, d, rate);
    problem p(rows, layers, d, heads, rate);
    (void)p.value(ex);
    p.differentiate(ex);
    auto const check = [&](std::vector<double>& x, std::vector<double> const& dx) {
      test::check_differences(x, dx, [&] { return p.value(ex); });
    };
    check(p.x, p.dx);
    check(p.states, p.d_states);
    check(p.values, p.gradients);
  }
}

TEMPLATE_TEST_CASE("over one state without dropout the query does not matter", "", TRIAD_TEST_BACKENDS) {
  std::remove_cvref_t<TestType> ex;
  problem p(2, 1, 8, 4, 0);
  (void)p.value(ex);
  auto const first = p.y;
  for (auto& v : p.x) v = -3 * v + 1;
  (void)p.value(ex);
  for (std::size_t i = 0; i < first.size(); ++i) CHECK_THAT(p.y[i], test::WithinAbs(first[i], 1e-13));
}

}  // namespace layers_fuse_attention_tests
