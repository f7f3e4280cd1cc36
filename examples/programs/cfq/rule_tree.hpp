// A question with the rules that derive it, and the numbering of rule names.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "shared/data/numbering.hpp"
#include "triad/io/text/derivation.hpp"

namespace triad::programs::cfq {

using rule_names = numbering;  // numbered in the order of their first appearance
using rule_tree = text::derivation;

/// A question with its annotations.
struct annotated_question {
  std::string question, query;  // tokens, separated by single spaces
  rule_tree rules;
  std::vector<int> heads;           // head of each token, from 1; 0: the root; empty: unknown
  std::vector<std::string> labels;  // label of each token's dependency
};

struct corpus {
  rule_names names;
  std::vector<annotated_question> questions;
};

}  // namespace triad::programs::cfq
