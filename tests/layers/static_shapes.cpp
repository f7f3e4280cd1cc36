// A shape known at compile time and one read at run time give the same bits, and so does memory kept or computed again.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/ragged.hpp"
#include "triad/layers/edge_transformer_layer.hpp"
#include "triad/layers/embedding.hpp"
#include "triad/layers/repeat.hpp"
#include "triad/layers/stacked_linear.hpp"
#include "triad/layers/transformer_layer.hpp"
#include "triad/reference/reference.hpp"
#include "triad/train/gradient_check.hpp"

namespace {

using namespace triad;

constexpr index_t d = 6, heads = 2, hidden = 10;

// The value along one direction of the output, and every gradient: all that a layer computes.
struct outcome {
  double value = 0;
  variables gradient;
};

template <class Layer, class Dims>
outcome outcome_of(Layer const& layer, Dims const& dims, typename Layer::input const& in, output_shape shape,
                   keep kept = keep::everything) {
  reference::backend ex;
  gradient_check_options options;
  options.kept = kept;
  detail::layer_under_check<reference::backend, Layer, Dims> bench(ex, layer, dims, in, shape, options);
  outcome result{0, bench.start()};
  bench.gradient(bench.start(), result.gradient);
  result.value = bench.value(bench.start());
  return result;
}

void expect_same(outcome const& a, outcome const& b) {
  CHECK(a.value == b.value);
  REQUIRE(a.gradient.size() == b.gradient.size());
  for (std::size_t t = 0; t < a.gradient.size(); ++t) {
    CAPTURE(a.gradient[t].path);
    CHECK(a.gradient[t].path == b.gradient[t].path);
    CHECK(a.gradient[t].values == b.gradient[t].values);
  }
}

struct names {
  static constexpr std::array<char const*, 3> list{"first", "second", "third"};
};

TEST_CASE("row layers of static and of dynamic shape compute the same bits") {
  index_t const rows = 7;
  row_dims const dims(rows);
  auto const x = test::random_values(rows * d, 1);
  tensor<double const, dyn, d> const fixed(x.data(), rows);
  tensor<double const, dyn, dyn> const free(x.data(), rows, d);
  for (bool bias : {true, false})
    expect_same(outcome_of(linear<double, d, 4>{{}, bias}, dims, fixed, {rows, 4}),
                outcome_of(linear<double>{extents<dyn, dyn>(d, 4), bias}, dims, free, {rows, 4}));
  expect_same(outcome_of(layer_norm_layer<double, d>{}, dims, fixed, {rows, d}),
              outcome_of(layer_norm_layer<double>{extents<dyn>(d)}, dims, free, {rows, d}));
  expect_same(outcome_of(feed_forward<double, d, hidden, 3>(d, hidden, 3, 0.3), dims, fixed, {rows, 3}),
              outcome_of(feed_forward<double>(d, hidden, 3, 0.3), dims, free, {rows, 3}));
  expect_same(
      outcome_of(feed_forward<double, d, hidden, 3>(d, hidden, 3, 0.3, activation::gelu), dims, fixed, {rows, 3}),
      outcome_of(feed_forward<double>(d, hidden, 3, 0.3, activation::gelu), dims, free, {rows, 3}));
  expect_same(outcome_of(stacked_linear<double, names, d>{}, dims, fixed, {rows, 3 * d}),
              outcome_of(stacked_linear<double, names>{extents<dyn>(d)}, dims, free, {rows, 3 * d}));
  std::vector<index_t> const label{4, 0, 2, 4, 4, 1, 0};
  auto const index = make_vec(label.data(), rows);
  expect_same(outcome_of(embedding<double, 5, d>{}, dims, index, {rows, d}),
              outcome_of(embedding<double>{extents<dyn, dyn>(5, d)}, dims, index, {rows, d}));
}

// Graphs of 3, 1 and 4 nodes, some triangles masked, three edges read where asked.
struct graphs {
  test::ragged shape{{3, 1, 4}};
  std::vector<double> x = test::random_values(shape.dims.rows * d, 2);
  std::vector<std::uint8_t> masked;
  std::vector<index_t> read{1, 9, 20};

