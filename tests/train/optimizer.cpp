// Compares Adam and AdamW with steps that were computed by hand. In one case, every parameter has a gradient. In
// another case, some parameters have no gradient.
// SPDX-License-Identifier: Apache-2.0
#include "triad/train/optimizer.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/train/two_layers.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/reference/reference.hpp"

namespace train_optimizer_tests {

using namespace triad;
using triad::test::WithinAbs;
using triad::test::WithinRel;

template <class T, class Ex>
using set = parameter_set<test::two_layers<T>, Ex>;

TEMPLATE_TEST_CASE("Adam makes the steps that were worked by hand", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  set<double, TestType> parameters(test::two_layers<double>(2, 2, 1));
  adam_optimizer<test::two_layers<double>, TestType> const adam(parameters);
  training_clock<TestType> clock;
  auto& p = parameters.mutable_values().second.bias(0);
  auto& g = parameters.gradients().second.bias(0);
  p = 1;
  // Update 0: m = 0.05, v = 0.00025, corrected to 0.5 and 0.25, so the step equals the rate.
  g = 0.5;
  clock.set_part(0, 3, 0.25);
  CHECK((*clock.step() == std::uint64_t{3} << 32 && *clock.fraction() == 0.25));
  clock.set(0, 0.1);
  CHECK((*clock.step() == 0 && *clock.fraction() == 1));
  adam.update(ex, parameters, clock);
  CHECK_THAT(p, WithinRel(1 - 0.1 * 0.5 / (0.5 + 1e-8), 1e-12));
  // Update 1: m = 0.9 * 0.05 - 0.1 * 1 = -0.055, v = 0.999 * 0.00025 + 0.001 = 0.00124975.
  double const before = p;
  g = -1;
  clock.set(1, 0.01);
  adam.update(ex, parameters, clock);
  CHECK_THAT(parameters.first_moments().second.bias(0), WithinRel(-0.055, 1e-12));
  CHECK_THAT(parameters.second_moments().second.bias(0), WithinRel(0.00124975, 1e-12));
  CHECK_THAT(p, WithinRel(before + 0.01 * (0.055 / 0.19) / (std::sqrt(0.00124975 / 0.001999) + 1e-8), 1e-10));
}

TEMPLATE_TEST_CASE("AdamW shrinks the parameter, Adam's weight decay joins the gradient", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  training_clock<TestType> clock;
  clock.set(0, 0.01);
  for (bool decoupled : {false, true}) {
    set<double, TestType> parameters(test::two_layers<double>(2, 2, 1));
    adam_options settings;
    settings.weight_decay = 0.1;
    settings.decoupled = decoupled;
    parameters.mutable_values().second.bias(0) = 2;
    adam_optimizer<test::two_layers<double>, TestType>(parameters, settings).update(ex, parameters, clock);
    // This parameter has no gradient. AdamW multiplies it by 1 - 0.001. Adam treats the decay as a gradient of 0.2, and
    // so makes a step of the rate.
    CHECK_THAT(parameters.values().second.bias(0), WithinRel(decoupled ? 2 * 0.999 : 2 - 0.01, 1e-6));
    CHECK((parameters.first_moments().second.bias(0) != 0) == !decoupled);
  }
}

TEMPLATE_TEST_CASE("what lies between tensors stays zero", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  set<float, TestType> parameters(test::two_layers<float>(3, 5, 2));
  std::vector<bool> named(static_cast<std::size_t>(parameters.flat_values().extent(0)), false);
  auto const first = parameters.flat_values().data_handle();
  walk(parameters.gradients(), [&](std::string const&, auto view) {
    for (index_t i = 0; i < static_cast<index_t>(view.size()); ++i) view.data_handle()[i] = 1;
  });
  walk(parameters.values(), [&](std::string const&, auto view) {
    for (index_t i = 0; i < static_cast<index_t>(view.size()); ++i)
      named[static_cast<std::size_t>(view.data_handle() - first + i)] = true;
  });
  adam_options settings{0.9, 0.999, 1e-8, 0.1, true};
  adam_optimizer<test::two_layers<float>, TestType> const adam(parameters, settings);
  CHECK(adam.stretches() == 1);
  training_clock<TestType> clock;
  for (std::uint64_t k = 0; k < 3; ++k) {
    clock.set(k, 0.1);
    adam.update(ex, parameters, clock);
  }
  for (std::size_t i = 0; i < named.size(); ++i) {
    auto const at = static_cast<index_t>(i);
    CHECK((parameters.flat_values()(at) != 0.0f) == named[i]);
    CHECK((parameters.flat_first_moments()(at) != 0.0f) == named[i]);
  }
}

TEMPLATE_TEST_CASE("a parameter without a gradient is skipped entirely, weight decay included", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  adam_options settings{0.9, 0.999, 1e-8, 0.1, true};
  training_clock<TestType> clock;
  clock.set(0, 0.1);
  for (std::string const skipped : {"norm", "first", "second", "first.bias", "norm.gain", "second.bias"}) {
    CAPTURE(skipped);
    set<double, TestType> parameters(test::two_layers<double>(3, 5, 2));
    fill(ex, 1.0, parameters.flat_values());
    fill(ex, 1.0, parameters.flat_gradients());
    adam_optimizer<test::two_layers<double>, TestType> const adam(
        parameters, settings, [&](std::string const& path) { return path.starts_with(skipped); });
    CHECK(adam.stretches() ==
          (skipped == "norm" || skipped == "second" || skipped == "norm.gain" || skipped == "second.bias" ? 1 : 2));
    adam.update(ex, parameters, clock);
    walk(parameters.values(), [&](std::string const& path, auto view) {
      CAPTURE(path);
      for (index_t i = 0; i < static_cast<index_t>(view.size()); ++i)
        CHECK((view.data_handle()[i] == 1.0) == path.starts_with(skipped));
    });
  }
}

// Parameters whose first tensor is empty.
struct begins_empty {
  using output = tensor<double, dyn, dyn>;
  template <class S>
  struct fields {
    vec<S> none, a, b;
    template <class F>
    void each(F&& f) {
      f("none", none), f("a", a), f("b", b);
    }
  };
  template <class S = double>
  fields<S> plan_params(arena& place) const {
    return {place.make<vec<S>>(0), place.make<vec<S>>(4), place.make<vec<S>>(4)};
  }
};

TEMPLATE_TEST_CASE("all tensors behind an empty one are updated", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  for (std::string const without : {"", "a", "b"}) {
    parameter_set<begins_empty, TestType> parameters{begins_empty()};
    adam_optimizer<begins_empty, TestType> const adam(parameters, {},
                                                      [&](std::string const& path) { return path == without; });
    training_clock<TestType> clock;
    clock.set(0, 0.1);
    for (index_t i = 0; i < 4; ++i) parameters.gradients().a(i) = parameters.gradients().b(i) = 1;
    adam.update(ex, parameters, clock);
    auto const trained = adam.trained(parameters.flat_gradients());
    CHECK(trained.data_handle() ==
          (without == "a" ? parameters.gradients().b : parameters.gradients().a).data_handle());
    CHECK(trained.data_handle() + trained.extent(0) ==
          (without == "b" ? parameters.gradients().a : parameters.gradients().b).data_handle() + 4);
    for (index_t i = 0; i < 4; ++i) {
      CHECK_THAT(parameters.values().a(i), WithinAbs(without == "a" ? 0 : -0.1, 1e-6));
      CHECK_THAT(parameters.values().b(i), WithinAbs(without == "b" ? 0 : -0.1, 1e-6));
    }
  }
}

TEST_CASE("everything skipped is no update, and an epsilon of zero is refused") {
  reference::backend ex;
  set<double, reference::backend> parameters(test::two_layers<double>(2, 2, 1));
  fill(ex, 1.0, parameters.flat_values());
  adam_optimizer<test::two_layers<double>, reference::backend> const none(parameters, {},
                                                                          [](std::string const&) { return true; });
  CHECK(none.stretches() == 0);
  CHECK(none.trained(parameters.flat_gradients()).extent(0) == 0);
  fill(ex, 1.0, parameters.flat_gradients());
  training_clock<reference::backend> clock;
  clock.set(0, 0.1);
  none.update(ex, parameters, clock);
  for (index_t i = 0; i < parameters.flat_values().extent(0); ++i) CHECK(parameters.flat_values()(i) == 1);
  adam_options settings;
  settings.epsilon = 0;
  CHECK_THROWS_AS((adam_optimizer<test::two_layers<double>, reference::backend>(parameters, settings)),
                  contract_violation);
}

TEST_CASE("an epsilon or a weight decay that would spoil every parameter is refused with its number") {
  set<double, reference::backend> parameters(test::two_layers<double>(2, 2, 1));
  using adam = adam_optimizer<test::two_layers<double>, reference::backend>;
  double const none = std::numeric_limits<double>::quiet_NaN(), endless = std::numeric_limits<double>::infinity();
  for (double const wrong : {-1.0, none, endless})
    CHECK_THROWS_WITH(adam(parameters, {.weight_decay = wrong}),
                      test::contains("weight_decay is " + std::to_string(wrong)));
  for (double const wrong : {0.0, -1.0, none, endless})
    CHECK_THROWS_WITH(adam(parameters, {.epsilon = wrong}), test::contains("epsilon is " + std::to_string(wrong)));
}

TEST_CASE("what a moment keeps is at least 0 and below 1") {
  set<double, reference::backend> parameters(test::two_layers<double>(2, 2, 1));
  using adam = adam_optimizer<test::two_layers<double>, reference::backend>;
  CHECK_NOTHROW(adam(parameters, {.beta1 = 0, .beta2 = 0}));
  for (double const wrong : {-0.1, 1.0, 1.5}) {
    CHECK_THROWS_WITH(adam(parameters, {.beta1 = wrong}), test::contains("adam_optimizer: beta1 is "));
    CHECK_THROWS_WITH(adam(parameters, {.beta2 = wrong}), test::contains("at least 0 and below 1"));
  }
}

}  // namespace train_optimizer_tests
