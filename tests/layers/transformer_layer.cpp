// Tests the Transformer layer: gradients for every order of norms and sublayers, and which tokens attend to which
// tokens.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/transformer_layer.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/layers/outcome.hpp"
#include "tests/layers/sentences.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/layers/repeat.hpp"
#include "triad/train/gradient_check.hpp"

namespace layers_transformer_layer_tests {

using namespace triad;

constexpr index_t width = 6, heads = 2, hidden = 10;

struct sentences : test::sentences {
  sentences() : test::sentences(6) {}
};

TEMPLATE_TEST_CASE("a Transformer layer has the gradient of its value, its norms before or after", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  sentences const s;
  gradient_check_options const few{.directions = 1, .elements = 4};
  for (auto norms : {norm_position::after, norm_position::before})
    for (double rate : {0.0, 0.3})
      for (bool causal : {false, true}) {
        CAPTURE(norms == norm_position::before, rate, causal);
        transformer_layer_options const o{
            width, heads, hidden, rate, norms, causal ? activation::gelu : activation::relu, causal};
        CHECK_GRADIENT(
            gradient_check(ex, transformer_layer<double>(o), row_dims(s.rows), s.input(causal), {s.rows, width}, few));
        CHECK_GRADIENT(gradient_check(ex, transformer_layer<double, width, heads, hidden>(o), row_dims(s.rows),
                                      s.input<width>(causal), {s.rows, width}, few));
      }
}

TEMPLATE_TEST_CASE("a Transformer layer with relative positions has the gradient of its value, their tables' too", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  sentences const s;
  gradient_check_options const few{.directions = 2, .elements = 4};
  for (index_t reach : test::is_device<TestType> ? std::vector<index_t>{3} : std::vector<index_t>{1, 3, 5})
    for (bool causal : {false, true}) {
      CAPTURE(reach, causal);
      transformer_layer_options o{
          width, heads, hidden, 0.3, causal ? norm_position::after : norm_position::before, activation::relu, causal};
      o.reach = reach;
      CHECK_GRADIENT(
          gradient_check(ex, transformer_layer<double>(o), row_dims(s.rows), s.input(causal), {s.rows, width}, few));
      CHECK_GRADIENT(gradient_check(ex, transformer_layer<double, width, heads, hidden>(o), row_dims(s.rows),
                                    s.input<width>(causal), {s.rows, width}, few));
    }
}

TEMPLATE_TEST_CASE("attention weights and hidden units of a Transformer layer can have a dropout rate of their own", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  sentences const s;
  transformer_layer_options o{width, heads, hidden, 0.2, norm_position::before};
  CHECK(transformer_layer<double>(o).attention.branch.dropout == 0.2);
  for (double inner : {0.0, 0.4}) {
    CAPTURE(inner);
    o.inner_dropout = inner;
    transformer_layer<double> const layer(o);
    CHECK(layer.attention.dropout == 0.2);
    CHECK(layer.block.dropout == 0.2);
    CHECK(layer.attention.branch.dropout == inner);
    CHECK(layer.block.branch.dropout == inner);
    CHECK_GRADIENT(gradient_check(ex, layer, row_dims(s.rows), s.input(), {s.rows, width}));
  }
}

TEMPLATE_TEST_CASE("repeated Transformer layers have the gradient of their value, tied or not, whatever they keep", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  sentences const s;
  using layer = transformer_layer<double>;
  for (auto norms : {norm_position::after, norm_position::before})
    for (bool tied : {false, true}) {
      CAPTURE(norms == norm_position::before, tied);
      repeat<double, layer> const three{layer({width, heads, hidden, 0.2, norms}), extents<dyn>(3), tied};
      gradient_check_options few{.directions = 2, .elements = 4};
      few.kept = tied ? keep::inputs : keep::everything;
      CHECK_GRADIENT(gradient_check(ex, three, row_dims(s.rows), s.input(), {s.rows, width}, few));
    }
}

// Returns the results for random parameters.
template <class Ex>
std::vector<double> result(Ex& ex, sentences const& s, transformer_layer_options const& o, bool masked) {
  transformer_layer<double> const layer(o);
  test::spoiled_memory const memory([&](arena& a) {
    (void)layer.plan_params(a);
    (void)layer.plan_saved(a, row_dims(s.rows));
    return a.make<tensor<double, dyn, dyn>>(s.rows, width);
  });
  auto place = memory.place();
  auto const w = layer.plan_params(place);
  auto at = memory.place();
  auto const values = plan<double const>(layer, at);
  random_stream random(4, 5);
  walk(w, [&](std::string const&, auto view) {
    for (std::size_t i = 0; i < view.size(); ++i) view.data_handle()[i] = random.uniform(-0.7, 0.7);
  });
  auto const saved = layer.plan_saved(place, row_dims(s.rows));
  auto const y = place.template make<tensor<double, dyn, dyn>>(s.rows, width);
  test::with_scratch(
      ex, {}, [&](auto& backend, call const& use) { layer.forward(backend, use, values, s.input(masked), saved, y); });
  return {y.data_handle(), y.data_handle() + y.size()};
}

TEMPLATE_TEST_CASE("a causal layer's tokens do not know what comes after them, and no token what is masked", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  sentences one, other;
  for (index_t f = 0; f < width; ++f)
    // This is the last token but one of the third sequence.
    other.x[static_cast<std::size_t>(8 * width + f)] += 1 + static_cast<double>(f);
  for (auto norms : {norm_position::after, norm_position::before})
    for (bool causal : {false, true}) {
      bool const masked = !causal;
      transformer_layer_options const o{width, heads, hidden, 0, norms, activation::relu, causal};
      auto const a = result(ex, one, o, masked), b = result(ex, other, o, masked);
      for (index_t r = 0; r < one.rows; ++r) {
        CAPTURE(causal, r);
        auto const from = [&](std::vector<double> const& y) {
          return std::vector<double>(y.begin() + r * width, y.begin() + (r + 1) * width);
        };
        CHECK((from(a) == from(b)) == (r != 8 && !(causal && r == 9)));
      }
    }
}

TEST_CASE("Transformer layers of static and of dynamic shape compute the same bits") {
  sentences const s;
  for (auto norms : {norm_position::after, norm_position::before}) {
    transformer_layer_options const o{width, heads, hidden, 0.3, norms};
    test::expect_same(test::outcome_of(transformer_layer<double, width, heads, hidden>(o), row_dims(s.rows),
                                       s.input<width>(), {s.rows, width}),
                      test::outcome_of(transformer_layer<double>(o), row_dims(s.rows), s.input(), {s.rows, width}));
  }
}

TEST_CASE("a Transformer layer lists its parameters by name, and keeps as much with its norms before as after") {
  std::vector<std::string> paths;
  arena measure;
  walk(transformer_layer<double>({width, heads, hidden}).plan_params(measure),
       [&](std::string const& path, auto) { paths.push_back(path); });
  CHECK(paths == std::vector<std::string>{"attention.query.weight", "attention.query.bias", "attention.key.weight",
                                          "attention.key.bias", "attention.value.weight", "attention.value.bias",
                                          "attention.output.weight", "attention.output.bias", "norm1.gain",
                                          "norm1.bias", "feed_forward.inner.weight", "feed_forward.inner.bias",
                                          "feed_forward.outer.weight", "feed_forward.outer.bias", "norm2.gain",
                                          "norm2.bias"});
  paths.clear();
  transformer_layer_options relative{width, heads, hidden};
  relative.reach = 4;
  walk(transformer_layer<double>(relative).plan_params(measure),
       [&](std::string const& path, auto) { paths.push_back(path); });
  CHECK(std::count(paths.begin(), paths.end(), "attention.relative_key") == 1);
  CHECK(std::count(paths.begin(), paths.end(), "attention.relative_value") == 1);
  CHECK(paths.size() == 18);
  auto const bytes = [](norm_position norms) {
    return planned_bytes(
        [&](arena& a) { (void)transformer_layer<float>({64, 4, 256, 0.1, norms}).plan_saved(a, row_dims(1000)); });
  };
  // For each row, the layer saves projections of 3 d numbers; context, t, u and v of d numbers each; hidden states of 4
  // d numbers; lse for each head; and two statistics for each of two norms.
  CHECK(bytes(norm_position::after) >= 1000 * (11 * 64 + 8) * sizeof(float));
  CHECK(bytes(norm_position::after) <= 1000 * (11 * 64 + 8) * sizeof(float) + 12 * (arena_slack + arena_alignment));
  CHECK(bytes(norm_position::before) == bytes(norm_position::after));
}

TEST_CASE("a Transformer layer whose heads do not divide its width is refused with a sentence") {
  CHECK_THROWS_WITH(transformer_layer<double>({6, 4, 10}), test::contains("heads that divide the width"));
  transformer_layer_options o{6, 2, 10};
  o.reach = -1;
  CHECK_THROWS_WITH(transformer_layer<double>(o), test::contains("reach of relative positions"));
}

}  // namespace layers_transformer_layer_tests
