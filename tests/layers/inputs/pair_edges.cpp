// Tests the first states of edges, of a source alone and of a source with its target. Compares every state with its
// formula, and tests the gradient of each part.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/inputs/pair_edges.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/ragged.hpp"
#include "triad/batches/edge_pair_loader.hpp"
#include "triad/batches/position_waves.hpp"
#include "triad/train/parameters.hpp"

namespace layers_pair_edges_tests {

using namespace triad;

constexpr index_t width = 4, tokens = 7, reach = 1, begin_token = 1, end_token = 2;
using layer_type = pair_edges<double>;
using matrix_type = tensor<double, dyn, dyn>;

// Two pairs as a loader stores them. The states of edges between nodes of a source are given.
struct problem {
  layer_type layer;
  edge_pair_loader<reference::backend, double> loader;
  edge_pair_batch<double> in;
  parameter_set<layer_type, reference::backend> parameters;
  std::vector<double> table = test::random_values(tokens * width, 1), known, x, dx, d_known, d_table;
  bool source_alone;

  problem(sequence_encoding encoding, bool alone)
      : layer{encoding, {reach}, extents<dyn>(width)},
        loader(room(), {encoding, {reach}}, width, begin_token, end_token),
        in(filled(loader)),
        parameters(layer, holding::gradients),
        source_alone(alone) {
    auto const flat = parameters.flat_values();
    auto const values = test::random_values(flat.extent(0), 5);
    std::copy(values.begin(), values.end(), flat.data_handle());
    auto const rows = alone ? in.sizes.source.rows : in.sizes.whole.rows;
    known = test::random_values(alone ? 0 : in.sizes.source.rows * width, 2);
    x.resize(static_cast<std::size_t>(rows * width));
    dx = test::random_values(rows * width, 3);
    d_known.assign(known.size(), std::nan(""));
    d_table.assign(table.size(), 0);
  }
  static edge_pair_dims room() { return edge_pair_dims_of(3, 2) + edge_pair_dims_of(1, 3); }
  static edge_pair_batch<double> filled(edge_pair_loader<reference::backend, double>& l) {
    l.add(std::vector<index_t>{3, 4}, std::vector<index_t>{5});
    l.add(std::vector<index_t>{}, std::vector<index_t>{6, 3});
    return l.upload().first;
  }

  template <class V>
  static auto view(V& values) {
    return tensor<std::remove_pointer_t<decltype(values.data())>, dyn, dyn>(
        values.data(), static_cast<index_t>(values.size()) / width, width);
  }
  pair_edges_input<double, dyn> input() const {
    if (source_alone) return {view(table), view(known), in.source};
    pair_edges_input<double, dyn> e{view(table), view(known), in.whole, in.origin, in.source_row};
    if (layer.relational()) e.nodes.token = in.target_token, e.nodes.self = in.target_self;
    return e;
  }
  template <class Ex>
  void run(Ex& ex, bool back) {
    auto const& dims = source_alone ? in.sizes.source : in.sizes.whole;
    test::spoiled_memory const memory([&](arena& a) { return layer.plan_saved(a, dims); });
    auto place = memory.place();
    auto const saved = layer.plan_saved(place, dims);
    test::with_scratch(ex, call{.train = true, .key = 3}, [&](auto& any, call const& c) {
      layer.forward(any, c, parameters.values(), input(), saved, view(x));
      if (back)
        layer.backward(any, c, parameters.values(), input(), saved, read_only(view(dx)), view(d_known), view(d_table),
                       parameters.gradients());
    });
  }

