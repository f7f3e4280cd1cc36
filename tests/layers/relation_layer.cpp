// Tests a relation-aware layer: its gradients, the work that pruning omits, static and dynamic sizes.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/relation_layer.hpp"

#include <string>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/layers/outcome.hpp"
#include "tests/layers/relation_bench.hpp"

namespace layers_relation_layer_tests {

using namespace triad;
using test::relations::bench, test::relations::width;

TEMPLATE_TEST_CASE("a relation-aware layer has the gradient of its value, whole and pruned", "", TRIAD_TEST_BACKENDS) {
  for (bool pruned : {false, true})
    for (double rate : {0.0, 0.3}) {
      CAPTURE(pruned, rate);
      CHECK_GRADIENT(bench<relation_layer<double>, TestType>({width, 2, 10, rate}, pruned).check());
      CHECK_GRADIENT(bench<relation_layer<double, width, 2, 10>, TestType>({width, 2, 10, rate}, pruned).check());
    }
}

TEMPLATE_TEST_CASE("relation-aware layers of many shapes have the gradients of their values", "", TRIAD_TEST_BACKENDS) {
  test::relations::check_gradients_of_many_shapes<relation_layer<double>, TestType>();
}

TEMPLATE_TEST_CASE("a pruned relation-aware layer computes the rows it is asked for as the whole layer does", "",
                   TRIAD_TEST_BACKENDS) {
  bench<relation_layer<double>, TestType> whole({width, 2, 10, 0}, false), pruned({width, 2, 10, 0}, true);
  whole.run(false);
  pruned.run(false);
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t f = 0; f < width; ++f) {
      auto const all = [&](index_t node) { return whole.y_nodes[static_cast<std::size_t>(node) * width + f]; };
      CHECK_THAT(pruned.y_nodes[2 * r * width + f], test::WithinAbs(all(whole.s.source[r]), 1e-13));
      CHECK_THAT(pruned.y_nodes[(2 * r + 1) * width + f], test::WithinAbs(all(whole.s.target[r]), 1e-13));
    }
}

TEST_CASE("relation-aware layers of static and of dynamic shape compute the same bits") {
  relation_layer_options const o{width, 2, 10, 0.3};
  bench<relation_layer<double, width, 2, 10>, reference::backend> fixed(o, true);
  bench<relation_layer<double>, reference::backend> free(o, true);
  auto const a = fixed.gradients(), b = free.gradients();
  CHECK(fixed.y_nodes == free.y_nodes);
  CHECK(fixed.y_edges == free.y_edges);
  test::expect_same(a, b);
}

TEST_CASE("a relation-aware layer lists its parameters by name") {
  auto const given = test::paths_of(relation_layer<double>({width, 2, 10, 0}));
  CHECK(given == std::vector<std::string>{"attention.query.weight", "attention.query.bias", "attention.key.weight",
                                          "attention.key.bias", "attention.value.weight", "attention.value.bias",
                                          "attention.output.weight", "attention.output.bias", "norm1.gain",
                                          "norm1.bias", "feed_forward.inner.weight", "feed_forward.inner.bias",
                                          "feed_forward.outer.weight", "feed_forward.outer.bias", "norm2.gain",
                                          "norm2.bias"});
}

TEST_CASE("a relation-aware layer whose heads do not divide its width is refused with a sentence") {
  CHECK_THROWS_WITH(relation_layer<double>({6, 4, 10, 0}), test::contains("heads that divide the width"));
}

}  // namespace layers_relation_layer_tests
