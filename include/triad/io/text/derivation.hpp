// The derivation of an example: a tree of rule applications.  The tree is stored in lists, and each rule has a number.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "triad/core/contracts.hpp"

namespace triad::text {

/// A tree.  Its nodes are in pre-order, with children from left to right.  Every list has one entry for each node.
struct derivation {
  std::vector<int> rule;    // the rule's number, from 0
  std::vector<int> parent;  // the index of an earlier node; -1: this node is the root
  std::vector<int> slot;    // the number of the node among the children of its parent, from 0

  int size() const { return static_cast<int>(rule.size()); }

  /// Adds an application of rule `number` as child number `which` of node `below`.  Returns the new node.  `below` must
  /// be -1 for the first node, and only for the first node.
  int add(int number, int below, int which) {
    TRIAD_EXPECTS(below < size() && (below < 0) == rule.empty(),
                  "derivation: node " + std::to_string(size()) + " is a child of " + std::to_string(below) +
                      ", expected " +
                      (rule.empty() ? std::string("-1, the parent of the first node") : "a node before it, from 0 on"));
    rule.push_back(number);
    parent.push_back(below);
    slot.push_back(which);
    return size() - 1;
  }

  std::vector<std::vector<int>> children() const {
    std::vector<std::vector<int>> result(rule.size());
    for (int i = 0; i < size(); ++i)
      if (int const p = parent[static_cast<std::size_t>(i)]; p >= 0) result[static_cast<std::size_t>(p)].push_back(i);
    return result;
  }

  friend bool operator==(derivation const&, derivation const&) = default;
};

}  // namespace triad::text
