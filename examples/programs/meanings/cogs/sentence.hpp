// A sentence and its graph. Each token has a parent, a label of the edge from the parent, and its own labels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace triad::programs::cogs {

/// All lists have one entry for each token; "" means that the token has no such label.
struct tagged_sentence {
  std::vector<std::string> tokens;
  std::vector<int> parent;        // index of a token; -1 for a root
  std::vector<std::string> role;  // of the edge from the parent: agent, theme, recipient, xcomp, ccomp, PREP, PP_NOUN
  std::vector<std::string> category;   // PNOUN, CNOUN, VERB
  std::vector<std::string> noun_type;  // DEF, INDEF
  std::vector<std::string> verb_name;  // the lemma
  std::string distribution;            // kind of example

  tagged_sentence() = default;
  tagged_sentence(std::vector<std::string> words, std::string kind)
      : tokens(std::move(words)),
        parent(tokens.size(), -1),
        role(tokens.size()),
        category(tokens.size()),
        noun_type(tokens.size()),
        verb_name(tokens.size()),
        distribution(std::move(kind)) {}

  int size() const { return static_cast<int>(tokens.size()); }
  friend bool operator==(tagged_sentence const&, tagged_sentence const&) = default;
};

}  // namespace triad::programs::cogs
