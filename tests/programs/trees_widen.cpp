// Tests a machine with the weights of a machine that has fewer positions. For trees that fit the smaller machine, both
// must give the same answers.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "tests/catch.hpp"
#include "trees/machine.hpp"

namespace programs_trees_widen_tests {

namespace trees = triad::programs::trees;

using triad::index_t, trees::machine, trees::placed_node;

trees::options small() {
  trees::options o;
  o.backend = "reference", o.steps = 3, o.width = 8, o.heads = 2, o.dropout = 0;
  return o;
}

struct answer {
  std::vector<index_t> symbols;
  std::vector<double> weights;  // weights of the operations in each step
};

answer answer_of(machine& m, trees::placed_tree tree) {
  m.clear();
  m.add({tree, tree});
  auto const found = m.infer();
  answer a{{found.begin(), found.end()}, {}};
  auto const traces = m.traced(false);
  for (auto const& step : traces.at(0))
    for (auto const o : {triad::tree_operation::car, triad::tree_operation::cdr, triad::tree_operation::cons})
      a.weights.push_back(step.weight(o));
  return a;
}

TEST_CASE("a widened machine does the same where no tree gets too deep for the one before, and takes deeper ones") {
  auto o = small();
  o.empty_tree = GENERATE(false, true);
  CAPTURE(o.empty_tree);
  auto const few = triad::programs::make<machine>(o, {6, 5, 2, true}),
             many = triad::programs::make<machine>(o, {6, 7, 2, true});
  std::array<placed_node, 3> const tree{{{0, 1}, {1, 2}, {2, 3}}};  // 2 levels; each step adds at most one
  few->initialize(3), many->initialize(4);
  auto const before = answer_of(*few, tree), other = answer_of(*many, tree);
  REQUIRE(before.weights.size() == 9);
  CHECK(other.weights != before.weights);
  many->widen(*few);
  auto const after = answer_of(*many, tree);
  for (std::size_t i = 0; i < before.weights.size(); ++i)
    CHECK_THAT(after.weights[i], triad::test::WithinAbs(before.weights[i], 1e-6));
  CHECK(std::vector<index_t>(after.symbols.begin(), after.symbols.begin() + 31) == before.symbols);

  std::array<placed_node, 2> const deep{{{0, 1}, {63, 2}}};
  CHECK_NOTHROW(answer_of(*many, deep));
}

TEST_CASE("machines of other sizes are not widened to this one, nor is a wider one made narrow") {
  auto const o = small();
  auto other = o;
  other.width = 16;
  auto const few = triad::programs::make<machine>(o, {6, 3, 2, true}),
             many = triad::programs::make<machine>(o, {6, 4, 2, true}),
             wide = triad::programs::make<machine>(other, {6, 3, 2, true});
  few->initialize(1), many->initialize(1), wide->initialize(1);
  CHECK_THROWS_WITH(few->widen(*many), triad::test::contains("is no wider than before"));
  CHECK_THROWS_WITH(many->widen(*wide), triad::test::contains("is no wider than before"));
}

}  // namespace programs_trees_widen_tests
