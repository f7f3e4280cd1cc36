// Programs of car, cdr and cons, and their execution on trees of symbols, without a network.
// SPDX-License-Identifier: Apache-2.0
//
//   T0 = the input;  step k writes T(k+1) = car T | cdr T | cons root T T', where T and T' are any earlier trees or
//     the empty tree, no_tree;  the last tree is the result
//
// The text of a program leaves out the steps that the result does not depend on.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "triad/core/contracts.hpp"
#include "triad/tree/symbol_tree.hpp"
#include "triad/tree/vocabulary.hpp"

namespace triad {

/// The operation that a step applies.
enum class tree_operation { car, cdr, cons };

/// The name of an operation: CAR, CDR or CONS.
constexpr char const* name_of(tree_operation o) {
  constexpr std::array<char const*, 3> names{"CAR", "CDR", "CONS"};
  return names[static_cast<std::size_t>(o)];
}

/// The arguments of all operations.  car and cdr have one argument each.  cons has the arguments `left` and `right`.
enum class tree_argument { car, cdr, left, right };

/// Returns the arguments of an operation.
inline std::span<tree_argument const> arguments_of(tree_operation o) {
  static constexpr std::array<tree_argument, 4> all{tree_argument::car, tree_argument::cdr, tree_argument::left,
                                                    tree_argument::right};
  if (o == tree_operation::cons) return std::span(all).subspan(2, 2);
  return std::span(all).subspan(o == tree_operation::car ? 0 : 1, 1);
}

/// The number of the empty tree, which is not stored in memory.  Programs print the empty tree as <empty>.
inline constexpr index_t no_tree = -1;

/// One step of a program.
struct tree_instruction {
  tree_operation what = tree_operation::car;
  index_t from = 0, right = 0;  // tree numbers: `from` is the only or left argument, `right` the right one
  index_t root = 0;             // the label that cons gives the root
  bool operator==(tree_instruction const&) const = default;

  /// Returns the number of the tree that the step takes as argument `a`.
  index_t tree(tree_argument a) const { return a == tree_argument::right ? right : from; }
};

/// The steps of a program, in order.
using tree_program = std::vector<tree_instruction>;

/// Returns the subtree of the root's child with number `child_number`, or the empty tree if the root has no such child.
inline numbered_tree child_of(numbered_tree const& tree, index_t child_number) {
  return tree.empty() ? numbered_tree() : tree.subtree(tree.child(0, child_number));
}

/// Returns the tree without the nodes deeper than `depth`.  A root alone has depth 1.  Tensor trees of depth `depth`
/// drop the same nodes.
inline numbered_tree cut(numbered_tree const& tree, index_t depth) {
  if (tree.depth() <= depth) return tree;
  numbered_tree::builder made;
  tree.walk([&](index_t at, index_t, index_t level) {
    if (level >= depth) return;
    while (made.level() > level) made.close();
    made.open(tree.label(at), tree[at].child_number);
  });
  while (made.level() > 0) made.close();
  return made.finish();
}

/// Returns the tree that one step writes.  `memory` has the input and the trees that earlier steps wrote.  Throws
/// contract_violation if the step refers to a tree that is not in `memory`.
inline numbered_tree execute(tree_instruction const& step, std::vector<numbered_tree> const& memory, index_t depth) {
  auto const tree = [&](tree_argument a) -> numbered_tree const& {
    static numbered_tree const empty;
    auto const number = step.tree(a);
    if (number == no_tree) return empty;
    TRIAD_EXPECTS(number >= 0 && number < static_cast<index_t>(memory.size()),
                  "tree_program: a step names tree " + std::to_string(number) + ", expected 0 to " +
                      std::to_string(memory.size() - 1));
    return memory[static_cast<std::size_t>(number)];
  };
  if (step.what != tree_operation::cons)
    return child_of(tree(tree_argument::left), step.what == tree_operation::car ? 0 : 1);
  return cut(numbered_tree(step.root, {tree(tree_argument::left), tree(tree_argument::right)}), depth);
}

/// Runs a program and returns all trees: first the input, then the tree that each step writes.  The last tree is the
/// result.  cons drops nodes deeper than `depth`, the depth of the roles.
inline std::vector<numbered_tree> execute(tree_program const& p, numbered_tree const& input, index_t depth) {
  std::vector<numbered_tree> memory{input};
  for (auto const& step : p) memory.push_back(execute(step, memory, depth));
  return memory;
}

/// Returns, for every step, whether the result of the program depends on the step.
inline std::vector<bool> needed(tree_program const& p) {
  std::vector<bool> wanted(p.size() + 1);
  wanted.back() = true;
  for (auto k = p.size(); k-- > 0;) {
    if (!wanted[k + 1]) continue;
    for (auto const a : arguments_of(p[k].what)) {
      index_t const tree = p[k].tree(a);
      if (tree == no_tree) continue;
      TRIAD_EXPECTS(tree >= 0 && tree <= static_cast<index_t>(k),
                    "tree_program: step " + std::to_string(k + 1) + " names tree " + std::to_string(tree) +
                        ", expected 0 to " + std::to_string(k) + ", the trees before it");
      wanted[static_cast<std::size_t>(tree)] = true;
    }
  }
  return {wanted.begin() + 1, wanted.end()};
}

/// Returns one step as text: "CONS LF T3 T1". Calls name(tree number) for the name of every tree except no_tree.
template <class Name>
std::string to_text(tree_instruction const& step, vocabulary const& labels, Name&& name) {
  std::string text = name_of(step.what);
  if (step.what == tree_operation::cons) text.append(" ").append(labels.label(step.root));
  for (auto const a : arguments_of(step.what)) {
    auto const tree = step.tree(a);
    text.append(" ").append(tree == no_tree ? std::string(empty_label) : name(tree));
  }
  return text;
}

/// Returns the needed steps as text, and numbers their trees from 1: "T1 = CDR T0; T2 = CONS LF T1 <empty>".
inline std::string to_text(tree_program const& p, vocabulary const& labels) {
  auto const wanted = needed(p);
  std::vector<index_t> number(p.size() + 1);
  index_t next = 0;
  std::string text;
  auto const name = [&](index_t tree) {
    std::string called = "T";
    return called += std::to_string(number[static_cast<std::size_t>(tree)]);
  };
  for (std::size_t k = 0; k < p.size(); ++k) {
    if (!wanted[k]) continue;
    number[k + 1] = ++next;
    text += (text.empty() ? "" : "; ") + name(static_cast<index_t>(k + 1)) + " = " + to_text(p[k], labels, name);
  }
  return text;
}

}  // namespace triad
