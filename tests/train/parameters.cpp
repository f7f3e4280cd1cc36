// Tests parameter_set. Values, gradients and moments have one buffer each. All buffers have the same layout, with zeros
// between tensors.
// SPDX-License-Identifier: Apache-2.0
#include "triad/train/parameters.hpp"

#include <string>
#include <type_traits>
#include <vector>

#include "tests/catch.hpp"
#include "tests/train/two_layers.hpp"
#include "triad/reference/reference.hpp"

namespace train_parameters_tests {

using namespace triad;
using model_type = test::two_layers<float>;
using set = parameter_set<model_type, reference::backend>;

TEST_CASE("values, gradients and moments have one layout and begin as zero") {
  set parameters(model_type(3, 5, 2));
  std::vector<std::string> paths;
  auto const* const begin = parameters.flat_values().data_handle();
  std::vector<index_t> places;
  walk(parameters.values(), [&](std::string const& path, auto view) {
    paths.push_back(path);
    places.push_back(view.data_handle() - begin);
    static_assert(std::is_const_v<typename decltype(view)::element_type>);
  });
  CHECK(paths == std::vector<std::string>{"norm.gain", "norm.bias", "first.weight", "first.bias", "second.weight",
                                          "second.bias"});
  auto const same_places = [&](auto fields, vec<float> flat) {
    std::size_t t = 0;
    walk(fields, [&](std::string const&, auto view) { CHECK(view.data_handle() - flat.data_handle() == places[t++]); });
    CHECK(flat.extent(0) == parameters.flat_values().extent(0));
    for (index_t i = 0; i < flat.extent(0); ++i) CHECK(flat(i) == 0.0f);
  };
  same_places(parameters.values(), parameters.flat_values());
  same_places(parameters.gradients(), parameters.flat_gradients());
  same_places(parameters.first_moments(), parameters.flat_first_moments());
  same_places(parameters.second_moments(), parameters.flat_second_moments());
  CHECK(count_values(parameters.values()) == 3 + 3 + 15 + 5 + 10 + 2);
}

TEST_CASE("zero_gradients clears every gradient and no value") {
  reference::backend ex;
  set parameters(model_type(3, 5, 2));
  fill(ex, 2.0f, parameters.flat_values());
  fill(ex, 3.0f, parameters.flat_gradients());
  parameters.zero_gradients(ex);
  CHECK(parameters.gradients().second.bias(1) == 0.0f);
  CHECK(parameters.values().second.bias(1) == 2.0f);
}

TEST_CASE("a set for inference holds values alone and says so") {
  set parameters(model_type(3, 5, 2), holding::values);
  CHECK(parameters.bytes() * 4 == set(model_type(3, 5, 2)).bytes());
  CHECK_FALSE(parameters.holds_moments());
  CHECK_THROWS_WITH(parameters.gradients(), test::contains("it holds less than this needs"));
  CHECK_THROWS_AS(parameters.flat_first_moments(), contract_violation);
}

// Three tensors of a model, and a fourth tensor that may be empty. each() may omit one of the tensors.
struct leaves_out {
  using output = tensor<float, dyn, dyn>;
  int which;
  index_t last = 0;

  template <class S>
  struct fields {
    vec<S> a, b, c, d;
    int which;
    template <class F>
    constexpr void each(F&& f) {
      if (which != 0) f("a", a);
      if (which != 1) f("b", b);
      if (which != 2) f("c", c);
      if (which != 3) f("d", d);
    }
  };
  template <class S = float>
  fields<S> plan_params(arena& place) const {
    auto const a = place.make<vec<S>>(1), b = place.make<vec<S>>(20), c = place.make<vec<S>>(3);
    return {a, b, c, place.make<vec<S>>(last), which};
  }
};

TEST_CASE("a tensor that each() leaves out is found, wherever it lies") {
  auto const make = [](int which, index_t last) {
    parameter_set<leaves_out, reference::backend>{leaves_out{which, last}};
  };
  CHECK_NOTHROW(make(-1, 0));
  CHECK_NOTHROW(make(-1, 2));
  CHECK_NOTHROW(make(3, 0));  // no tensor is left out
  CHECK_THROWS_WITH(
      make(0, 0), test::contains("does not list 128 bytes") && test::contains("before b") && !test::contains("after"));
  CHECK_THROWS_WITH(make(1, 0), test::contains("does not list 192 bytes") && test::contains("after a before c"));
  CHECK_THROWS_WITH(make(2, 0), test::contains("after b before d"));
  CHECK_THROWS_WITH(make(3, 2), test::contains("does not list 128 bytes") && test::contains("after c:"));
  CHECK_THROWS_AS(make(1, 0), contract_violation);
}

}  // namespace train_parameters_tests
