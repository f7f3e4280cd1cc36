// A program that converts a sentence to its logical form, and choices of a machine from which this program is
// extracted, for tests.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "triad/tree/program.hpp"
#include "triad/tree/program_trace.hpp"
#include "triad/tree/s_expression.hpp"
#include "triad/tree/vocabulary.hpp"

namespace triad::test {

/// Converts trees as text to trees of numbers. All trees share one vocabulary.
struct words {
  vocabulary labels;
  numbered_tree number(std::string const& text) {
    auto const tree = parse_tree(text);
    labels.insert(tree);
    return labels.number(tree);
  }
  std::string text(numbered_tree const& tree) const { return to_text(labels.label(tree)); }
};

/// Returns a step with weight 1 - `doubt` for one operation and weight `doubt` for another. Its arguments have weight
/// 1.
inline traced_step chosen(tree_instruction const& i, index_t trees, double doubt = 0) {
  traced_step step;
  step.operations[static_cast<std::size_t>(i.what)] = 1 - doubt;
  step.operations[i.what == tree_operation::car ? 1 : 0] = doubt;
  step.arguments.resize(static_cast<std::size_t>(trees));
  for (auto const a : {tree_argument::car, tree_argument::cdr, tree_argument::left, tree_argument::right}) {
    if (i.tree(a) == no_tree && !step.empty) step.empty.emplace();
    (i.tree(a) == no_tree ? *step.empty
                          : step.arguments[static_cast<std::size_t>(i.tree(a))])[static_cast<std::size_t>(a)] = 1;
  }
  step.root = i.root;
  step.root_score = 1;
  return step;
}

inline tree_trace chosen(tree_program const& p) {
  tree_trace trace;
  for (auto const& i : p) trace.push_back(chosen(i, static_cast<index_t>(trace.size()) + 1));
  return trace;
}

/// Returns the program from ( S A ( VP V B ) ) to ( LF V ( ARGS A B ) ). One of its steps is not needed.
inline tree_program to_logical_form(words& w) {
  auto const args = w.labels.insert("ARGS"), form = w.labels.insert("LF");
  return {{tree_operation::cdr, 0, 0, 0},       // T1 ( VP V B )
          {tree_operation::car, 0, 0, 0},       // T2 A
          {tree_operation::car, 1, 0, 0},       // T3 V
          {tree_operation::cons, 3, 3, form},   // T4 not needed
          {tree_operation::cdr, 1, 0, 0},       // T5 B
          {tree_operation::cons, 2, 5, args},   // T6
          {tree_operation::cons, 3, 6, form}};  // T7
}

}  // namespace triad::test
