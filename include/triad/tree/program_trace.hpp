// What a tree machine did with one tree: its soft choices at each step, and the program that they give.
// SPDX-License-Identifier: Apache-2.0
//
// A machine's choices are weights.  Its program takes the largest: that is one for every input, and the weights may
// differ by input, so may the programs.  models/tree_trace.hpp reads a trace from what a machine saved.
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

/// Scores below this are left out of a trace.
inline constexpr double least_written = 0.02;

/// The score of a label that a step wrote at one position.
struct written_symbol {
  index_t position, label;
  double score;
};

/// Step k chooses among trees 0 .. k, of which 0 is the input, and writes tree k + 1.  Weights are from 0 to 1.
struct traced_step {
  std::array<double, 3> operations{};              // weights of car, cdr, cons
  std::vector<std::array<double, 4>> arguments{};  // weight of every tree so far, for each argument
  index_t root = 0;                                // the label that the root of cons has most of
  double root_score = 0;                           // how much of it
  numbered_tree tree{};                            // written, where that was asked for
  std::vector<written_symbol> symbols{};           // with it: every score from least_written up, in order of positions
  std::optional<std::array<double, 4>> empty{};    // each argument's weight of the empty tree, where there is one

  tree_operation most_likely() const {
    return static_cast<tree_operation>(std::max_element(operations.begin(), operations.end()) - operations.begin());
  }
  double weight(tree_operation o) const { return operations[static_cast<std::size_t>(o)]; }
  /// Of tree `tree_number`, or of no_tree.
  double weight(tree_argument a, index_t tree_number) const {
    auto const column = static_cast<std::size_t>(a);
    if (tree_number == no_tree) return empty ? (*empty)[column] : 0;
    return arguments[static_cast<std::size_t>(tree_number)][column];
  }
  /// The tree with the largest weight, the first of several; no_tree where the empty one has more than all of them.
  index_t most_likely(tree_argument a) const {
    index_t best = 0;
    for (index_t l = 1; l < static_cast<index_t>(arguments.size()); ++l)
      if (weight(a, l) > weight(a, best)) best = l;
    return weight(a, no_tree) > weight(a, best) ? no_tree : best;
  }
};

/// One entry for each step of the machine.
using tree_trace = std::vector<traced_step>;

/// The likeliest choices.
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

/// The weight of an argument's tree, and of all that are the same tree in `memory`: a choice among equal trees is not
/// uncertain.
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

/// The smallest weight of all choices of needed steps; memory: execute(p, input, depth).
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
