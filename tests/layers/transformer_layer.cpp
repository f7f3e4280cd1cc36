// The Transformer layer and its attention: gradients in every arrangement, and laws of who looks at whom.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/transformer_layer.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/ragged.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/layers/repeat.hpp"
#include "triad/layers/residual.hpp"
#include "triad/train/gradient_check.hpp"

namespace {

using namespace triad;

constexpr index_t width = 6, heads = 2, hidden = 10;

// Sequences of 4, 1 and 5 tokens; nobody looks at the last but one token where asked.
struct sentences {
  test::ragged graphs{{4, 1, 5}};
  index_t rows = graphs.dims.nodes;
  std::vector<double> x = test::random_values(rows * width, 1);
  std::vector<std::uint8_t> masked = std::vector<std::uint8_t>(static_cast<std::size_t>(rows));

  sentences() { masked[8] = 1; }
  template <index_t D = dyn>
  sequence_input<double, D> input(bool mask = false) const {
    sequence_input<double, D> in{tensor<double const, dyn, D>(x.data(), extents<dyn, D>(rows, width)),
                                 nodes_of(graphs.batch())};
    if (mask) in.masked = make_vec<std::uint8_t const>(masked.data(), rows);
    return in;
  }
};

TEMPLATE_TEST_CASE("a Transformer layer has the gradient of its value, its norms before or after", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  sentences const s;
  gradient_check_options const few{.directions = 2, .elements = test::is_device<TestType> ? 2 : 20};
  for (auto norms : {norm_place::after, norm_place::before})
    for (double rate : {0.0, 0.3})
      for (bool causal : {false, true}) {
        CAPTURE(norms == norm_place::before, rate, causal);
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
  gradient_check_options const few{.directions = 2, .elements = test::is_device<TestType> ? 2 : 20};
  for (index_t reach : test::is_device<TestType> ? std::vector<index_t>{3} : std::vector<index_t>{1, 3, 5})
    for (bool causal : {false, true}) {
      CAPTURE(reach, causal);
      transformer_layer_options o{
          width, heads, hidden, 0.3, causal ? norm_place::after : norm_place::before, activation::relu, causal};
      o.reach = reach;
      CHECK_GRADIENT(
          gradient_check(ex, transformer_layer<double>(o), row_dims(s.rows), s.input(causal), {s.rows, width}, few));
      CHECK_GRADIENT(gradient_check(ex, transformer_layer<double, width, heads, hidden>(o), row_dims(s.rows),
                                    s.input<width>(causal), {s.rows, width}, few));
    }
}

// Self-attention with relative positions by its definition, for the parameters of a layer.
std::vector<double> written_out(sentences const& s, self_attention<double> const& layer,
                                self_attention<double>::fields<double const> const& w) {
  index_t const k = width / heads;
  auto const affine = [](std::vector<double> const& x, index_t rows, tensor<double const, dyn, dyn> weight, auto bias) {
    std::vector<double> y(static_cast<std::size_t>(rows * width));
    for (index_t r = 0; r < rows; ++r)
      for (index_t f = 0; f < width; ++f) {
        double sum = bias(f);
        for (index_t e = 0; e < width; ++e) sum += x[static_cast<std::size_t>(r * width + e)] * weight(f, e);
        y[static_cast<std::size_t>(r * width + f)] = sum;
      }
    return y;
  };
  auto projections = w.projections;
  std::vector<std::vector<double>> qkv;
  tensor<double const, dyn, dyn> weight(nullptr, 0, 0);
  walk(projections, [&](std::string const&, auto view) {  // query, key and value: a weight, then its bias
    if constexpr (decltype(view)::rank() == 2)
      weight = tensor<double const, dyn, dyn>(view);
    else
      qkv.push_back(affine(s.x, s.rows, weight, view));
  });
  REQUIRE(qkv.size() == 3);
  std::vector<double> c(s.x.size());
  for (std::size_t g = 0; g < s.graphs.size.size(); ++g)
    for (index_t h = 0; h < heads; ++h)
      for (index_t i = 0; i < s.graphs.size[g]; ++i) {
        auto const at = [&](std::size_t which, index_t token, index_t f) {
          return qkv[which][static_cast<std::size_t>((s.graphs.node[g] + token) * width + h * k + f)];
        };
        double total = 0;
        for (int pass = 0; pass < 2; ++pass)
          for (index_t j = 0; j < (layer.causal ? i + 1 : s.graphs.size[g]); ++j) {
            index_t const r = std::clamp(j - i, -layer.reach, layer.reach) + layer.reach;
            double score = 0;
            for (index_t f = 0; f < k; ++f) score += at(0, i, f) * (at(1, j, f) + w.relative_key(r, f));
            double const e = std::exp(score / std::sqrt(static_cast<double>(k)));
            if (pass == 0) total += e;
            for (index_t f = 0; pass == 1 && f < k; ++f)
              c[static_cast<std::size_t>((s.graphs.node[g] + i) * width + h * k + f)] +=
                  e / total * (at(2, j, f) + w.relative_value(r, f));
          }
      }
  return affine(c, s.rows, w.output.weight, w.output.bias);
}

TEMPLATE_TEST_CASE("self-attention with relative positions is what Shaw et al. write", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  sentences const s;
  for (index_t reach : {1, 2, 7})
    for (bool causal : {false, true}) {
      CAPTURE(reach, causal);
      self_attention<double> const layer{extents<dyn, dyn>(width, heads), 0, causal, reach};
      test::spoiled_memory const memory([&](arena& a) {
        (void)layer.plan_params(a);
        (void)layer.plan_saved(a, row_dims(s.rows));
        return a.make<tensor<double, dyn, dyn>>(s.rows, width);
      });
      auto place = memory.place(), again = memory.place();
      auto const w = layer.plan_params(place);
      auto const values = plan<double const>(layer, again);
      random_stream random(4, 5);
      walk(w, [&](std::string const&, auto view) {
        for (std::size_t i = 0; i < view.size(); ++i) view.data_handle()[i] = random.uniform(-0.9, 0.9);
      });
      auto const saved = layer.plan_saved(place, row_dims(s.rows));
      auto const y = place.template make<tensor<double, dyn, dyn>>(s.rows, width);
      test::with_scratch(
          ex, {}, [&](auto& backend, call const& use) { layer.forward(backend, use, values, s.input(), saved, y); });
      auto const expected = written_out(s, layer, values);
      for (std::size_t i = 0; i < expected.size(); ++i)
        CHECK_THAT(y.data_handle()[i], test::WithinAbs(expected[i], 1e-13));
    }
}

TEMPLATE_TEST_CASE("repeated Transformer layers have the gradient of their value, tied or not, whatever they keep", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  sentences const s;
  using layer = transformer_layer<double>;
  for (auto norms : {norm_place::after, norm_place::before})
    for (bool tied : {false, true}) {
      CAPTURE(norms == norm_place::before, tied);
      repeat<double, layer> const three{layer({width, heads, hidden, 0.2, norms}), extents<dyn>(3), tied};
      gradient_check_options few{.directions = 2, .elements = test::is_device<TestType> ? 1 : 4};
      few.kept = tied ? keep::inputs : keep::everything;
      CHECK_GRADIENT(gradient_check(ex, three, row_dims(s.rows), s.input(), {s.rows, width}, few));
    }
}

TEMPLATE_TEST_CASE("self-attention takes the residual on its last product", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  sentences const s;
  using layer = self_attention<double>;
  CHECK_GRADIENT(gradient_check(ex, residual<layer>(layer{extents<dyn, dyn>(width, heads), 0.3}), row_dims(s.rows),
                                s.input(true), {s.rows, width}, {.elements = 10}));
}

// The result for parameters drawn at random.
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
    other.x[static_cast<std::size_t>(8 * width + f)] += 1;  // the last but one of the third sequence
  for (auto norms : {norm_place::after, norm_place::before})
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
  auto const bytes = [](norm_place norms) {
    return planned_bytes([&](arena& a) {
      (void)transformer_layer<float>({64, 4, 256, 0.1, norms}).plan_saved(a, row_dims(1000));
    });
  };
  // projections 3 d, context, t, u, v and hidden states of 4 d; lse a head and two statistics of two norms
  CHECK(bytes(norm_place::after) >= 1000 * (11 * 64 + 8) * sizeof(float));
  CHECK(bytes(norm_place::after) <= 1000 * (11 * 64 + 8) * sizeof(float) + 12 * (arena_slack + arena_alignment));
  CHECK(bytes(norm_place::before) == bytes(norm_place::after));
}

TEST_CASE("a Transformer layer whose width is no multiple of the heads is refused with a sentence") {
  CHECK_THROWS_WITH(transformer_layer<double>({6, 4, 10}), test::contains("multiple of the heads"));
  transformer_layer_options o{6, 2, 10};
  o.reach = -1;
  CHECK_THROWS_WITH(transformer_layer<double>(o), test::contains("reach of relative positions"));
}

}  // namespace
