// Tests the loss of parents, which is computed from scores of edges: both readouts, masks, and ragged batches. Compares
// the gradient with finite differences.
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/arc_cross_entropy.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/ragged.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/train/gradient_check.hpp"

namespace ops_arc_cross_entropy_tests {

using namespace triad;
using test::ragged;
using test::WithinAbs;

// Graphs of 3, 1 and 40 nodes. The only node of the second graph is its own parent. One node of the third graph is not
// in the loss.
struct problem {
  ragged graphs{{3, 1, 40}};
  std::vector<index_t> parent{1, 1, 0, 0};
  std::vector<std::uint8_t> masked;

  problem() {
    for (index_t i = 0; i < 40; ++i) parent.push_back(i == 5 ? -1 : i * 7 % 40);
  }
  /// Masks the last node of the third graph, as padding.
  void mask() {
    masked.assign(static_cast<std::size_t>(graphs.dims.rows), 0);
    for (index_t j = 0; j < 40; ++j)
      masked[static_cast<std::size_t>(10 + 39 * 40 + j)] = masked[static_cast<std::size_t>(10 + j * 40 + 39)] = 1;
    parent[static_cast<std::size_t>(4 + 39)] = -1;
    for (auto& p : parent) p = p == 39 ? 0 : p;
  }
  arc_cross_entropy_options options(arcs readout) const {
    return {readout, make_vec(masked.data(), static_cast<index_t>(masked.size()))};
  }
  /// Returns s(i, j) of graph g by the definition.
  double at(std::vector<double> const& score, arcs readout, std::size_t g, index_t i, index_t j) const {
    index_t const n = graphs.size[g],
                  edge = graphs.edge_begin[g] + (readout == arcs::from_child ? i * n + j : j * n + i);
    return !masked.empty() && masked[static_cast<std::size_t>(edge)] ? -1e3 : score[static_cast<std::size_t>(edge)];
  }

  template <class Ex>
  double loss(Ex& ex, arcs readout, std::vector<double> const& score, std::vector<double>& d) const {
    double result = 99;
    test::with_scratch(ex, {}, [&](auto& backend, call const& c) {
      arc_cross_entropy(backend, *c.scratch, options(readout), graphs.batch(), make_vec(score.data(), graphs.dims.rows),
                        make_vec(parent.data(), graphs.dims.nodes), make_vec(&result, 1),
                        make_vec(d.data(), graphs.dims.rows));
    });
    return result;
  }
};

TEMPLATE_TEST_CASE("the loss of parents is the mean of what their softmax leaves, and its gradient is its value's", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  for (auto readout : {arcs::from_child, arcs::from_parent})
    for (bool masks : {false, true}) {
      CAPTURE(static_cast<int>(readout), masks);
      problem p;
      if (masks) p.mask();
      auto const rows = p.graphs.dims.rows;
      auto const score = test::random_values(rows, 1, 3);
      std::vector<double> d(score.size(), 99.0);
      double expected = 0, count = 0;
      for (std::size_t g = 0; g < 3; ++g)
        for (index_t i = 0; i < p.graphs.size[g]; ++i) {
          auto const right = p.parent[static_cast<std::size_t>(p.graphs.node_begin[g] + i)];
          if (right < 0) continue;
          double z = 0;
          for (index_t j = 0; j < p.graphs.size[g]; ++j) z += std::exp(p.at(score, readout, g, i, j));
          expected += std::log(z) - p.at(score, readout, g, i, right);
          count += 1;
        }
      CHECK_THAT(p.loss(ex, readout, score, d), WithinAbs(expected / count, 1e-12));
      auto const report = gradient_check(
          {{"score", score}}, [&](variables const& at) { return p.loss(ex, readout, at[0].values, d); },
          [&](variables const& at, variables& g) { p.loss(ex, readout, at[0].values, g[0].values); },
          {.directions = 4, .elements = 30});
      CHECK_GRADIENT(report);
    }
}

TEMPLATE_TEST_CASE("the best parent is the first with the largest score", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  for (auto readout : {arcs::from_child, arcs::from_parent}) {
    problem p;
    p.mask();
    auto score = test::random_values(p.graphs.dims.rows, 2, 3);
    for (auto& s : score) s = std::round(s);  // makes equal scores likely
    std::vector<index_t> best(static_cast<std::size_t>(p.graphs.dims.nodes), -7);
    best_arcs(ex, p.options(readout), p.graphs.batch(), make_vec<double const>(score.data(), p.graphs.dims.rows),
              make_vec(best.data(), p.graphs.dims.nodes));
    for (std::size_t g = 0; g < 3; ++g)
      for (index_t i = 0; i < p.graphs.size[g]; ++i) {
        index_t expected = 0;
        for (index_t j = 1; j < p.graphs.size[g]; ++j)
          if (p.at(score, readout, g, i, j) > p.at(score, readout, g, i, expected)) expected = j;
        CHECK(best[static_cast<std::size_t>(p.graphs.node_begin[g] + i)] == expected);
      }
  }
}

TEMPLATE_TEST_CASE("no parents asked: no loss and no gradient", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  problem p;
  p.parent.assign(p.parent.size(), -1);
  auto const score = test::random_values(p.graphs.dims.rows, 1);
  std::vector<double> d(score.size(), 99.0);
  CHECK(p.loss(ex, arcs::from_child, score, d) == 0);
  CHECK(d == std::vector<double>(score.size(), 0.0));
}

}  // namespace ops_arc_cross_entropy_tests
