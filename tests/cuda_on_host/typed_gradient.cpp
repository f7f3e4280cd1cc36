// Tests that the comparison with the reference (tests/device_gradient.hpp) finds a gradient that is wrong only on a
// device.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <type_traits>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/ragged.hpp"
#include "triad/core/backend.hpp"
#include "triad/layers/layer.hpp"

namespace cuda_on_host_typed_gradient_tests {

using namespace triad;

enum class mistake { none, value, parameter, input, one_element, behind };

// y = a x with a (d). On the reference, the layer is correct. On a device, it makes the given mistake.
struct scale_on_a_device {
  using input = tensor<double const, dyn, dyn>;  // (rows, d)
  using output = tensor<double, dyn, dyn>;       // (rows, d)
  index_t d;
  mistake wrong;

  template <class S>
  struct fields {
    vec<S> scale;  // (d)
    template <class F>
    constexpr void each(F&& f) {
      f("scale", scale);
    }
  };
  struct saved {};
  template <class S = double>
  fields<S> plan_params(arena& place) const {
    return {place.make<vec<S>>(d)};
  }
  saved plan_saved(arena&, row_dims, keep) const { return {}; }

  /// Returns the mistake that is made on Ex. A pass that only measures memory makes no mistake.
  template <class Ex>
  mistake on() const {
    return std::is_same_v<Ex, reference::backend> ? mistake::none : wrong;
  }
  template <backend Ex>
  void forward(Ex& ex, call const&, fields<double const> w, input x, saved const&, output y) const {
    on_host(ex, [&] {
      for (index_t r = 0; r < x.extent(0); ++r)
        for (index_t c = 0; c < d; ++c) y(r, c) = w.scale(c) * x(r, c) * (on<Ex>() == mistake::value ? 1 + 1e-6 : 1);
    });
  }
  template <backend Ex>
  void backward(Ex& ex, call const&, fields<double const> w, input x, saved const&, const_view<output> dy, output dx,
                fields<double> gradient) const {
    on_host(ex, [&] {
      auto const m = on<Ex>();
      for (index_t r = 0; r < x.extent(0); ++r)
        for (index_t c = 0; c < d; ++c) {
          gradient.scale(c) += x(r, c) * dy(r, c) * (m == mistake::parameter ? 1 + 1e-6 : 1);
          bool const off = m == mistake::input || (m == mistake::one_element && r == 2 && c == 1);
          dx(r, c) = w.scale(c) * dy(r, c) * (off ? 1 + 1e-6 : 1);
        }
      if (m == mistake::behind) gradient.scale.data_handle()[d] = 1;
    });
  }
};

TEMPLATE_TEST_CASE("a value or a gradient that is wrong on a device alone, by a millionth, is found", "",
                   TRIAD_TEST_ONE_BACKEND) {
  TestType ex;
  auto const values = test::random_values(4 * 3, 1);
  auto const report = [&](mistake wrong) {
    return gradient_check(ex, scale_on_a_device{3, wrong}, row_dims(4),
                          tensor<double const, dyn, dyn>(values.data(), 4, 3), {4, 3});
  };
  CHECK(static_cast<bool>(report(mistake::none)));
  CHECK(report(mistake::none).checks == 3 + 4 * 3 + 1);
  CHECK(report(mistake::value).path == "the value");
  CHECK(report(mistake::parameter).path == "scale");
  CHECK(report(mistake::input).path == "x");
  CHECK((report(mistake::one_element).path == "x" && report(mistake::one_element).element == 2 * 3 + 1));
  for (auto wrong : {mistake::value, mistake::parameter, mistake::input, mistake::one_element, mistake::behind})
    CHECK_FALSE(static_cast<bool>(report(wrong)));
  CHECK_THAT(report(mistake::behind).text(), test::contains("after the gradient of scale"));
}

}  // namespace cuda_on_host_typed_gradient_tests
