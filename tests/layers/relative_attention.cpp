// Tests attention with relation numbers: gradients, the same results as attention with relative positions, and names.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/relative_attention.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/layers/outcome.hpp"
#include "triad/batches/token_sequences.hpp"
#include "triad/layers/attention.hpp"
#include "triad/layers/transformer_layer.hpp"
#include "triad/train/gradient_check.hpp"

namespace layers_relative_attention_tests {

using namespace triad;

constexpr index_t d = 6, reach = 2, relations = 2 * reach + 1;

/// Three graphs.  The relation number of two nodes is their clipped relative position.
struct setting {
  test::ragged graphs{{4, 1, 5}};
  std::vector<double> x = test::random_values(graphs.dims.nodes * d, 1);
  std::vector<index_t> relation;

  setting() {
    for (auto n : graphs.size)
      for (index_t i = 0; i < n; ++i)
        for (index_t j = 0; j < n; ++j) relation.push_back(relative_position(i, j, reach));
  }
  template <index_t D = dyn>
  relative_input<double, D> input() const {
    return {tensor<double const, dyn, D>(x.data(), extents<dyn, D>(graphs.dims.nodes, d)), graphs.batch(),
            make_vec(relation.data(), graphs.dims.rows)};
  }
};

template <index_t D = dyn, index_t H = dyn>
relative_attention<double, D, H> layer_of(index_t heads, double rate) {
  return {{extents<D, H>(d, heads), rate}, relations};
}

TEMPLATE_TEST_CASE("attention with relation numbers has the gradient of its value", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  setting const s;
  node_pair_dims const dims(s.graphs.dims);
  for (double rate : {0.0, 0.3}) {
    CAPTURE(rate);
    CHECK_GRADIENT(gradient_check(ex, layer_of(2, rate), dims, s.input(), {dims.rows, d}));
    CHECK_GRADIENT(gradient_check(ex, layer_of<d, 3>(3, rate), dims, s.input<d>(), {dims.rows, d}));
  }
}

TEMPLATE_TEST_CASE("a Transformer layer with relation numbers has the gradient of its value", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  setting const s;
  node_pair_dims const dims(s.graphs.dims);
  using layer = transformer_layer<double, dyn, dyn, dyn, relative_attention<double>>;
  for (auto norms : {norm_position::before, norm_position::after}) {
    transformer_layer_options const o{.width = d, .heads = 2, .hidden = 8, .dropout = 0.3, .norms = norms};
    CHECK_GRADIENT(gradient_check(ex, layer(o, layer_of(2, 0.1)), dims, s.input(), {dims.rows, d}));
  }
}

TEST_CASE("with clipped offsets as relation numbers, one head computes attention with relative positions") {
  reference::backend ex;
  setting const s;
  auto const relative = layer_of(1, 0);
  self_attention<double> const other{extents<dyn, dyn>(d, 1), 0, false, reach};
  parameter_set<relative_attention<double>, reference::backend> p(relative, holding::values);
  parameter_set<self_attention<double>, reference::backend> q(other, holding::values);
  auto const values = test::random_values(p.flat_values().extent(0), 4);
  std::copy(values.begin(), values.end(), p.flat_values().data_handle());
  auto const from = p.values();
  auto const to = q.mutable_values();
  transform(ex, unchanged{}, from.projections.all.weight, to.projections.all.weight);
  transform(ex, unchanged{}, from.projections.all.bias, to.projections.all.bias);
  transform(ex, unchanged{}, from.output.weight, to.output.weight);
  transform(ex, unchanged{}, from.output.bias, to.output.bias);
  for (index_t r = 0; r < relations; ++r)
    for (index_t k = 0; k < d; ++k) {
      to.relative_key(r, k) = from.relations(r, k);
      to.relative_value(r, k) = from.relations(r, d + k);
    }
  auto const run = [&](auto const& layer, auto const& dims, auto const& weights, auto const& in) {
    std::vector<double> y(s.x.size());
    test::spoiled_memory const memory([&](arena& a) { return layer.plan_saved(a, dims); });
    auto place = memory.place();
    auto const saved = layer.plan_saved(place, dims);
    test::with_scratch(ex, {}, [&](auto& backend, call const& c) {
      layer.forward(backend, c, weights, in, saved, tensor<double, dyn, dyn>(y.data(), s.graphs.dims.nodes, d));
    });
    return y;
  };
  auto const in = s.input();
  auto const a = run(relative, node_pair_dims(s.graphs.dims), p.values(), in),
             b = run(other, row_dims(s.graphs.dims.nodes), q.values(),
                     sequence_input<double, dyn>{in.x, nodes_of(in.graphs)});
  for (std::size_t i = 0; i < a.size(); ++i) CHECK_THAT(a[i], test::WithinAbs(b[i], 1e-12));
}

TEST_CASE("attention with relation numbers lists its parameters by name") {
  CHECK(test::paths_of(layer_of(2, 0)) == std::vector<std::string>{"query.weight", "query.bias", "key.weight",
                                                                   "key.bias", "value.weight", "value.bias",
                                                                   "output.weight", "output.bias", "relations"});
}

}  // namespace layers_relative_attention_tests
