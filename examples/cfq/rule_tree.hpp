// Questions with the rules that derive them, and the names of rules.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "triad/io/text/derivation.hpp"

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

using rule_tree = triad::text::derivation;

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