  double token_of(index_t node, index_t f) const {
    auto const& side = source_alone ? in.source : in.whole;
    return table[static_cast<std::size_t>(side.token(node) * width + f)];
  }
  // Returns the expected x(i, j) of graph g, whose first s of n nodes are the source.
  double expected(index_t g, index_t i, index_t j, index_t f) const {
    auto const& side = source_alone ? in.source : in.whole;
    index_t const s = in.source.graphs.size(g), node = side.graphs.node_begin(g);
    auto const w = parameters.values();
    if (!source_alone && i < s && j < s)
      return known[static_cast<std::size_t>((in.source.graphs.edge_begin(g) + i * s + j) * width + f)];
    if (layer.relational()) {
      index_t const apart = j - i, clipped = apart < -1 ? -1 : apart > 1 ? 1 : apart;
      index_t const relation = (i < s) == (j < s) ? 1 + clipped : i < s ? 3 : 4;
      bool const first = i == j && i == (source_alone ? 0 : s);
      return w.relations(relation, f) + (i == j ? token_of(node + i, f) : 0) + (first ? w.begin(0, f) : 0);
    }
    auto const waves = position_waves(4, width);
    auto const end = [&](auto const& map, index_t k) {
      double sum = map.bias(f);
      for (index_t e = 0; e < width; ++e) {
        index_t const place = source_alone || k < s ? k : k - s;
        sum += map.weight(f, e) *
               (token_of(node + k, e) + static_cast<double>(waves[static_cast<std::size_t>(place * width + e)]));
      }
      return sum;
    };
    return end(w.left, i) + end(w.right, j);
  }
};

TEMPLATE_TEST_CASE("edges begin with what their formula says, and between nodes of a source with what is given", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  for (auto encoding : {sequence_encoding::relational, sequence_encoding::positional})
    for (bool alone : {true, false}) {
      CAPTURE(static_cast<int>(encoding), alone);
      problem p(encoding, alone);
      p.run(ex, false);
      auto const& graphs = (alone ? p.in.source : p.in.whole).graphs;
      for (index_t g = 0; g < 2; ++g)
        for (index_t i = 0, n = graphs.size(g); i < n; ++i)
          for (index_t j = 0; j < n; ++j)
            for (index_t f = 0; f < width; ++f) {
              CAPTURE(g, i, j, f);
              CHECK_THAT(p.x[static_cast<std::size_t>((graphs.edge_begin(g) + i * n + j) * width + f)],
                         test::WithinAbs(p.expected(g, i, j, f), 1e-13));
            }
    }
}

// Relational states are sums of learned parts and given parts. So the sum of x dx equals the sum, over all parts, of
// the part times its gradient.
TEMPLATE_TEST_CASE("relational edges hand on their gradient and lose nothing of it", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  for (bool alone : {true, false}) {
    problem p(sequence_encoding::relational, alone);
    p.run(ex, true);
    double left = 0, right = 0;
    auto const add = [](double& sum, auto const& a, auto const& b) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(a.size()); ++i) sum += a[i] * b[i];
    };
    add(left, p.x, p.dx);
    add(right, p.table, p.d_table);
    add(right, p.known, p.d_known);
    auto const values = p.parameters.flat_values(), gradients = p.parameters.flat_gradients();
    for (index_t i = 0; i < values.extent(0); ++i) right += values(i) * gradients(i);
    CHECK_THAT(right, test::WithinAbs(left, 1e-12));
    CHECK(std::abs(left) > 1e-3);
  }
}

TEMPLATE_TEST_CASE(
    "gradients of tables and maps are added, that of what is given is overwritten, and the fixed token's row stays", "",
    TRIAD_TEST_BACKENDS) {
  TestType ex;
  for (auto encoding : {sequence_encoding::relational, sequence_encoding::positional})
    for (bool alone : {true, false}) {
      CAPTURE(static_cast<int>(encoding), alone);
      problem zero(encoding, alone), half(encoding, alone), fixed(encoding, alone);
      fixed.layer.fixed_token = 6;
      auto const start = half.parameters.flat_gradients();
      for (index_t i = 0; i < start.extent(0); ++i) start(i) = 0.5;
      half.d_table.assign(half.d_table.size(), 0.5);
      fixed.d_table.assign(fixed.d_table.size(), 0.5);
      for (auto* p : {&zero, &half, &fixed}) p->run(ex, true);
      for (std::size_t i = 0; i < zero.d_table.size(); ++i) {
        CHECK_THAT(half.d_table[i] - zero.d_table[i], test::WithinAbs(0.5, 1e-12));
        CHECK(fixed.d_table[i] == (static_cast<index_t>(i) / width == 6 ? 0.5 : half.d_table[i]));
      }
      for (index_t i = 0; i < start.extent(0); ++i)
        CHECK_THAT(start(i) - zero.parameters.flat_gradients()(i), test::WithinAbs(0.5, 1e-12));
      CHECK(zero.d_known == half.d_known);
      for (double v : zero.d_known) CHECK(std::isfinite(v));
    }
}

TEST_CASE("pair edges refuse the encoding by both ends with a sentence") {
  layer_type const layer{sequence_encoding::relational_ends, {reach}, extents<dyn>(width)};
  arena measure;
  CHECK_THROWS_WITH(layer.plan_params(measure), test::contains("the encoding is relational_ends, expected relational"));
}

}  // namespace layers_pair_edges_tests
