// Programs of car, cdr and cons on trees of symbols: read off a machine's choices, and run without it.
// SPDX-License-Identifier: Apache-2.0
//
//   T0 = the input;  step k writes T(k+1) = car T | cdr T | cons root T T' of any trees before it;  the last tree is
//     the result
//
// A machine's choices are weights.  Its program takes the largest: that is one for every input, and the weights may
// differ by input, so may the programs.  Steps that the result does not depend on are left out of the program's text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "trace.hpp"
#include "triad/core/contracts.hpp"
#include "triad/tree/vocabulary.hpp"

namespace tree_transforms {

struct instruction {
  operation what = operation::car;
  index_t from = 0, right = 0;  // numbers of trees: the argument, or both of cons
  index_t root = 0;             // label of cons
  bool operator==(instruction const&) const = default;

  /// The tree that an argument names.
  index_t tree(argument a) const { return a == argument::right ? right : from; }
};

using program = std::vector<instruction>;

/// The child of that number, the empty tree where there is none.
inline numbered_tree child_of(numbered_tree const& tree, index_t child_number) {
  return tree.empty() ? numbered_tree() : tree.subtree(tree.child(0, child_number));
}

/// Without what lies deeper than `depth` (a root alone has depth 1), as roles of that depth lose it.
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

/// What one step writes, of the trees before it.
inline numbered_tree execute(instruction const& step, std::vector<numbered_tree> const& memory, index_t depth) {
  auto const& from = memory[static_cast<std::size_t>(step.from)];
  if (step.what != operation::cons) return child_of(from, step.what == operation::car ? 0 : 1);
  return cut(numbered_tree(step.root, {from, memory[static_cast<std::size_t>(step.right)]}), depth);
}

/// All trees of a run, the input first and the result last.
inline std::vector<numbered_tree> execute(program const& p, numbered_tree const& input, index_t depth) {
  std::vector<numbered_tree> memory{input};
  for (auto const& step : p) memory.push_back(execute(step, memory, depth));
  return memory;
}

/// The likeliest choices.
inline program likeliest(trace const& said) {
  program p;
  for (auto const& step : said) {
    instruction next;
    next.what = step.most_likely();
    auto const arguments = arguments_of(next.what);
    next.from = step.most_likely(arguments.front());
    next.right = next.what == operation::cons ? step.most_likely(argument::right) : 0;
    next.root = next.what == operation::cons ? step.root : 0;
    p.push_back(next);
  }
  return p;
}

/// Of every step: whether the result depends on it.
inline std::vector<bool> needed(program const& p) {
  std::vector<bool> wanted(p.size() + 1);
  wanted.back() = true;
  for (auto k = p.size(); k-- > 0;) {
    if (!wanted[k + 1]) continue;
    for (auto const a : arguments_of(p[k].what)) wanted[static_cast<std::size_t>(p[k].tree(a))] = true;
  }
  return {wanted.begin() + 1, wanted.end()};
}

/// The weight of an argument's tree, and of all that are the same tree in `memory`: choosing among equal trees is no
/// doubt.
inline double certainty(traced_step const& step, argument a, index_t chosen, std::vector<numbered_tree> const& memory) {
  double sum = 0;
  for (std::size_t l = 0; l < step.arguments.size(); ++l)
    if (memory[l] == memory[static_cast<std::size_t>(chosen)]) sum += step.weight(a, static_cast<index_t>(l));
  return sum;
}

/// The smallest weight of all choices of needed steps; memory: execute(p, input, depth).
inline double certainty(trace const& said, program const& p, std::vector<numbered_tree> const& memory) {
  TRIAD_EXPECTS(said.size() == p.size() && memory.size() == p.size() + 1,
                "certainty: a trace, its program and its trees belong together");
  auto const wanted = needed(p);
  double least = 1;
  for (std::size_t k = 0; k < p.size(); ++k) {
    if (!wanted[k]) continue;
    least = std::min(least, said[k].weight(p[k].what));
    for (auto const a : arguments_of(p[k].what)) least = std::min(least, certainty(said[k], a, p[k].tree(a), memory));
  }
  return least;
}

/// One step as text: "CONS LF T3 T1"; name(tree number).
template <class Name>
std::string to_text(instruction const& step, triad::vocabulary const& labels, Name&& name) {
  std::string text = name_of(step.what);
  if (step.what == operation::cons) text += " " + labels.label(step.root);
  for (auto const a : arguments_of(step.what)) text += " " + name(step.tree(a));
  return text;
}

/// The needed steps, their trees numbered anew: "T1 = CDR T0; T2 = CONS LF T1 T0".
inline std::string to_text(program const& p, triad::vocabulary const& labels) {
  auto const wanted = needed(p);
  std::vector<index_t> number(p.size() + 1);
  index_t next = 0;
  std::string text;
  auto const name = [&](index_t tree) { return "T" + std::to_string(number[static_cast<std::size_t>(tree)]); };
  for (std::size_t k = 0; k < p.size(); ++k) {
    if (!wanted[k]) continue;
    number[k + 1] = ++next;
    text += (text.empty() ? "" : "; ") + name(static_cast<index_t>(k + 1)) + " = " + to_text(p[k], labels, name);
  }
  return text;
}

}  // namespace tree_transforms
