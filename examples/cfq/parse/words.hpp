// The numbers of words and relations, and sentences by these numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "triad/batches/dependency_loader.hpp"
#include "triad/io/json_read.hpp"
#include "triad/io/text/conllu.hpp"
#include "triad/io/text/dictionary.hpp"

namespace dependency {

using triad::index_t;
using triad::text::conllu_sentence;
using triad::text::dictionary;
using sentences = std::vector<conllu_sentence>;

/// The words of the training set, the most frequent first, and its relations in the order of bytes.
class vocabulary {
 public:
  vocabulary() = default;
  vocabulary(dictionary words, std::vector<std::string> relations)
      : words_(std::move(words)), relations_(std::move(relations)) {
    for (std::size_t r = 0; r < relations_.size(); ++r) numbers_.emplace(relations_[r], static_cast<index_t>(r));
  }
  static vocabulary of(sentences const& train, int least_count) {
    triad::text::token_counts counts;
    std::map<std::string, int> relations;
    for (auto const& s : train)
      for (auto const& word : s.words) counts.add(word.form), ++relations[word.relation];
    std::vector<std::string> names;
    for (auto const& [name, count] : relations) names.push_back(name);
    return {dictionary::build(counts, least_count), std::move(names)};
  }

  dictionary const& words() const { return words_; }
  std::vector<std::string> const& relations() const { return relations_; }
  /// -1: there is none of this name.
  index_t relation(std::string const& name) const {
    auto const found = numbers_.find(name);
    return found == numbers_.end() ? -1 : found->second;
  }

 private:
  dictionary words_;
  std::vector<std::string> relations_;
  std::map<std::string, index_t> numbers_;
};

inline nlohmann::json to_json(vocabulary const& v) {
  nlohmann::json tokens = nlohmann::json::array(), counts = tokens;
  for (auto n = dictionary::specials; n < v.words().size(); ++n) {
    tokens.push_back(v.words().token(n));
    counts.push_back(v.words().count(n));
  }
  return {{"tokens", tokens}, {"counts", counts}, {"relations", v.relations()}};
}

inline vocabulary vocabulary_from(nlohmann::json const& json, std::string const& file) {
  std::string reason;
  try {
    auto const tokens = json.at("tokens").get<std::vector<std::string>>();
    auto const counts = triad::json_integers<long long>(json.at("counts"), "counts");
    auto relations = json.at("relations").get<std::vector<std::string>>();
    std::vector<std::pair<std::string, long long>> entries;
    for (std::size_t i = 0; i < std::min(tokens.size(), counts.size()); ++i) entries.emplace_back(tokens[i], counts[i]);
    if (tokens.size() == counts.size() && !relations.empty()) return {dictionary::of(entries), std::move(relations)};
  } catch (nlohmann::json::exception const&) {
  } catch (triad::data_error const& e) {
    reason = std::string(": ") + e.what();
  }
  throw triad::data_error(file + ": its vocabulary is not one of this task's" + reason);
}

/// A sentence by numbers, a root its own parent.  A word that the model does not know is <unk>, a relation is one that
/// no answer can be.
inline std::vector<triad::attached_token> numbered(conllu_sentence const& s, vocabulary const& v) {
  std::vector<triad::attached_token> result;
  for (std::size_t i = 0; i < s.words.size(); ++i) {
    auto const& word = s.words[i];
    result.push_back({v.words().number(word.form),
                      word.head == 0  ? static_cast<index_t>(i)
                      : word.head < 0 ? -1
                                      : word.head - 1,
                      v.relation(word.relation)});
  }
  return result;
}

/// Throws data_error for a word that the model does not know.
inline void expect_known(conllu_sentence const& s, vocabulary const& v) {
  for (auto const& word : s.words)
    if (!v.words().contains(word.form))
      throw triad::data_error("\"" + word.form + "\" is none of the " +
                              std::to_string(v.words().size() - dictionary::specials) +
                              " words that the model knows; with --unknown it is parsed as <unk>");
}

/// "; 3 unknown words, such as 'bee'; 1 unknown relation, such as 'dep'", or nothing.
inline std::string unknown_in(sentences const& all, vocabulary const& v) {
  struct unknown {
    long long count = 0;
    std::string first{};

    void add(std::string const& name) {
      if (count++ == 0) first = name;
    }
    std::string told(char const* what) const {
      return count == 0 ? std::string()
                        : "; " + std::to_string(count) + " unknown " + what + (count == 1 ? "" : "s") + ", such as '" +
                              first + "'";
    }
  };
  unknown words, relations;
  for (auto const& s : all)
    for (auto const& word : s.words) {
      if (!v.words().contains(word.form)) words.add(word.form);
      if (!word.relation.empty() && v.relation(word.relation) < 0) relations.add(word.relation);
    }
  return words.told("word") + relations.told("relation");
}

inline int longest_of(sentences const& all) {
  std::size_t most = 1;
  for (auto const& s : all) most = std::max(most, s.words.size());
  return static_cast<int>(most);
}

}  // namespace dependency
