// Tests the trunks of parsers, which are their parts below the heads: gradients, names, and invalid sizes.
// SPDX-License-Identifier: Apache-2.0
#include "triad/models/sentence_trunks.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/layers/outcome.hpp"
#include "triad/batches/sentence_loader.hpp"

namespace models_sentence_trunks_tests {

using namespace triad;
using test::contains;

constexpr index_t width = 4, tokens = 6, reach = 1;

// A test of parameters needs value_type, which models define and parts of models do not.
struct edges : edge_trunk<double> {
  using value_type = double;
  using edge_trunk<double>::edge_trunk;
};
struct nodes : token_trunk<double> {
  using value_type = double;
  using token_trunk<double>::token_trunk;
};

edge_trunk_options edge_sizes(double rate = 0) {
  edge_trunk_options z;
  z.tokens = tokens;
  z.relations = 2 * reach + 1;
  z.layers = 2;
  z.layer = {width, 2, 6, rate};
  z.positional_dropout = rate;
  return z;
}
token_trunk_options token_sizes(double rate = 0) {
  token_trunk_options z;
  z.tokens = tokens;
  z.layers = 2;
  z.layer = {width, 2, 6, rate};
  z.positional_dropout = rate;
  return z;
}

sentence_loader<reference::backend, double> loaded(std::vector<std::vector<index_t>> const& all) {
  sentence_loader<reference::backend, double> loader({2, 13, 5, 35, 3}, reach, width);
  for (auto const& one : all) {
    std::vector<labelled_token> sentence;
    for (auto t : one) sentence.push_back({t});
    loader.add(sentence);
  }
  return loader;
}

// Computes all states y. If dy is given, also computes the gradients of the parameters.
template <class Trunk, class Parameters>
std::vector<double> run(Trunk const& trunk, Parameters& p, sentence_batch<double> const& in, bool train,
                        std::vector<double>* dy) {
  reference::backend ex;
  auto const& dims = in.graphs.dims;
  test::spoiled_memory const memory([&](arena& a) { return trunk.plan_saved(a, dims); });
  auto place = memory.place();
  auto const s = trunk.plan_saved(place, dims);
  std::uint64_t const step = 3;
  call c;
  c.train = train;
  c.key = 5;
  c.step = &step;
  test::with_scratch(ex, c, [&](auto& backend, call const& now) {
    trunk.forward(backend, now, p.values(), in, s);
    if (dy != nullptr)
      trunk.backward(backend, now, p.values(), in, s, tensor<double, dyn, dyn>(dy->data(), trunk.count(dims), width),
                     p.gradients());
  });
  return {s.y.data_handle(), s.y.data_handle() + s.y.size()};
}

template <class Trunk, class Sizes>
void expect_gradient(Sizes const& z) {
  Trunk const trunk(z);
  auto loader = loaded({{3, 0, 3}, {5, 1}});
  auto const in = loader.upload().first;
  auto const dy = test::random_values(trunk.count(in.graphs.dims) * width, 2);
  CHECK_GRADIENT(test::check_use(trunk, {},
                                 [&](auto& p, variables const&, variables* g) {
                                   auto overwritten = dy;
                                   return test::product(run(trunk, p, in, true, g != nullptr ? &overwritten : nullptr),
                                                        dy);
                                 },
                                 {.directions = 3, .elements = 30}));
}

TEST_CASE("trunks have the gradient of their states, tied and untied, with dropout and without") {
  for (bool tied : {false, true})
    for (double rate : {0.0, 0.2}) {
      CAPTURE(tied, rate);
      auto of_edges = edge_sizes(rate);
      of_edges.tied = tied;
      of_edges.encoding = tied ? sequence_encoding::positional : sequence_encoding::relational;
      expect_gradient<edges>(of_edges);
      auto of_tokens = token_sizes(rate);
      of_tokens.tied = tied;
      of_tokens.layer.norms = tied ? norm_position::before : norm_position::after;
      expect_gradient<nodes>(of_tokens);
    }
}

template <class Trunk, class Sizes>
void expect_own_sentence(Sizes const& z, std::size_t states) {
  Trunk const trunk(z);
  parameter_set<Trunk, reference::backend> p(trunk, holding::values);
  auto const values = test::random_values(p.flat_values().extent(0), 4);
  std::copy(values.begin(), values.end(), p.flat_values().data_handle());
  auto const at = [&](std::vector<std::vector<index_t>> const& all) {
    auto loader = loaded(all);
    return run(trunk, p, loader.upload().first, false, nullptr);
  };
  auto const alone = at({{3, 0, 3}}), beside = at({{3, 0, 3}, {5, 1}}), behind = at({{5, 1}, {3, 0, 3}});
  REQUIRE(alone.size() == states * width);
  CHECK(std::equal(alone.begin(), alone.end(), beside.begin()));
  CHECK(std::equal(alone.rbegin(), alone.rend(), behind.rbegin()));
  CHECK(at({{0, 3, 3}}) != alone);
}

TEST_CASE("states depend on their own sentence and on its words' order: of its edges, or of its tokens") {
  expect_own_sentence<edges>(edge_sizes(), 9);
  expect_own_sentence<nodes>(token_sizes(), 3);
}

TEST_CASE("trunks list what they look up, then their layers") {
  auto const of_edges = test::paths_of(edges(edge_sizes())), of_tokens = test::paths_of(nodes(token_sizes()));
  CHECK(of_edges.front() == "encoder.tokens");
  CHECK(of_edges[1] == "encoder.relations");
  CHECK(of_edges.back() == "layers.1.feed_forward.outer.bias");
  CHECK(of_tokens.back() == "norm.bias");
  auto tied = edge_sizes();
  tied.tied = true;
  CHECK(test::paths_of(edges(tied)).back() == "layers.0.feed_forward.outer.bias");
}

TEST_CASE("trunks of sizes that are none are refused by name") {
  auto bad = edge_sizes();
  bad.tokens = 0;
  CHECK_THROWS_WITH(edges(bad), contains("edge_trunk: tokens is 0"));
  bad = edge_sizes();
  bad.layers = 256;
  CHECK_THROWS_WITH(edges(bad), contains("edge_trunk: layers is 256, expected 1 to 255"));
  bad = edge_sizes();
  bad.fixed_token = tokens;
  CHECK_THROWS_WITH(edges(bad), contains("a parser's fixed token is 6, expected below 6, the tokens"));
  auto worse = token_sizes();
  worse.positional_dropout = 1;
  CHECK_THROWS_WITH(nodes(worse), contains("token_trunk: dropout is 1"));
  worse = token_sizes();
  worse.layers = 0;
  CHECK_THROWS_WITH(nodes(worse), contains("token_trunk: layers is 0"));
}

}  // namespace models_sentence_trunks_tests
