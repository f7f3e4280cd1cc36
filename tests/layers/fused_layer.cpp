// Tests a layer of an encoder or decoder with each choice of sublayers: the gradients of all inputs, and the names of
// parameters.
//
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/fused_layer.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/layers/outcome.hpp"

namespace layers_fused_layer_tests {

using namespace triad;
using layer_type = fused_layer<double>;
using matrix_of = tensor<double, dyn, dyn>;
using read = tensor<double const, dyn, dyn>;

constexpr index_t d = 4, heads = 2, hidden = 6, below = 2, e = 3;

TEST_CASE("a fused layer has the gradient of its value in its tokens, the states below and the source") {
  test::ragged const tokens({3, 1}), sources({2, 3});
  index_t const rows = tokens.dims.nodes, source_rows = sources.dims.nodes;
  auto const dy = test::random_values(rows * d, 3);
  std::uint64_t const step = 3;
  for (bool crosses : {false, true})
    for (bool fuses : {false, true}) {
      CAPTURE(crosses, fuses);
      transformer_layer_options o{d, heads, hidden, 0.2, fuses ? norm_position::before : norm_position::after};
      o.causal = crosses;
      layer_type const layer(o, crosses ? e : 0, fuses);
      variables const inputs{{"x", test::random_values(rows * d, 1)},
                             {"states", test::random_values(below * rows * d, 2)},
                             {"source", test::random_values(source_rows * e, 4)}};
      CHECK_GRADIENT(test::check_use(layer, inputs, [&](auto& parameters, variables const& at, variables* g) {
        reference::backend ex;
        fused_dims const dims(row_dims(rows), below, crosses ? source_rows : 0);
        test::spoiled_memory const memory([&](arena& a) { return layer.plan_saved(a, dims); });
        auto place = memory.place();
        auto const saved = layer.plan_saved(place, dims);
        fused_input<double> const in{read(at[1].values.data(), rows, d),
                                     nodes_of(tokens.batch()),
                                     vec<std::uint8_t const>(nullptr, 0),
                                     layer_states<double const>(at[2].values.data(), below, rows, d),
                                     below,
                                     {read(at[3].values.data(), source_rows, e), nodes_of(sources.batch())}};
        call c;
        c.train = true;
        c.key = 5;
        c.step = &step;
        std::vector<double> y(dy.size());
        if (g != nullptr)  // the layer adds to both gradients: many layers read these inputs
          for (std::size_t t : {2u, 3u}) (*g)[t].values.assign((*g)[t].values.size(), 0.0);
        test::with_scratch(ex, c, [&](auto& backend, call const& now) {
          layer.forward(backend, now, parameters.values(), in, saved, matrix_of(y.data(), rows, d));
          if (g != nullptr)
            layer.backward(backend, now, parameters.values(), in, saved, read(dy.data(), rows, d),
                           matrix_of((*g)[1].values.data(), rows, d), parameters.gradients(),
                           layer_states<double>((*g)[2].values.data(), below, rows, d),
                           matrix_of((*g)[3].values.data(), source_rows, e));
        });
        return test::product(y, dy);
      }));
    }
}

TEST_CASE("a fused layer has the parameters of those sublayers that it has") {
  auto const parts = [](index_t source, bool fuses) {
    std::vector<std::string> first;
    for (auto const& path : test::paths_of(layer_type({d, heads, hidden}, source, fuses))) {
      auto const part = path.substr(0, path.find('.'));
      if (first.empty() || first.back() != part) first.push_back(part);
    }
    return first;
  };
  CHECK(parts(0, false) == std::vector<std::string>{"attention", "feed_forward"});
  CHECK(parts(e, false) == std::vector<std::string>{"attention", "cross", "feed_forward"});
  CHECK(parts(0, true) == std::vector<std::string>{"attention", "fuse", "feed_forward"});
  CHECK(parts(e, true) == std::vector<std::string>{"attention", "cross", "fuse", "feed_forward"});
  CHECK_THROWS_WITH(layer_type({5, heads, hidden}, 0, false),
                    test::contains("fused_layer: heads are 2 and width is 5, expected heads that divide the width"));
}

}  // namespace layers_fused_layer_tests
