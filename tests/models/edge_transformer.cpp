// Tests the Edge Transformer: its gradient for all combinations of options, and that pruning and recomputation do not
// change results.
// SPDX-License-Identifier: Apache-2.0
#include "triad/models/edge_transformer.hpp"

#include <cmath>
#include <cstring>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/ragged.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/reference/reference.hpp"
#include "triad/train/gradient_check.hpp"
#include "triad/train/initialize.hpp"

namespace models_edge_transformer_tests {

using namespace triad;

constexpr index_t labels = 7, targets = 5, width = 6;

// Graphs of 3, 1 and 4 people, with random labels and one question for each graph.
struct questions {
  test::ragged shape{{3, 1, 4}};
  std::vector<index_t> label, edge{2, 9, 22}, source{0, 3, 7}, target{2, 3, 4};
  std::vector<std::uint8_t> masked;

  questions() {
    random_stream random(3, 1);
    for (index_t e = 0; e < shape.dims.rows; ++e) label.push_back(random.below(labels));
    for (index_t t = 0; t < shape.dims.triangles; ++t) masked.push_back(random.uniform() < 0.3);
  }
  graph_queries input(bool masks) const {
    graph_queries q{shape.batch(), make_vec(label.data(), shape.dims.rows), make_vec(edge.data(), 3),
                    make_vec(source.data(), 3), make_vec(target.data(), 3)};
    if (masks) q.mask.masked = make_vec(masked.data(), shape.dims.triangles);
    return q;
  }
};

edge_transformer_options sizes(index_t layers, bool tied, bool prune, double dropout = 0,
                               triangle_form variant = triangle_form::full) {
  edge_transformer_options z;
  z.labels = labels;
  z.targets = targets;
  z.layers = layers;
  z.tied = tied;
  z.prune = prune;
  z.layer = {width, 2, 8, dropout, variant, false};
  return z;
}

template <class Model, class Ex>
void check_gradient(Ex& ex, edge_transformer_options const& z, keep kept) {
  questions const q;
  CAPTURE(z.layers, z.tied, z.prune, z.layer.dropout, static_cast<int>(z.layer.variant), kept == keep::inputs);
  gradient_check_options options{.directions = 1, .elements = 2};
  options.kept = kept;
  auto const report = gradient_check(ex, Model(z), q.shape.dims, q.input(true), {3, targets}, options);
  CHECK_GRADIENT(report);
}

TEMPLATE_TEST_CASE("the Edge Transformer has the gradient of its value", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  for (index_t layers : {1, 3})
    for (bool tied : {true, false})
      for (bool prune : {true, false})
        for (auto kept : {keep::everything, keep::inputs}) {
          check_gradient<edge_transformer<double>>(ex, sizes(layers, tied, prune, kept == keep::inputs ? 0.3 : 0),
                                                   kept);
          check_gradient<edge_transformer<double, width, 2, 8, form::paper>>(ex, sizes(layers, tied, prune, 0.3), kept);
        }
  check_gradient<edge_transformer<double>>(ex, sizes(2, true, true, 0.3, triangle_form::flat), keep::everything);
  check_gradient<edge_transformer<double>>(ex, sizes(2, false, true, 0.3, triangle_form::both_ablations),
                                           keep::everything);
}

template <class Model>
std::vector<double> logits_of(edge_transformer_options const& z, keep kept) {
  reference::backend ex;
  questions const q;
  Model const model(z);
  parameter_set<Model, reference::backend> parameters(model, holding::values);
  initialize(parameters, 3);
  test::spoiled_memory const memory([&](arena& a) { return model.plan_saved(a, q.shape.dims, kept); });
  auto place = memory.place();
  auto const saved = model.plan_saved(place, q.shape.dims, kept);
  std::vector<double> y(3 * targets);
  test::with_scratch(ex, {}, [&](auto& backend, call const& c) {
    model.forward(backend, c, parameters.values(), q.input(true), saved,
                  tensor<double, dyn, dyn>(y.data(), 3, targets));
  });
  return y;
}

TEST_CASE("pruning, running without keeping anything and static shapes give the same logits") {
  for (index_t layers : {1, 2, 5})
    for (bool tied : {true, false}) {
      CAPTURE(layers, tied);
      auto const whole = logits_of<edge_transformer<double>>(sizes(layers, tied, false), keep::everything);
      CHECK(whole == logits_of<edge_transformer<double>>(sizes(layers, tied, true), keep::everything));
      CHECK(whole == logits_of<edge_transformer<double>>(sizes(layers, tied, true), keep::nothing));
      CHECK(whole == logits_of<edge_transformer<double>>(sizes(layers, tied, false), keep::nothing));
      CHECK(whole == logits_of<edge_transformer<double>>(sizes(layers, tied, true), keep::inputs));
      CHECK(whole == logits_of<edge_transformer<double, width, 2, 8>>(sizes(layers, tied, true), keep::everything));
      if (layers == 2) {
        auto of_the_type = sizes(layers, tied, true);
        of_the_type.layers = not_given;
        using two_layers = edge_transformer<double, width, 2, 8, form::released, 2>;
        CHECK(whole == logits_of<two_layers>(of_the_type, keep::inputs));
      } else {
        CHECK_THROWS_WITH((edge_transformer<double, width, 2, 8, form::released, 3>(sizes(layers, tied, true))),
                          test::contains("layers is " + std::to_string(layers) + ", expected 3, the size in the type"));
      }
    }
}

}  // namespace models_edge_transformer_tests
