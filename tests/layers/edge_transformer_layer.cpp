// Tests the Edge Transformer layer: gradients in all forms, complete and pruned; static and dynamic sizes; names of
// parameters.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/edge_transformer_layer.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/layers/edge_graphs.hpp"
#include "tests/layers/outcome.hpp"
#include "triad/cpu/cpu.hpp"

namespace layers_edge_transformer_layer_tests {

using namespace triad;

template <form Form, index_t D, index_t H, index_t F, class Ex>
void check_layer(Ex& ex, triangle_form variant, bool pruned, double dropout) {
  test::edge_graphs const graphs(6);
  CAPTURE(static_cast<int>(Form), static_cast<int>(variant), pruned, dropout, D);
  edge_transformer_layer<double, D, H, F, Form> const layer({6, 2, 10, dropout, variant, pruned});
  auto const in = graphs.input<D>(true, pruned);
  auto const saved = [&](arena& place) {
    return layer.plan_saved(place, graphs.dims(), keep::everything, in.wanted.extent(0));
  };
  CHECK_GRADIENT(gradient_check(ex, layer, saved, in, {pruned ? 3 : graphs.rows(), 6}));
}

TEMPLATE_TEST_CASE("the Edge Transformer layer has the gradient of its value in all forms, whole and pruned", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  for (bool pruned : {false, true})
    for (double dropout : {0.0, 0.3}) {
      for (auto variant : {triangle_form::full, triangle_form::flat}) {
        check_layer<form::released, dyn, dyn, dyn>(ex, variant, pruned, dropout);
        check_layer<form::paper, dyn, dyn, dyn>(ex, variant, pruned, dropout);
        check_layer<form::pre_norm, dyn, dyn, dyn>(ex, variant, pruned, dropout);
      }
      check_layer<form::released, 6, 2, 10>(ex, triangle_form::full, pruned, dropout);
      check_layer<form::paper, 6, 2, 10>(ex, triangle_form::full, pruned, dropout);
      check_layer<form::pre_norm, 6, 2, 10>(ex, triangle_form::full, pruned, dropout);
    }
}

TEMPLATE_TEST_CASE(
    "attention weights and hidden units of an Edge Transformer layer can have a dropout rate of their own", "",
    TRIAD_TEST_BACKENDS) {
  TestType ex;
  test::edge_graphs const g(6);
  auto const in = g.input(true, false);
  auto const layer_of = [](double dropout, std::optional<double> inner) {
    return edge_transformer_layer<double>({6, 2, 10, dropout, triangle_form::full, true, inner});
  };
  auto const saved_of = [&](auto const& layer) {
    return [&](arena& place) { return layer.plan_saved(place, g.dims()); };
  };
  for (auto const& [dropout, inner] : {std::pair{0.3, 0.0}, std::pair{0.0, 0.3}, std::pair{0.2, 0.4}}) {
    CAPTURE(dropout, inner);
    auto const layer = layer_of(dropout, inner);
    CHECK(layer.dropout == dropout);
    CHECK(layer.attention.dropout == inner);
    CHECK(layer.block.dropout == inner);
    CHECK_GRADIENT(gradient_check(ex, layer, saved_of(layer), in, {g.rows(), 6}));
  }
  auto const same = layer_of(0.2, {});
  CHECK(same.attention.dropout == 0.2);
  CHECK(same.block.dropout == 0.2);
}

template <form Form>
void compare_shapes() {
  test::edge_graphs const g(6);
  for (bool pruned : {false, true}) {
    CAPTURE(pruned, static_cast<int>(Form));
    edge_transformer_layer_options const o{6, 2, 10, 0.3, triangle_form::full, pruned};
    auto const run = [&](auto const& layer, auto const& in) {
      auto const saved = [&](arena& place) {
        return layer.plan_saved(place, g.dims(), keep::everything, pruned ? 3 : 0);
      };
      return test::outcome_of(layer, saved, in, {pruned ? 3 : g.rows(), 6});
    };
    test::expect_same(run(edge_transformer_layer<double, 6, 2, 10, Form>(o), g.input<6>(true, pruned)),
                      run(edge_transformer_layer<double, dyn, dyn, dyn, Form>(o), g.input(true, pruned)));
  }
}
TEST_CASE("the Edge Transformer layer of static and of dynamic shape computes the same bits") {
  compare_shapes<form::released>();
  compare_shapes<form::paper>();
  compare_shapes<form::pre_norm>();
}

TEST_CASE("an Edge Transformer layer that reads some edges gives their rows of the whole") {
  reference::backend ex;
  test::edge_graphs const g(6);
  using layer_type = edge_transformer_layer<double>;
  layer_type const layer({6, 2, 10});
  parameter_set<layer_type, reference::backend> p(layer, holding::values);
  auto const values = test::random_values(p.flat_values().extent(0), 4);
  std::copy(values.begin(), values.end(), p.flat_values().data_handle());
  auto const run = [&](bool pruned) {
    index_t const reads = pruned ? 3 : 0, rows = pruned ? 3 : g.rows();
    test::spoiled_memory const memory([&](arena& a) { return layer.plan_saved(a, g.dims(), keep::everything, reads); });
    auto place = memory.place();
    auto const saved = layer.plan_saved(place, g.dims(), keep::everything, reads);
    std::vector<double> y(static_cast<std::size_t>(rows * 6));
    test::with_scratch(ex, {}, [&](auto& backend, call const& c) {
      layer.forward(backend, c, p.values(), g.input(true, pruned), saved, tensor<double, dyn, dyn>(y.data(), rows, 6));
    });
    return y;
  };
  auto const whole = run(false), some = run(true);
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t f = 0; f < 6; ++f)
      CHECK_THAT(some[6 * r + f], test::WithinAbs(whole[6 * static_cast<std::size_t>(g.wanted[r]) + f], 1e-14));
}

TEST_CASE("an Edge Transformer layer lists its parameters by name") {
  auto const paths = test::paths_of(edge_transformer_layer<double>({6, 2, 10}));
  CHECK(paths == std::vector<std::string>{"norm1.gain", "norm1.bias", "attention.query.weight", "attention.key.weight",
                                          "attention.left_value.weight", "attention.right_value.weight",
                                          "attention.output.weight", "norm2.gain", "norm2.bias",
                                          "feed_forward.inner.weight", "feed_forward.inner.bias",
                                          "feed_forward.outer.weight", "feed_forward.outer.bias"});
}

}  // namespace layers_edge_transformer_layer_tests
