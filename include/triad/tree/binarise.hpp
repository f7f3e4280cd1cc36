// Turns a tree with any number of children into a binary tree: further nodes hold the children from the second on.
// SPDX-License-Identifier: Apache-2.0
//
//   ( S a b c d )   ->   ( S a ( S|<b-c-d> b ( S|<c-d> c d ) ) )
//
// The label of a further node is the label of its original node, then the labels of the children below the further
// node. nltk's chomsky_normal_form makes the same tree by default, so nltk's un_chomsky_normal_form undoes binarise().
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "triad/core/contracts.hpp"
#include "triad/tree/symbol_tree.hpp"

namespace triad {

/// The same tree with at most two children a node; nodes with fewer stay as they are.  Uses a stack on the heap, so
/// deep trees are safe.  The size of labels grows with the square of a node's children, so bound the number of children
/// in trees from files.  Throws contract_violation if a node lacks a child before its last one.
inline symbol_tree binarise(symbol_tree const& tree) {
  struct step {
    index_t parent, child;  // next: node `child`; or, with a parent, one further node for the parent's children from
                            // `child` on
    bool closes = false;    // next: close the innermost open node instead
  };
  std::vector<step> steps;  // the last step is made first
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
