// The numbers of words and labels, and sentences by these numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "sentence.hpp"
#include "triad/batches/sentence_loader.hpp"
#include "triad/core/errors.hpp"

namespace cogs {

/// Names in the order of their numbers, from 1; 0 is padding, which nothing in a ragged batch is.
class numbering {
 public:
  numbering() = default;
  explicit numbering(std::vector<std::string> names) {
    for (auto& name : names) add(std::move(name));
  }

  void add(std::string name) {
    if (numbers_.emplace(name, static_cast<int>(names_.size()) + 1).second) names_.push_back(std::move(name));
  }
  /// -1: there is none.
  int find(std::string const& name) const {
    auto const found = numbers_.find(name);
    return found == numbers_.end() ? -1 : found->second;
  }
  std::string const& name(int number) const {
    return number > 0 ? names_.at(static_cast<std::size_t>(number - 1)) : nothing();
  }
  std::vector<std::string> const& names() const { return names_; }
  /// With padding.
  int count() const { return static_cast<int>(names_.size()) + 1; }

 private:
  static std::string const& nothing() {
    static std::string const empty;
    return empty;
  }
  std::vector<std::string> names_;
  std::map<std::string, int> numbers_;
};

/// In the order of first appearance.  The released program's numbers are not known; it counts the words of all files,
/// too.
struct vocabulary {
  numbering tokens, role, category, noun_type, verb;

  void add(tagged_sentence const& s) {
    for (auto const& word : s.tokens) tokens.add(word);
    for (auto const& label : s.role) role.add(label);
    for (auto const& label : s.category) category.add(label);
    for (auto const& label : s.noun_type) noun_type.add(label);
    for (auto const& label : s.verb_name) verb.add(label);
  }
  triad::label_counts labels() const { return {role.count(), category.count(), noun_type.count(), verb.count()}; }
};

inline nlohmann::json to_json(vocabulary const& words) {
  return {{"tokens", words.tokens.names()},
          {"role", words.role.names()},
          {"category", words.category.names()},
          {"noun_type", words.noun_type.names()},
          {"verb", words.verb.names()}};
}

inline vocabulary vocabulary_from(nlohmann::json const& json, std::string const& file) {
  try {
    auto const read = [&](char const* name) { return numbering(json.at(name).get<std::vector<std::string>>()); };
    return {read("tokens"), read("role"), read("category"), read("noun_type"), read("verb")};
  } catch (nlohmann::json::exception const&) {
    throw triad::data_error(file + ": its vocabulary is not one of this program's");
  }
}

/// A sentence by numbers, a root its own parent.  An unknown word is an error; an unknown label is one that no answer
/// can be.
inline std::vector<triad::labelled_token> numbered(tagged_sentence const& s, vocabulary const& words) {
  std::vector<triad::labelled_token> result;
  for (int i = 0; i < s.size(); ++i) {
    auto const at = static_cast<std::size_t>(i);
    int const token = words.tokens.find(s.tokens[at]);
    if (token < 0)
      throw triad::data_error("\"" + s.tokens[at] + "\" is none of the " + std::to_string(words.tokens.count() - 1) +
                              " words that the model knows");
    result.push_back({token, s.parent[at] < 0 ? i : s.parent[at], words.role.find(s.role[at]),
                      words.category.find(s.category[at]), words.noun_type.find(s.noun_type[at]),
                      words.verb.find(s.verb_name[at])});
  }
  return result;
}

}  // namespace cogs
