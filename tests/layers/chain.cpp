// Tests chained layers and residual layers: values and gradients equal those of two layers that are called one after
// the other.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/chain.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/ragged.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/layers/dropout.hpp"
#include "triad/layers/embedding.hpp"
#include "triad/layers/feed_forward.hpp"
#include "triad/layers/layer_norm.hpp"
#include "triad/layers/repeat.hpp"
#include "triad/layers/residual.hpp"
#include "triad/layers/triangular_attention.hpp"
#include "triad/train/gradient_check.hpp"
#include "triad/train/initialize.hpp"

namespace layers_chain_tests {

using namespace triad;
using test::contains;
using test::random_values;

constexpr index_t rows = 5, d = 3;

// A pre-norm block, as in a Transformer.
template <class T, class Layer, index_t D>
auto before_norm(Layer const& layer, index_t width) {
  return residual(chain(layer_norm_layer<T, D>{extents<D>(width)}, layer));
}

TEST_CASE("a chain is its layers one after the other, a residual adds its input") {
  reference::backend ex;
  auto const layer = before_norm<double, feed_forward<double>, dyn>(feed_forward<double>(d, 7, d, 0.3), d);
  using block = std::remove_const_t<decltype(layer)>;
  parameter_set<block, reference::backend> parameters(layer, holding::values);
  initialize(parameters, 1);
  auto const w = parameters.values();
  auto const x = random_values(rows * d, 1);
  std::vector<double> y(x.size()), expected(x.size());
  tensor<double const, dyn, dyn> const in(x.data(), rows, d);
  tensor<double, dyn, dyn> const out(y.data(), rows, d), by_hand(expected.data(), rows, d);

  test::spoiled_memory const memory([&](arena& a) { return layer.plan_saved(a, row_dims(rows)); });
  auto place = memory.place();
  auto const saved = layer.plan_saved(place, row_dims(rows));
  std::uint64_t const step = 1;
  call c;
  c.train = true;
  c.key = 4;
  c.step = &step;
  layer.forward(ex, c, w, in, saved, out);

  auto const& [norm, ff] = layer.layer;
  std::vector<double> between(x.size());
  tensor<double, dyn, dyn> const u(between.data(), rows, d);
  norm.forward(ex, c.child(0), w.first, in, saved.first, u);
  ff.forward(ex, c.child(1), w.second, u, saved.second, by_hand);
  transform(ex, plus(), by_hand, in, by_hand);
  CHECK(y == expected);

  std::vector<std::string> paths;
  walk(w, [&](std::string const& path, auto) { paths.push_back(path); });
  CHECK(paths == std::vector<std::string>{"first.gain", "first.bias", "second.inner.weight", "second.inner.bias",
                                          "second.outer.weight", "second.outer.bias"});
}

TEMPLATE_TEST_CASE("chains and residuals of row layers have the gradient of their value", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  auto const x = random_values(rows * d, 1);
  tensor<double const, dyn, dyn> const in(x.data(), rows, d);
  for (double rate : {0.0, 0.3}) {
    // Tests both ways to add the input. Around a chain or a norm, the residual layer adds it. Around a feed-forward
    // block or an affine map, the epilogue of a matrix product adds it.
    auto const mixed =
        chain(residual(feed_forward<double>(d, 7, d, rate)),
              chain(before_norm<double, feed_forward<double>, dyn>(feed_forward<double>(d, 4, d, rate), d),
                    linear<double>{extents<dyn, dyn>(d, 2)}));
    CHECK(mixed.in() == d);
    CHECK(mixed.out() == 2);
    CHECK_GRADIENT(gradient_check(ex, mixed, row_dims(rows), in, {rows, 2}));
  }
  repeat<double, linear<double>> const twice{linear<double>{extents<dyn, dyn>(d, d)}, extents<dyn>(2), false};
  graph_dims all;
  all.rows = rows;
  CHECK_GRADIENT(gradient_check(ex, residual(twice), all, in, {rows, d}));
  using fixed = chain<linear<double, d, 4>, residual<layer_norm_layer<double, 4>>>;
  CHECK_GRADIENT(gradient_check(ex, fixed({}, residual(layer_norm_layer<double, 4>{})), row_dims(rows),
                                tensor<double const, dyn, d>(x.data(), rows), {rows, 4}));
}

TEMPLATE_TEST_CASE("dropout works in a chain and in a residual as any layer does", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  auto const x = random_values(rows * d, 1);
  tensor<double const, dyn, dyn> const in(x.data(), rows, d);
  linear<double> const affine{extents<dyn, dyn>(d, d)};
  for (double rate : {0.0, 0.4}) {
    dropout_layer<double> const drop{extents<dyn>(d), rate};
    CHECK_GRADIENT(gradient_check(ex, chain(drop, affine), row_dims(rows), in, {rows, d}));
    CHECK_GRADIENT(gradient_check(ex, chain(residual(drop), chain(affine, drop)), row_dims(rows), in, {rows, d}));
    using fixed = chain<linear<double, d, d>, residual<dropout_layer<double, d>>>;
    CHECK_GRADIENT(gradient_check(ex, fixed({}, residual(dropout_layer<double, d>{{}, rate})), row_dims(rows),
                                  tensor<double const, dyn, d>(x.data(), rows), {rows, d}));
  }
}

TEMPLATE_TEST_CASE("a chain may begin with indices, which have no gradient", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  std::vector<index_t> const label{4, 0, 2, 4, 4};
  chain const layer(embedding<double>{extents<dyn, dyn>(5, d)}, linear<double>{extents<dyn, dyn>(d, 2)});
  CHECK_GRADIENT(gradient_check(ex, layer, row_dims(rows), make_vec(label.data(), rows), {rows, 2}));
}

TEMPLATE_TEST_CASE("chains carry graphs to the layers that need them, and repeat as any layer does", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  test::ragged const shape({3, 1, 2});
  auto const x = random_values(shape.dims.rows * 4, 1);
  edge_input<double, 4> const in{tensor<double const, dyn, 4>(x.data(), shape.dims.rows), shape.batch()};
  using attention = triangular_attention<double, 4, 2>;
  output_shape const out{shape.dims.rows, 4};
  // Tests three chains: a layer on rows and a layer on graphs, a layer on graphs and a layer on rows, and two layers on
  // graphs.
  auto const block = before_norm<double, attention, 4>(attention{{}, triangle_form::full, false, 0.3}, 4);
  CHECK_GRADIENT(gradient_check(ex, block, shape.dims, in, out));
  CHECK_GRADIENT(gradient_check(ex, chain(attention{}, residual(linear<double, 4, 4>{})), shape.dims, in, out));
  using layer = std::remove_const_t<decltype(block)>;
  for (auto kept : {keep::everything, keep::inputs}) {
    gradient_check_options options;
    options.kept = kept;
    CHECK_GRADIENT(
        gradient_check(ex, repeat<double, layer>{block, extents<dyn>(3), false}, shape.dims, in, out, options));
  }
}

TEST_CASE("layers whose widths do not meet are refused with a sentence when they are put together") {
  linear<double> const narrow{extents<dyn, dyn>(3, 4)}, wide{extents<dyn, dyn>(5, 3)};
  CHECK_THROWS_WITH(chain(narrow, wide), contains("chain: 5 columns into the second layer, expected 4"));
  CHECK_NOTHROW(chain(wide, narrow));
  CHECK_NOTHROW(residual(chain(chain(wide, narrow), linear<double>{extents<dyn, dyn>(4, 5)})));
}

}  // namespace layers_chain_tests
