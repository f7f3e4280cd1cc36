// Tests a layer that updates relations: its gradients, the work that pruning omits, static and dynamic sizes.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/relation_update_layer.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/layers/outcome.hpp"
#include "tests/layers/relation_bench.hpp"

namespace layers_relation_update_layer_tests {

using namespace triad;
using test::relations::bench, test::relations::width;

TEMPLATE_TEST_CASE("a layer that updates relations has the gradient of its value, whole, pruned, and without its nodes",
                   "", TRIAD_TEST_BACKENDS) {
  for (bool pruned : {false, true})
    for (bool nodes : {false, true})
      for (double rate : {0.0, 0.3}) {
        CAPTURE(pruned, nodes, rate);
        CHECK_GRADIENT(bench<relation_update_layer<double>, TestType>({width, 2, 10, rate}, pruned, nodes).check());
        CHECK_GRADIENT(
            bench<relation_update_layer<double, width, 2, 10>, TestType>({width, 2, 10, rate}, pruned, nodes).check());
      }
}

TEMPLATE_TEST_CASE("layers of many shapes that update relations have the gradients of their values", "",
                   TRIAD_TEST_BACKENDS) {
  test::relations::check_gradients_of_many_shapes<relation_update_layer<double>, TestType>();
}

TEMPLATE_TEST_CASE("a pruned layer that updates relations computes the edges it is asked for as the whole layer does",
                   "", TRIAD_TEST_BACKENDS) {
  bench<relation_update_layer<double>, TestType> every({width, 2, 10, 0}, false), some({width, 2, 10, 0}, true);
  every.run(false);
  some.run(false);
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t f = 0; f < width; ++f)
      CHECK_THAT(some.y_edges[r * width + f],
                 test::WithinAbs(every.y_edges[static_cast<std::size_t>(every.s.edge[r]) * width + f], 1e-13));
}

TEST_CASE("layers that update relations of static and of dynamic shape compute the same bits") {
  relation_layer_options const o{width, 2, 10, 0.3};
  bench<relation_update_layer<double, width, 2, 10>, reference::backend> fixed(o, true);
  bench<relation_update_layer<double>, reference::backend> free(o, true);
  auto const a = fixed.gradients(), b = free.gradients();
  CHECK(fixed.y_nodes == free.y_nodes);
  CHECK(fixed.y_edges == free.y_edges);
  test::expect_same(a, b);
}

TEST_CASE("a layer that updates relations lists those of a relation-aware layer and its own") {
  auto const given = test::paths_of(relation_layer<double>({width, 2, 10, 0})),
             updated = test::paths_of(relation_update_layer<double>({width, 2, 10, 0}));
  CHECK(updated.size() == given.size() + 16);
  for (std::string const name : {"relation_key.weight", "relation_value.bias", "left.weight", "right.bias",
                                 "edges.norm1.gain", "edges.feed_forward.inner.weight"})
    CHECK(std::find(updated.begin(), updated.end(), name) != updated.end());
}

}  // namespace layers_relation_update_layer_tests
