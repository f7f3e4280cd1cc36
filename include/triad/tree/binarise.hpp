// Turns a tree with any number of children into a binary tree.  If a node has more than two children, an added node
// becomes the parent of the second and later children.
// SPDX-License-Identifier: Apache-2.0
//
//   ( S a b c d )   ->   ( S a ( S|<b-c-d> b ( S|<c-d> c d ) ) )
//
// The label of an added node has two parts: the label of the original node, and the labels of the children below the
// added node.  nltk's chomsky_normal_form makes the same tree by default, so nltk's un_chomsky_normal_form undoes
// binarise().
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "triad/core/contracts.hpp"
#include "triad/tree/symbol_tree.hpp"

namespace triad {

/// Returns the same tree with at most two children for each node.  Nodes with at most two children stay as they are.
/// Deep trees do not overflow the call stack, because the stack of nodes is on the heap.  The total length of the
/// labels grows with the square of a node's number of children, so limit the number of children in trees from files.
/// Throws contract_violation if a node has an unused child number before its last child.
inline symbol_tree binarise(symbol_tree const& tree) {
  struct step {
    // If `parent` is no_node, the step visits node `child`.  Otherwise, it adds a node for the parent's children from
    // `child` on.
    index_t parent, child;
    bool closes = false;  // if true, the step closes the innermost open node, and does nothing else
  };
  std::vector<step> steps;  // a stack: the last step is taken first
  symbol_tree::builder made;
  if (!tree.empty()) steps.push_back({no_node, 0});
  while (!steps.empty()) {
    auto const [parent, child, closes] = steps.back();
    steps.pop_back();
    if (closes) {
      made.close();
      continue;
    }
    bool const further = parent != no_node;
    auto const owner = further ? parent : child;
    auto const first = further ? child : tree.first_child(child);
    auto label = tree.label(owner);
    std::string names;
    index_t children = 0;
    for (auto c = first; c != no_node; c = tree.next_child(owner, c), ++children) {
      TRIAD_EXPECTS(further || tree[c].child_number == children,
                    "binarise: a node has child " + std::to_string(tree[c].child_number) + " without child " +
                        std::to_string(children) + ", expected children without gaps");
      if (further) names += (names.empty() ? "" : "-") + tree.label(c);
    }
    if (further) label += "|<" + names + ">";
    made.open(std::move(label));
    steps.push_back({no_node, no_node, true});
    if (children == 0) continue;
    if (children > 1) {
      auto const second = tree.next_child(owner, first);
      steps.push_back(children == 2 ? step{no_node, second} : step{owner, second});
    }
    steps.push_back({no_node, first});
  }
  return made.finish();
}

}  // namespace triad
