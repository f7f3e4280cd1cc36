// How a question was derived: a tree of rule applications, flat, and the names of rules.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace cfq {

/// Names of rules, numbered in the order of their first appearance.
class rule_names {
 public:
  int number(std::string const& name) {
    auto const [at, fresh] = numbers_.try_emplace(name, static_cast<int>(names_.size()));
    if (fresh) names_.push_back(name);
    return at->second;
  }
  std::string const& name(int number) const { return names_[static_cast<std::size_t>(number)]; }
  int size() const { return static_cast<int>(names_.size()); }

 private:
  std::map<std::string, int> numbers_;
  std::vector<std::string> names_;
};

/// Nodes in the order of a reading from the root, children from left to right; every list has one entry a node.
struct rule_tree {
  std::vector<int> rule;    // its number
  std::vector<int> parent;  // a node before it; -1: the root
  std::vector<int> slot;    // which child of its parent it is, from 0

  int size() const { return static_cast<int>(rule.size()); }

  /// The node that this application becomes, as child number `which` of `below`.
  int add(int number, int below, int which) {
    rule.push_back(number), parent.push_back(below), slot.push_back(which);
    return size() - 1;
  }

  std::vector<std::vector<int>> children() const {
    std::vector<std::vector<int>> result(rule.size());
    for (int i = 0; i < size(); ++i)
      if (int const p = parent[static_cast<std::size_t>(i)]; p >= 0) result[static_cast<std::size_t>(p)].push_back(i);
    return result;
  }

  friend bool operator==(rule_tree const&, rule_tree const&) = default;
};

/// A question with what is known of it.
struct annotated_question {
  std::string question, query;  // tokens, one space apart
  rule_tree rules;
  std::vector<int> heads;           // of each token of the question, counted from 1; 0: the root.  Empty: not known
  std::vector<std::string> labels;  // of these dependencies
};

struct corpus {
  rule_names names;
  std::vector<annotated_question> questions;
};

}  // namespace cfq
