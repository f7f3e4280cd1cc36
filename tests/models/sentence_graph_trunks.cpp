// Tests the trunks of models from sentences to labelled graphs: the rows that a head reads, the states before the last
// norm, names, and invalid options.  tests/models/sentence_to_graph.cpp checks their gradients.
// SPDX-License-Identifier: Apache-2.0
#include "triad/models/sentence_graph_trunks.hpp"

#include <string>
#include <type_traits>
#include <vector>

#include "tests/catch.hpp"
#include "tests/layers/heads/graph_sentences.hpp"
#include "tests/layers/outcome.hpp"
#include "triad/train/initialize.hpp"
#include "triad/train/parameters.hpp"

namespace models_sentence_graph_trunks_tests {

using namespace triad;

constexpr index_t width = 6;

// A test of parameters needs value_type, which models define and parts of models do not.
struct edges : edge_graph_trunk<double> {
  using value_type = double;
  using edge_graph_trunk<double>::edge_graph_trunk;
};
struct nodes : token_graph_trunk<double> {
  using value_type = double;
  using token_graph_trunk<double>::token_graph_trunk;
};

template <class Layer>
graph_trunk_options<Layer> sizes(Layer const& layer, index_t layers = 3) {
  test::graph_sentences const s;
  return {.tokens = s.tables.token_rows(), .relations = s.tables.relation_rows(), .layers = layers, .layer = layer};
}
edges edge_trunk_of() { return edges(sizes(edge_transformer_layer_options{width, 2, 8})); }
nodes node_trunk_of(index_t layers = 3) {
  return nodes(sizes(transformer_layer_options{.width = width, .heads = 2, .hidden = 8, .norms = norm_position::before},
                     layers));
}

/// The wanted rows of the result, and the states of all pairs before the last norm.
struct found_states {
  std::vector<double> y, inner;
  int calls = 0;
};
template <class Trunk>
found_states run(Trunk const& trunk, std::vector<index_t> const& wanted, index_t inner) {
  reference::backend ex;
  test::graph_sentences s;
  auto const in = s.loader.upload().first;
  parameter_set<Trunk, reference::backend> p(trunk, holding::values);
  initialize(p, 3);
  auto const read = static_cast<index_t>(wanted.size());
  found_states found;
  found.y.resize(wanted.size() * width);
  auto const plan = [&](arena& a) { return trunk.plan_saved(a, in.graphs.dims, keep::everything, read); };
  test::spoiled_memory const memory(plan);
  auto place = memory.place();
  auto const saved = plan(place);
  test::with_scratch(ex, {}, [&](auto& backend, call const& c) {
    trunk.forward(backend, c, p.values(), in, make_vec(wanted.data(), read), saved,
                  tensor<double, dyn, dyn>(found.y.data(), read, width), inner, [&](auto x) {
                    if constexpr (executes<std::remove_cvref_t<decltype(backend)>>) {
                      ++found.calls;
                      found.inner.assign(x.data_handle(), x.data_handle() + x.size());
                    }
                  });
  });
  return found;
}

template <class Trunk>
void expect_rows(Trunk const& trunk) {
  auto const one = run(trunk, {7}, 0), many = run(trunk, {3, 7, 25, 0}, 2);
  CHECK(one.calls == 0);
  CHECK(many.calls == 1);
  CHECK(many.inner.size() == (25 + 4 + 9) * width);
  for (std::size_t k = 0; k < width; ++k) CHECK_THAT(many.y[width + k], test::WithinAbs(one.y[k], 1e-12));
}

TEST_CASE("trunks of models to graphs compute the wanted rows, and show the states of all pairs once") {
  expect_rows(edge_trunk_of());
  expect_rows(node_trunk_of());
}

TEST_CASE("a trunk of token states shows the states of pairs from which the wanted rows are taken") {
  std::vector<index_t> const wanted{3, 7, 25, 0};
  auto const found = run(node_trunk_of(), wanted, 1);
  for (std::size_t r = 0; r < wanted.size(); ++r)
    for (std::size_t k = 0; k < width; ++k)
      CHECK(found.y[r * width + k] == found.inner[static_cast<std::size_t>(wanted[r]) * width + k]);
}

TEST_CASE("a trunk of token states keeps one state of each pair, and one weight of each pair, head and layer") {
  constexpr index_t d = 32, heads = 4, layers = 3, n = 200;
  token_graph_trunk<double> const trunk(
      sizes(transformer_layer_options{.width = d, .heads = heads, .hidden = d}, layers));
  auto const bytes = planned_bytes([&](arena& a) { (void)trunk.plan_saved(a, dims_of(n), keep::everything, n); });
  auto const doubles = static_cast<index_t>(bytes / sizeof(double));
  index_t const of_pairs = n * n * (d + heads * layers);
  CHECK(doubles >= of_pairs);
  CHECK(doubles <= of_pairs + n * 16 * d * layers);  // the states of n nodes, and the slack of each view
}

TEST_CASE("a trunk of token states lists its parameters by name") {
  auto const paths = test::paths_of(node_trunk_of(1));
  CHECK(paths.front() == "encoder.tokens");
  CHECK(paths[1] == "layers.0.attention.query.weight");
  CHECK(paths[9] == "layers.0.attention.relations");
  CHECK(std::vector<std::string>(paths.end() - 13, paths.end()) ==
        std::vector<std::string>{"node_norm.gain", "node_norm.bias", "pairs.left.weight", "pairs.left.bias",
                                 "pairs.right.weight", "pairs.right.bias", "pairs.left_factor.weight",
                                 "pairs.left_factor.bias", "pairs.right_factor.weight", "pairs.right_factor.bias",
                                 "pairs.self.weight", "pairs.self.bias", "pairs.relations"});
}

TEST_CASE("a trunk of token states refuses options that it does not have") {
  auto const causal = sizes(transformer_layer_options{.width = width, .heads = 2, .hidden = 8, .causal = true});
  CHECK_THROWS_WITH(nodes(causal), test::contains("causal or reach is set, expected neither"));
  CHECK_THROWS_WITH(node_trunk_of().expect_inner(-1), test::contains("after layer -1, expected 0 or more"));
  CHECK_THROWS_WITH(edge_trunk_of().expect_inner(3), test::contains("layer 3 of 3, expected a layer before the last"));
}

}  // namespace models_sentence_graph_trunks_tests
