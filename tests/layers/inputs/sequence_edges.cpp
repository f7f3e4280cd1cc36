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
constexpr auto encodings = {sequence_encoding::relational, sequence_encoding::positional,
                            sequence_encoding::relational_ends};

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

TEST_CASE("an edge begins with its relation and, at a token, with the token; or with a map or a vector of each end") {
  reference::backend ex;
  words const s;
  for (auto encoding : encodings) {
    CAPTURE(static_cast<int>(encoding));
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
            index_t const of_i = s.token[static_cast<std::size_t>(first + i)],
                          of_j = s.token[static_cast<std::size_t>(first + j)];
            double expected = encoding == sequence_encoding::positional
                                  ? mapped(w.left, first + i, f) + mapped(w.right, first + j, f)
                                  : w.relations(reach + j - i, f) + (i == j ? w.tokens(of_i, f) : 0);
            if (encoding == sequence_encoding::relational_ends)
              expected += w.left_tokens(of_i, f) + w.right_tokens(of_j, f);
            CHECK_THAT(out(row, f), test::WithinAbs(expected, 1e-14));
          }
  }
}

TEST_CASE("first states of edges have the gradient of their value, dropout included, in every encoding") {
  reference::backend ex;
  words const s;
  for (auto encoding : encodings)
    for (double rate : {0.0, 0.3}) {
      CAPTURE(static_cast<int>(encoding), rate);
      auto const layer = edges(encoding, rate);
      CHECK_GRADIENT(gradient_check(ex, layer, s.graphs.dims, s.input(), {rows, d}, {.elements = 10}));
      sequence_edges<double, d> const fixed{encoding, tokens, 2 * reach + 1, {}, rate};
      test::expect_same(test::outcome_of(fixed, s.graphs.dims, s.input(), {rows, d}),
                        test::outcome_of(layer, s.graphs.dims, s.input(), {rows, d}));
    }
}

TEST_CASE("a fixed token's vectors have no gradient, all else the same") {
  words const s;
  for (auto encoding : encodings) {
    CAPTURE(static_cast<int>(encoding));
    auto const learned = test::outcome_of(edges(encoding), s.graphs.dims, s.input(), {rows, d}),
               fixed = test::outcome_of(edges(encoding, 0, 3), s.graphs.dims, s.input(), {rows, d});
    CHECK(learned.value == fixed.value);
    for (std::size_t t = 0; t < learned.gradient.size(); ++t)
      for (std::size_t i = 0; i < learned.gradient[t].values.size(); ++i) {
        auto const& path = learned.gradient[t].path;
        bool const inside = (path == "tokens" || path == "left_tokens" || path == "right_tokens") && i / d == 3;
        CHECK(fixed.gradient[t].values[i] == (inside ? 0 : learned.gradient[t].values[i]));
        if (inside) CHECK(std::abs(learned.gradient[t].values[i]) > 0);
      }
  }
}

TEST_CASE("dropout of edges with both ends acts on whole states, and only while training") {
  words const s;
  auto const layer = edges(sequence_encoding::relational_ends, 0.5), kept = edges(sequence_encoding::relational_ends);
  parameter_set<layer_type, reference::backend> p(layer, holding::values);
  for (index_t k = 0; k < p.flat_values().extent(0); ++k) p.flat_values()(k) = 0.25;
  auto const states = [&](layer_type const& of, bool train) {
    reference::backend ex;
    std::vector<double> x(rows * d);
    std::uint64_t const step = 3;
    call use;
    use.train = train;
    use.step = &step;
    test::with_scratch(ex, use, [&](auto& any, call const& c) {
      of.forward(any, c, p.values(), s.input(), {tensor<double, dyn, dyn>(nullptr, 0, d)},
                 tensor<double, dyn, dyn>(x.data(), rows, d));
    });
    return x;
  };
  auto const all = states(kept, true), dropped = states(layer, true);
  CHECK(states(layer, false) == all);
  index_t zeros = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    CHECK((dropped[k] == 0 || dropped[k] == 2 * all[k]));
    zeros += dropped[k] == 0 ? 1 : 0;
  }
  CHECK(zeros > 0);
  CHECK(zeros < rows * d);
}

TEST_CASE("each encoding has its own tables and maps, and takes no memory for those of another") {
  CHECK(edges(sequence_encoding::relational).map().in() == 0);
  CHECK(edges(sequence_encoding::relational_ends).map().in() == 0);
  auto const counted = [](sequence_encoding encoding) {
    arena measure;
    return count_values(edges(encoding).plan_params(measure));
  };
  CHECK(counted(sequence_encoding::relational) == (tokens + 2 * reach + 1) * d);
  CHECK(counted(sequence_encoding::positional) == tokens * d + 2 * (d * d + d));
  CHECK(counted(sequence_encoding::relational_ends) == (3 * tokens + 2 * reach + 1) * d);
  CHECK(test::paths_of(edges(sequence_encoding::relational)) == std::vector<std::string>{"tokens", "relations"});
  CHECK(test::paths_of(edges(sequence_encoding::relational_ends)) ==
        std::vector<std::string>{"tokens", "relations", "left_tokens", "right_tokens"});
  auto const stride = [](index_t values) { return arena_stride(static_cast<std::size_t>(values) * sizeof(double)); };
  auto const bytes = [](sequence_encoding encoding) {
    return planned_bytes([&](arena& a) { (void)edges(encoding).plan_params(a); });
  };
  // A map without columns is two empty views.
  CHECK(bytes(sequence_encoding::relational) == stride(tokens * d) + stride((2 * reach + 1) * d) + 4 * stride(0));
  CHECK(bytes(sequence_encoding::positional) == stride(tokens * d) + stride(0) + 2 * (stride(d * d) + stride(d)));
  CHECK(bytes(sequence_encoding::relational_ends) == bytes(sequence_encoding::relational) + 2 * stride(tokens * d));
}

}  // namespace layers_sequence_edges_tests
