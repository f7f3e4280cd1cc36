// Tests triangular attention with its projections: gradients in every form, names of parameters, and attention weights.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/triangular_attention.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/layers/edge_graphs.hpp"
#include "tests/layers/outcome.hpp"
#include "triad/cpu/cpu.hpp"

namespace layers_triangular_attention_tests {

using namespace triad;

constexpr triangle_form all_forms[] = {triangle_form::full, triangle_form::value_ablation,
                                       triangle_form::attention_ablation, triangle_form::both_ablations,
                                       triangle_form::flat};

template <index_t D, index_t H, class Ex>
void check_attention(Ex& ex, triangle_form variant, bool bias, bool masks, double dropout) {
  test::edge_graphs const graphs(6);
  CAPTURE(static_cast<int>(variant), bias, masks, dropout, D);
  triangular_attention<double, D, H> const layer{extents<D, H>(6, 2), variant, bias, dropout};
  CHECK_GRADIENT(gradient_check(ex, layer, graphs.dims(), graphs.input<D>(masks), {graphs.rows(), 6}));
}

TEMPLATE_TEST_CASE("triangular attention has the gradient of its value in every form", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  for (auto variant : all_forms)
    for (bool masks : {false, true})
      for (double dropout : {0.0, 0.3}) {
        check_attention<dyn, dyn>(ex, variant, masks, masks, dropout);
        check_attention<6, 2>(ex, variant, !masks, masks, dropout);
      }
}

TEST_CASE("triangular attention of static and of dynamic shape computes the same bits") {
  test::edge_graphs const g(6);
  for (auto variant : {triangle_form::full, triangle_form::both_ablations, triangle_form::flat}) {
    triangular_attention<double, 6, 2> const fixed{{}, variant, true, 0.3};
    triangular_attention<double> const free{extents<dyn, dyn>(6, 2), variant, true, 0.3};
    test::expect_same(test::outcome_of(fixed, g.dims(), g.input<6>(), {g.rows(), 6}),
                      test::outcome_of(free, g.dims(), g.input(), {g.rows(), 6}));
  }
}

TEST_CASE("triangular attention lists a projection for each of its values, with biases where it has them") {
  auto const paths = [](triangle_form variant, bool bias) {
    return test::paths_of(triangular_attention<double>{extents<dyn, dyn>(6, 2), variant, bias});
  };
  CHECK(paths(triangle_form::full, false) == std::vector<std::string>{"query.weight", "key.weight", "left_value.weight",
                                                                      "right_value.weight", "output.weight"});
  CHECK(paths(triangle_form::value_ablation, true) ==
        std::vector<std::string>{"query.weight", "query.bias", "key.weight", "key.bias", "left_value.weight",
                                 "left_value.bias", "output.weight", "output.bias"});
}

TEST_CASE("an edge's weights over the middle nodes of its graph sum to one in each head, and masked ones have none") {
  reference::backend ex;
  test::edge_graphs const g(6);
  triangular_attention<double> const layer{extents<dyn, dyn>(6, 2)};
  parameter_set<triangular_attention<double>, reference::backend> p(layer, holding::values);
  auto const values = test::random_values(p.flat_values().extent(0), 4);
  std::copy(values.begin(), values.end(), p.flat_values().data_handle());
  test::spoiled_memory const memory([&](arena& a) { return layer.plan_saved(a, g.dims()); });
  auto place = memory.place();
  auto const saved = layer.plan_saved(place, g.dims());
  std::vector<double> y(g.x.size()), found(2 * 4);
  test::with_scratch(ex, {}, [&](auto& backend, call const& c) {
    layer.forward(backend, c, p.values(), g.input(), saved, tensor<double, dyn, dyn>(y.data(), g.rows(), 6));
    layer.weights(backend, c, g.input(), saved, 2, 1, 3, make_matrix(found.data(), 2, 4, 4));
  });
  bool any = false;
  for (std::size_t h = 0; h < 2; ++h) {
    double sum = 0;
    for (std::size_t l = 0; l < 4; ++l) {
      sum += found[4 * h + l];
      // 27 + 1 triangles of the first two graphs precede the triangles (1, l, 3) of the third graph.
      bool const shut = g.masked[28 + (1 * 4 + l) * 4 + 3] != 0;
      CHECK((found[4 * h + l] == 0) == shut);
      any = any || shut;
    }
    CHECK_THAT(sum, test::WithinAbs(1, 1e-14));
  }
  CHECK(any);
}

}  // namespace layers_triangular_attention_tests
