// The trace of a tree machine on one tree: the weights of its choices at each step.  From a trace, this header derives
// the program of the choices with the largest weights.
// SPDX-License-Identifier: Apache-2.0
//
// A tree machine does not choose one operation and one tree: it gives a weight to each of them.  Its program takes, at
// each step, the choice with the largest weight.  The weights may depend on the input, so two inputs may lead to two
// programs.  models/tree_trace.hpp makes a trace from the values that a machine saved.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "triad/core/contracts.hpp"
#include "triad/tree/program.hpp"
#include "triad/tree/symbol_tree.hpp"

namespace triad {

/// Scores below this value are left out of a trace.
inline constexpr double least_written = 0.02;

/// A label at one position of the tree that a step wrote, and the score of this label.
struct written_symbol {
  index_t position, label;
  double score;
};

/// The weights of one step.  Step k chooses among the trees 0 .. k, where tree 0 is the input, and writes tree k + 1.
/// Weights are from 0 to 1.
struct traced_step {
  std::array<double, 3> operations{};              // the weights of car, cdr and cons
  std::vector<std::array<double, 4>> arguments{};  // arguments[l][a] is the weight of tree l as argument a
  index_t root = 0;                                // the label with the largest score for the root that cons writes
  double root_score = 0;                           // the score of this label
  numbered_tree tree{};                            // the tree that the step wrote, if the trace has trees
  std::vector<written_symbol> symbols{};           // if the trace has trees: all scores of at least least_written, in
                                                   // order of positions
  std::optional<std::array<double, 4>> empty{};    // the weight of the empty tree in each argument, if the machine has
                                                   // one

  tree_operation most_likely() const {
    return static_cast<tree_operation>(std::max_element(operations.begin(), operations.end()) - operations.begin());
  }
  double weight(tree_operation o) const { return operations[static_cast<std::size_t>(o)]; }
  /// Returns the weight of tree number `tree_number` as argument `a`.  `tree_number` may be no_tree.
  double weight(tree_argument a, index_t tree_number) const {
    auto const column = static_cast<std::size_t>(a);
    if (tree_number == no_tree) return empty ? (*empty)[column] : 0;
    return arguments[static_cast<std::size_t>(tree_number)][column];
  }
  /// Returns the tree with the largest weight as argument `a`.  If several trees have the largest weight, returns the
  /// first of them.  Returns no_tree if the weight of the empty tree is larger.
  index_t most_likely(tree_argument a) const {
    index_t best = 0;
    for (index_t l = 1; l < static_cast<index_t>(arguments.size()); ++l)
      if (weight(a, l) > weight(a, best)) best = l;
    return weight(a, no_tree) > weight(a, best) ? no_tree : best;
  }
};

/// One entry for each step of the machine.
using tree_trace = std::vector<traced_step>;

/// Returns the program that takes the choice with the largest weight at each step.
inline tree_program likeliest(tree_trace const& trace) {
  tree_program p;
  for (auto const& step : trace) {
    tree_instruction next;
    next.what = step.most_likely();
    auto const arguments = arguments_of(next.what);
    next.from = step.most_likely(arguments.front());
    next.right = next.what == tree_operation::cons ? step.most_likely(tree_argument::right) : 0;
    next.root = next.what == tree_operation::cons ? step.root : 0;
    p.push_back(next);
  }
  return p;
}

/// Returns the sum of the weights of all trees in `memory` that are equal to tree number `chosen`, including this tree.
/// Equal trees are counted because another choice among them does not change the result.
inline double certainty(traced_step const& step, tree_argument a, index_t chosen,
                        std::vector<numbered_tree> const& memory) {
  auto const same = [&](numbered_tree const& tree) {
    return chosen == no_tree ? tree.empty() : tree == memory[static_cast<std::size_t>(chosen)];
  };
  double sum = same(numbered_tree()) ? step.weight(a, no_tree) : 0;
  for (std::size_t l = 0; l < step.arguments.size(); ++l)
    if (same(memory[l])) sum += step.weight(a, static_cast<index_t>(l));
  return sum;
}

/// Returns the smallest weight among all choices of the needed steps.  `memory` has the trees that execute(p, input,
/// depth) returns.
inline double certainty(tree_trace const& trace, tree_program const& p, std::vector<numbered_tree> const& memory) {
  expect_extent("certainty", "steps of the trace", static_cast<index_t>(trace.size()), static_cast<index_t>(p.size()));
  expect_extent("certainty", "trees", static_cast<index_t>(memory.size()), static_cast<index_t>(p.size() + 1));
  auto const wanted = needed(p);
  double least = 1;
  for (std::size_t k = 0; k < p.size(); ++k) {
    if (!wanted[k]) continue;
    least = std::min(least, trace[k].weight(p[k].what));
    for (auto const a : arguments_of(p[k].what)) least = std::min(least, certainty(trace[k], a, p[k].tree(a), memory));
  }
  return least;
}

}  // namespace triad
