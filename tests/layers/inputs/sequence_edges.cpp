// Tests the first states of a sentence's edges: relative positions, the value of each edge, and the gradient of each
// part.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/inputs/sequence_edges.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/layers/outcome.hpp"

namespace layers_sequence_edges_tests {

using namespace triad;
using layer_type = sequence_edges<double>;

constexpr index_t d = 4, tokens = 5, reach = 1, rows = 5, nodes = 3;

// Two sentences, of 2 tokens and of 1 token.
struct words {
  test::ragged graphs{{2, 1}};
  std::vector<index_t> token{3, 0, 3}, position{0, 1, 0}, self{0, 3, 4}, relation{1, 2, 0, 1, 1};
  std::vector<double> waves = test::random_values(2 * d, 5);
  token_sequences<double> input() const {
    return {graphs.batch(),
            make_vec(token.data(), nodes),
            make_vec(relation.data(), rows),
            make_vec(position.data(), nodes),
            make_vec(self.data(), nodes),
            tensor<double const, dyn, dyn>(waves.data(), 2, d)};
  }
};
layer_type edges(sequence_encoding encoding, double rate = 0, index_t fixed = -1) {
  return {encoding, tokens, 2 * reach + 1, extents<dyn>(d), rate, fixed};
}

TEST_CASE("an edge begins with its relative position and, at a token, with the token; or with a map of each end") {
  reference::backend ex;
  words const s;
  for (auto encoding : {sequence_encoding::relational, sequence_encoding::positional}) {
    CAPTURE(encoding == sequence_encoding::positional);
    auto const layer = edges(encoding);
    parameter_set<layer_type, reference::backend> p(layer, holding::values);
    auto const values = test::random_values(p.flat_values().extent(0), 4);
    std::copy(values.begin(), values.end(), p.flat_values().data_handle());
    auto const w = p.values();
    test::spoiled_memory const memory([&](arena& a) { return layer.plan_saved(a, s.graphs.dims); });
    auto place = memory.place();
    auto const saved = layer.plan_saved(place, s.graphs.dims);
    std::vector<double> x(rows * d);
    tensor<double, dyn, dyn> const out(x.data(), rows, d);
    test::with_scratch(ex, {}, [&](auto& any, call const& c) { layer.forward(any, c, w, s.input(), saved, out); });
    auto const u = [&](index_t node, index_t f) {
      auto const n = static_cast<std::size_t>(node);
      return w.tokens(s.token[n], f) + s.waves[static_cast<std::size_t>(s.position[n] * d + f)];
    };
    auto const mapped = [&](auto const& map, index_t node, index_t f) {
      double sum = map.bias(f);
      for (index_t k = 0; k < d; ++k) sum += map.weight(f, k) * u(node, k);
      return sum;
    };
    index_t row = 0;
    for (auto const& [first, n] : {std::pair<index_t, index_t>{0, 2}, {2, 1}})
      for (index_t i = 0; i < n; ++i)
        for (index_t j = 0; j < n; ++j, ++row)
          for (index_t f = 0; f < d; ++f) {
            CAPTURE(row, f);
            double const expected = encoding == sequence_encoding::relational
                                        ? w.relations(reach + j - i, f) +
                                              (i == j ? w.tokens(s.token[static_cast<std::size_t>(first + i)], f) : 0)
                                        : mapped(w.left, first + i, f) + mapped(w.right, first + j, f);
            CHECK_THAT(out(row, f), test::WithinAbs(expected, 1e-14));
          }
  }
}

TEST_CASE("first states of edges have the gradient of their value, dropout included, in either encoding") {
  reference::backend ex;
  words const s;
  for (auto encoding : {sequence_encoding::relational, sequence_encoding::positional})
    for (double rate : {0.0, 0.3}) {
      CAPTURE(encoding == sequence_encoding::positional, rate);
      auto const layer = edges(encoding, rate);
      CHECK_GRADIENT(gradient_check(ex, layer, s.graphs.dims, s.input(), {rows, d}, {.elements = 10}));
      sequence_edges<double, d> const fixed{encoding, tokens, 2 * reach + 1, {}, rate};
      test::expect_same(test::outcome_of(fixed, s.graphs.dims, s.input(), {rows, d}),
                        test::outcome_of(layer, s.graphs.dims, s.input(), {rows, d}));
    }
}

TEST_CASE("a fixed token's vector has no gradient, all else the same") {
  words const s;
  for (auto encoding : {sequence_encoding::relational, sequence_encoding::positional}) {
    auto const learned = test::outcome_of(edges(encoding), s.graphs.dims, s.input(), {rows, d}),
               fixed = test::outcome_of(edges(encoding, 0, 3), s.graphs.dims, s.input(), {rows, d});
    CHECK(learned.value == fixed.value);
    for (std::size_t t = 0; t < learned.gradient.size(); ++t)
      for (std::size_t i = 0; i < learned.gradient[t].values.size(); ++i) {
        bool const inside = t == 0 && i / d == 3;
        CHECK(fixed.gradient[t].values[i] == (inside ? 0 : learned.gradient[t].values[i]));
        if (inside) CHECK(std::abs(learned.gradient[t].values[i]) > 0);
      }
  }
}

TEST_CASE("relational edges have no maps, positional ones no table of relations") {
  CHECK(edges(sequence_encoding::relational).map().in() == 0);
  arena measure;
  auto const relational = edges(sequence_encoding::relational).plan_params(measure),
             positional = edges(sequence_encoding::positional).plan_params(measure);
  CHECK(count_values(relational) == (tokens + 2 * reach + 1) * d);
  CHECK(count_values(positional) == tokens * d + 2 * (d * d + d));
}

}  // namespace layers_sequence_edges_tests
