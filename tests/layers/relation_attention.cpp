// Tests relation-aware attention with its projections: gradients of nodes and of relations, and pairs of nodes.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/relation_attention.hpp"

#include <vector>

#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/layers/outcome.hpp"

namespace layers_relation_attention_tests {

using namespace triad;
using layer_type = relation_attention_layer<double>;
using matrix_of = tensor<double, dyn, dyn>;
using read = tensor<double const, dyn, dyn>;

constexpr index_t d = 4, heads = 2;

TEST_CASE("pairs of nodes are both rows one after the other, and their gradients come back to the nodes") {
  reference::backend ex;
  std::vector<double> const x{1, 2, 3, 4, 5, 6}, dy{1, 1, 10, 10, 100, 100, 1000, 1000};
  std::vector<double> y(8), dx(6, 9);
  std::vector<index_t> const first{2, 0}, second{0, 0};
  node_pairs const pairs{make_vec(first.data(), 2), make_vec(second.data(), 2)};
  CHECK((pairs.count() == 2 && node_pairs{}.count() == 0));
  gather_rows(ex, read(x.data(), 3, 2), pairs, matrix_of(y.data(), 4, 2));
  CHECK(y == std::vector<double>{5, 6, 1, 2, 1, 2, 1, 2});
  scatter_rows(ex, nullptr, read(dy.data(), 4, 2), pairs, matrix_of(dx.data(), 3, 2));
  CHECK(dx == std::vector<double>{1110, 1110, 0, 0, 1, 1});
}

TEST_CASE("relation-aware attention has the gradient of its value in nodes and relations, written or added") {
  test::ragged const graphs({3, 1, 2});
  index_t const nodes = graphs.dims.nodes, rows = graphs.dims.rows;
  std::vector<std::uint8_t> masked(static_cast<std::size_t>(rows));
  masked[2] = masked[5] = masked[8] = 1;  // no node of the first graph attends to its last node
  auto const dy = test::random_values(nodes * d, 3);
  std::uint64_t const step = 3;
  for (double rate : {0.0, 0.3})
    for (auto edges : {edge_gradients::overwritten, edge_gradients::added}) {
      CAPTURE(rate, edges == edge_gradients::added);
      layer_type const layer{extents<dyn, dyn>(d, heads), rate};
      variables const inputs{{"x", test::random_values(nodes * d, 1)},
                             {"relations", test::random_values(rows * 2 * d, 2)}};
      CHECK_GRADIENT(test::check_use(layer, inputs, [&](auto& parameters, variables const& at, variables* g) {
        reference::backend ex;
        test::spoiled_memory const memory([&](arena& a) { return layer.plan_saved(a, graphs.dims); });
        auto place = memory.place();
        auto const saved = layer.plan_saved(place, graphs.dims);
        relation_input<double, dyn> const in{read(at[1].values.data(), nodes, d),
                                             read(at[2].values.data(), rows, 2 * d),
                                             graphs.batch(),
                                             {make_vec<std::uint8_t const>(masked.data(), rows)}};
        call c;
        c.train = true;
        c.key = 5;
        c.step = &step;
        if (g != nullptr)
          for (double& v : (*g)[2].values) v = edges == edge_gradients::added ? 0.25 : 9;
        test::with_scratch(ex, c, [&](auto& backend, call const& now) {
          layer.attend(backend, now, parameters.values(), in, saved);
          if (g != nullptr)
            layer.attend_backward(backend, now, parameters.values(), in, saved, read(dy.data(), nodes, d),
                                  matrix_of((*g)[1].values.data(), nodes, d),
                                  matrix_of((*g)[2].values.data(), rows, 2 * d), edges, parameters.gradients());
        });
        if (g != nullptr && edges == edge_gradients::added)
          for (double& v : (*g)[2].values) v -= 0.25;
        auto const* const y = saved.context.data_handle();
        return test::product({y, y + nodes * d}, dy);
      }));
    }
}

TEST_CASE("relation-aware attention lists its projections by name") {
  CHECK(test::paths_of(layer_type{extents<dyn, dyn>(d, heads)}) ==
        std::vector<std::string>{"query.weight", "query.bias", "key.weight", "key.bias", "value.weight", "value.bias"});
}

}  // namespace layers_relation_attention_tests
