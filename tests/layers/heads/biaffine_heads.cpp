// Tests the heads over states of tokens. A head multiplies a state of the child token and a state of the parent token.
// Tests formulas and gradients.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/heads/biaffine_heads.hpp"

#include <vector>

#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/layers/heads/token_sentences.hpp"
#include "tests/layers/outcome.hpp"

namespace layers_biaffine_heads_tests {

using namespace triad;
using layer_type = biaffine_heads<double>;
using matrix_of = tensor<double, dyn, dyn>;
using read = tensor<double const, dyn, dyn>;

constexpr index_t d = 4, inner = 3, relations = 2, nodes = 5, rows = 13, pairs = 5;

// The scores and logits for given states, and all gradients if there is memory for them.
struct result {
  std::vector<double> score = std::vector<double>(rows), logits = std::vector<double>(pairs * relations);
};
template <class Parameters>
result run(layer_type const& heads, Parameters& parameters, std::vector<double> const& state,
           std::vector<double> dscore, std::vector<double> dlogits, std::vector<double>* dy) {
  reference::backend ex;
  test::token_sentences const s;
  result y;
  test::spoiled_memory const memory([&](arena& a) { return heads.plan_saved(a, s.graphs.dims); });
  auto place = memory.place();
  auto const saved = heads.plan_saved(place, s.graphs.dims);
  std::uint64_t const step = 3;
  call c;
  c.train = true;
  c.key = 5;
  c.step = &step;
  read const in(state.data(), nodes, d);
  test::with_scratch(ex, c, [&](auto& backend, call const& now) {
    heads.forward(backend, now, parameters.values(), s.input(), in, saved, make_vec(y.score.data(), rows));
    heads.relate(backend, now, parameters.values(), in, saved, s.pairs(), matrix_of(y.logits.data(), pairs, relations));
    if (dy != nullptr)
      heads.backward(backend, now, parameters.values(), s.input(), in, saved, s.pairs(),
                     make_vec<double const>(dscore.data(), rows), read(dlogits.data(), pairs, relations),
                     matrix_of(dy->data(), nodes, d), parameters.gradients());
  });
  return y;
}

TEST_CASE("biaffine heads are the formulas at the head of their file") {
  layer_type const heads(d, {relations, inner, 0});
  parameter_set<layer_type, reference::backend> p(heads, holding::values);
  auto const values = test::random_values(p.flat_values().extent(0), 4);
  std::copy(values.begin(), values.end(), p.flat_values().data_handle());
  auto const state = test::random_values(nodes * d, 1);
  auto const found = run(heads, p, state, {}, {}, nullptr);
  auto const w = p.values();
  auto const end = [&](index_t of, index_t token, index_t h) {  // one of u, v, p, q
    double sum = w.ends.all.bias(of * inner + h);
    for (index_t f = 0; f < d; ++f)
      sum += w.ends.all.weight(of * inner + h, f) * state[static_cast<std::size_t>(token * d + f)];
    return sum > 0 ? sum : 0;
  };
  auto const line = [&](auto const& map, index_t row, index_t of, index_t token) {
    double sum = map.bias(row);
    for (index_t h = 0; h < inner; ++h) sum += map.weight(row, h) * end(of, token, h);
    return sum;
  };
  test::token_sentences const s;
  for (std::size_t g = 0; g < 2; ++g)
    for (index_t i = 0, n = s.graphs.size[g]; i < n; ++i)
      for (index_t j = 0; j < n; ++j) {
        index_t const first = s.graphs.node_begin[g];
        double arc = i == j ? line(w.root, 0, 0, first + i) : 0;
        for (index_t h = 0; h < inner; ++h) arc += line(w.arc, h, 0, first + i) * end(1, first + j, h);
        CHECK_THAT(found.score[static_cast<std::size_t>(s.graphs.edge_begin[g] + i * n + j)],
                   test::WithinAbs(arc, 1e-14));
      }
  for (std::size_t k = 0; k < pairs; ++k)
    for (index_t r = 0; r < relations; ++r) {
      double logit = w.relation.bias(r);
      for (index_t h = 0; h < inner; ++h)
        logit += w.relation.weight(r, h) * line(w.child, h, 2, s.child[k]) * line(w.parent, h, 3, s.parent[k]);
      CHECK_THAT(found.logits[k * relations + static_cast<std::size_t>(r)], test::WithinAbs(logit, 1e-14));
    }
}

TEST_CASE("biaffine heads have the gradient of their scores and logits, with dropout and without") {
  auto const dscore = test::random_values(rows, 2), dlogits = test::random_values(pairs * relations, 3);
  for (double rate : {0.0, 0.3}) {
    CAPTURE(rate);
    layer_type const heads(d, {relations, inner, rate});
    CHECK_GRADIENT(test::check_use(
        heads, {{"y", test::random_values(nodes * d, 1)}}, [&](auto& parameters, variables const& at, variables* g) {
          auto const y =
              run(heads, parameters, at[1].values, dscore, dlogits, g != nullptr ? &(*g)[1].values : nullptr);
          return test::product(y.score, dscore) + test::product(y.logits, dlogits);
        }));
  }
}

TEST_CASE("sizes of biaffine heads that are none are refused by name") {
  CHECK_THROWS_WITH(layer_type(d, {0, inner, 0}), test::contains("biaffine_heads: relations is 0"));
  CHECK_THROWS_WITH(layer_type(d, {relations, -1, 0}), test::contains("biaffine_heads: inner is -1"));
  CHECK_THROWS_WITH(layer_type(d, {relations, inner, 1}), test::contains("biaffine_heads: dropout is 1"));
}

}  // namespace layers_biaffine_heads_tests
