// Tests the heads over states of edges. One map computes the scores of arcs, and another map computes the relations of
// pairs.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/heads/edge_heads.hpp"

#include <vector>

#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/layers/heads/token_sentences.hpp"
#include "tests/layers/outcome.hpp"

namespace layers_edge_heads_tests {

using namespace triad;
using matrix_of = tensor<double, dyn, dyn>;
using read = tensor<double const, dyn, dyn>;

constexpr index_t d = 4, relations = 3, rows = 13, pairs = 5;

TEST_CASE("an arc's score is a product with its edge's state, a pair's relation a map of the same state") {
  reference::backend ex;
  test::token_sentences const s;
  edge_heads<double> const heads(2, {1});
  std::vector<double> x(2 * rows), arc{1, 10}, arc_bias{0.5}, relation{100, 1000}, relation_bias{7};
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i);
  edge_heads<double>::fields<double const> const w{
      {read(arc.data(), 1, 2), make_vec<double const>(arc_bias.data(), 1)},
      {read(relation.data(), 1, 2), make_vec<double const>(relation_bias.data(), 1)}};
  std::vector<double> score(rows), logits(pairs);
  test::with_scratch(ex, {}, [&](auto& backend, call const& c) {
    heads.forward(backend, c, w, s.input(), read(x.data(), rows, 2), {}, make_vec(score.data(), rows));
    heads.relate(backend, c, w, read(x.data(), rows, 2), {}, s.pairs(), matrix_of(logits.data(), pairs, 1));
  });
  for (std::size_t r = 0; r < score.size(); ++r) CHECK(score[r] == 0.5 + x[2 * r] + 10 * x[2 * r + 1]);
  for (std::size_t p = 0; p < logits.size(); ++p) {
    auto const r = static_cast<std::size_t>(s.edge[p]);
    CHECK(logits[p] == 7 + 100 * x[2 * r] + 1000 * x[2 * r + 1]);
  }
}

TEST_CASE("edge heads have the gradient of their scores and logits, a pair that is asked twice counted twice") {
  test::token_sentences const s;
  edge_heads<double> const heads(d, {relations});
  auto const dscore = test::random_values(rows, 2), dlogits = test::random_values(pairs * relations, 3);
  CHECK_GRADIENT(test::check_use(
      heads, {{"x", test::random_values(rows * d, 1)}}, [&](auto& parameters, variables const& at, variables* g) {
        reference::backend ex;
        std::vector<double> score(rows), logits(pairs * relations);
        read const x(at[1].values.data(), rows, d);
        test::with_scratch(ex, {}, [&](auto& backend, call const& c) {
          heads.forward(backend, c, parameters.values(), s.input(), x, {}, make_vec(score.data(), rows));
          heads.relate(backend, c, parameters.values(), x, {}, s.pairs(), matrix_of(logits.data(), pairs, relations));
          if (g != nullptr)
            heads.backward(backend, c, parameters.values(), s.input(), x, {}, s.pairs(),
                           make_vec<double const>(dscore.data(), rows), read(dlogits.data(), pairs, relations),
                           matrix_of((*g)[1].values.data(), rows, d), parameters.gradients());
        });
        return test::product(score, dscore) + test::product(logits, dlogits);
      }));
  CHECK(test::paths_of(heads) ==
        std::vector<std::string>{"arc.weight", "arc.bias", "relation.weight", "relation.bias"});
  CHECK_THROWS_WITH(edge_heads<double>(d, {0}), test::contains("edge_heads: relations is 0"));
}

}  // namespace layers_edge_heads_tests
