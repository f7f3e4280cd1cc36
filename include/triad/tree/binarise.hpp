// Trees of any number of children as binary trees: further nodes hold the children from the second on.
// SPDX-License-Identifier: Apache-2.0
//
//   ( S a b c d )   ->   ( S a ( S|<b-c-d> b ( S|<c-d> c d ) ) )
//
// The label of a further node is that of the node, then the labels of the children that are below it: what nltk's
// chomsky_normal_form makes where nothing else is said, so that its un_chomsky_normal_form gives the tree back.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "triad/core/contracts.hpp"
#include "triad/tree/symbol_tree.hpp"

namespace triad {

/// The same tree with two children a node at most; nodes of fewer stay as they are.  Takes no deep stack.  Labels grow
/// with the square of a node's children: bound these where trees come from files.  Throws contract_violation where a
/// node has no child of a number below another's.
inline symbol_tree binarise(symbol_tree const& tree) {
  struct step {
    index_t parent, child;  // what is made: the node `child`; or, with a parent, its children from that one on, as one
    bool closes = false;    // instead: the innermost open node is closed
  };
  std::vector<step> steps;  // the last comes first
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