  graphs() {
    random_stream random(3, 9);
    for (index_t t = 0; t < shape.dims.triangles; ++t) masked.push_back(random.uniform() < 0.3);
  }
  template <index_t D>
  edge_input<double, D> input(bool pruned = false) const {
    edge_input<double, D> in{tensor<double const, dyn, D>(x.data(), extents<dyn, D>(shape.dims.rows, d)),
                             shape.batch(),
                             {make_vec(masked.data(), shape.dims.triangles)}};
    if (pruned) in.read = make_vec(read.data(), 3);
    return in;
  }
};

TEST_CASE("triangular attention of static and of dynamic shape computes the same bits") {
  graphs const g;
  for (auto variant : {triangle_form::full, triangle_form::both_ablations, triangle_form::flat}) {
    triangular_attention<double, d, heads> const fixed{{}, variant, true, 0.3};
    triangular_attention<double> const free{extents<dyn, dyn>(d, heads), variant, true, 0.3};
    expect_same(outcome_of(fixed, g.shape.dims, g.input<d>(), {g.shape.dims.rows, d}),
                outcome_of(free, g.shape.dims, g.input<dyn>(), {g.shape.dims.rows, d}));
  }
}

template <form Form>
void compare_edge_transformer_layers() {
  graphs const g;
  for (bool pruned : {false, true}) {
    edge_transformer_layer_options const o{d, heads, hidden, 0.3, triangle_form::full, pruned};
    edge_transformer_layer<double, d, heads, hidden, Form> const fixed(o);
    edge_transformer_layer<double, dyn, dyn, dyn, Form> const free(o);
    auto const run = [&](auto const& layer, auto const& in) {
      auto const saved = [&](arena& place) {
        return layer.plan_saved(place, g.shape.dims, keep::everything, pruned ? 3 : 0);
      };
      return outcome_of(layer, saved, in, {pruned ? 3 : g.shape.dims.rows, d});
    };
    CAPTURE(pruned, Form == form::paper);
    expect_same(run(fixed, g.input<d>(pruned)), run(free, g.input<dyn>(pruned)));
  }
}
TEST_CASE("the Edge Transformer layer of static and of dynamic shape computes the same bits") {
  compare_edge_transformer_layers<form::released>();
  compare_edge_transformer_layers<form::paper>();
}

TEST_CASE("Transformer layers of static and of dynamic shape compute the same bits, one alone and repeated") {
  graphs const g;
  index_t const rows = g.shape.dims.nodes;
  row_dims const dims(rows);
  sequence_input<double, d> const fixed{tensor<double const, dyn, d>(g.x.data(), rows), nodes_of(g.shape.batch())};
  sequence_input<double, dyn> const free{tensor<double const, dyn, dyn>(g.x.data(), rows, d),
                                         nodes_of(g.shape.batch())};
  using fixed_layer = transformer_layer<double, d, heads, hidden>;
  using free_layer = transformer_layer<double>;
  for (auto norms : {norm_place::after, norm_place::before}) {
    transformer_layer_options const o{d, heads, hidden, 0.3, norms};
    expect_same(outcome_of(fixed_layer(o), dims, fixed, {rows, d}), outcome_of(free_layer(o), dims, free, {rows, d}));
    for (bool tied : {true, false}) {
      CAPTURE(tied);
      repeat<double, fixed_layer, 3> const three{fixed_layer(o), {}, tied};
      auto const all = outcome_of(three, dims, fixed, {rows, d});
      expect_same(all,
                  outcome_of(repeat<double, free_layer>{free_layer(o), extents<dyn>(3), tied}, dims, free, {rows, d}));
      expect_same(all, outcome_of(three, dims, fixed, {rows, d}, keep::inputs));
    }
  }
}

TEST_CASE(
    "repeated layers compute the same bits whatever their shape and what they keep, and others where they are untied") {
  graphs const g;
  edge_transformer_layer_options const o{d, heads, hidden, 0.3, triangle_form::full, false};
  using fixed_layer = edge_transformer_layer<double, d, heads, hidden>;
  output_shape const shape{g.shape.dims.rows, d};
  for (bool tied : {true, false}) {
    CAPTURE(tied);
    repeat<double, fixed_layer, 3> const fixed{fixed_layer(o), {}, tied};
    repeat<double, edge_transformer_layer<double>> const free{edge_transformer_layer<double>(o), extents<dyn>(3), tied};
    auto const all = outcome_of(fixed, g.shape.dims, g.input<d>(), shape);
    expect_same(all, outcome_of(free, g.shape.dims, g.input<dyn>(), shape));
    expect_same(all, outcome_of(fixed, g.shape.dims, g.input<d>(), shape, keep::inputs));
    CHECK(all.gradient.size() == (tied ? 1u : 3u) * 13 + 1);

    // keep::nothing: the same value; a way back is refused.
    reference::backend ex;
    gradient_check_options none;
    none.kept = keep::nothing;
    using bench = detail::layer_under_check<reference::backend, repeat<double, fixed_layer, 3>, graph_dims>;
    CHECK_THROWS_WITH(bench(ex, fixed, g.shape.dims, g.input<d>(), shape, none),
                      test::contains("repeat: memory planned for inference has nothing for backward"));
  }
}

}  // namespace
