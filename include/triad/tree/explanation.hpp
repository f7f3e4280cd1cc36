// The steps of a tree machine on one tree, with labels as text.  Programs print the steps, draw them or write them as
// JSON.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "triad/core/contracts.hpp"
#include "triad/core/mdspan.hpp"
#include "triad/tree/placement.hpp"
#include "triad/tree/positions.hpp"
#include "triad/tree/program.hpp"
#include "triad/tree/program_trace.hpp"
#include "triad/tree/symbol_tree.hpp"
#include "triad/tree/vocabulary.hpp"

namespace triad {

/// The choices with the largest weights in one step, and the tree that the step wrote.  Weights are from 0 to 1.
struct explained_step {
  tree_operation what;
  double weight;
  struct taken {
    tree_argument which;
    index_t tree;  // the number of the chosen tree, or no_tree
    double weight;
  };
  std::vector<taken> arguments;
  std::string root;  // the label that cons gives the root
  double root_score;
  symbol_tree tree;  // the tree that the machine wrote
  bool needed;       // whether the result depends on this step, if every step takes the choice with the largest weight
  traced_step all;   // the weights of all choices
};

struct tree_explanation {
  symbol_tree source;
  std::vector<explained_step> steps;
  std::string program;   // the choices with the largest weights in the needed steps, as text
  double certainty = 0;  // the smallest weight among these choices; a choice's weight includes the weights of equal
                         // trees
  bool agrees = false;   // whether the program has the machine's result when it runs on trees of symbols
};

/// Explains a trace.  The trace must contain the trees that the steps wrote.  `answer` has the machine's label number
/// at every position, or 0 for no node.  A position may have a label even if the position of its parent has none.
template <index_t B, index_t D>
tree_explanation explain_trace(numbered_tree const& source, tree_trace const& trace, vocabulary const& labels,
                               tree_positions<B, D> const& positions, std::vector<index_t> const& answer) {
  expect_extent("explain_trace", "symbols of the answer", static_cast<index_t>(answer.size()), positions.count());
  auto const p = likeliest(trace);
  auto const memory = execute(p, source, positions.depth());
  auto const wanted = needed(p);
  std::vector<index_t> result(answer.size());
  place_labels(positions, memory.back(), vec<index_t>(result.data(), positions.count()));
  tree_explanation e{labels.label(source), {}, to_text(p, labels), certainty(trace, p, memory), result == answer};
  for (std::size_t k = 0; k < trace.size(); ++k) {
    explained_step step{p[k].what, trace[k].weight(p[k].what),  {},        {},
                        0,         labels.label(trace[k].tree), wanted[k], trace[k]};
    for (auto const a : arguments_of(p[k].what))
      step.arguments.push_back({a, p[k].tree(a), trace[k].weight(a, p[k].tree(a))});
    if (p[k].what == tree_operation::cons) {
      step.root = labels.label(p[k].root);
      step.root_score = trace[k].root_score;
    }
    e.steps.push_back(std::move(step));
  }
  return e;
}

}  // namespace triad
