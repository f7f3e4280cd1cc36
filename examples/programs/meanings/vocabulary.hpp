// The names that a model knows: words, relations of edges, labels of nodes and labels of graphs.  Also which tokens are
// queried, because they may be nodes.
// SPDX-License-Identifier: Apache-2.0
//
// A model has one column for each queried token, and one for each slot.  If every word of the training set either
// always is a node or never is one, tokens are queried by word: only the words that are nodes are queried, and each of
// them is a node.  Otherwise every token is queried, and the model's answer says which tokens are nodes.
//
// A node that is a span is queried at its last token.  Two kinds of labels are internal, and are in no graph:
//   (k tokens)   the node is a span of k tokens; nodes of one token do not have it
//   (node)       the token or slot is a node, although it has no edge and no label; other nodes do not have it
//
// With `look_up`, a label is decided by words if every word of the training set either has it wherever the word is a
// node, or never has it, and if no slot has it.  A model does not learn such a label.  Wherever a word is a node, its
// labels of this sort are looked up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "meaning.hpp"
#include "shared/data/dictionary_json.hpp"
#include "shared/data/numbering.hpp"
#include "shared/report/refuse.hpp"
#include "triad/core/errors.hpp"
#include "triad/core/mdspan.hpp"
#include "triad/io/json_read.hpp"
#include "triad/io/text/dictionary.hpp"

namespace triad::programs::meanings {

using text::dictionary;

/// Returns true if a token has the form of a pattern.  In a pattern, # stands for one digit or more: M# matches M0 and
/// M12.
inline bool matches(std::string_view pattern, std::string_view token) {
  auto const mark = pattern.find('#');
  if (mark == std::string_view::npos) return pattern == token;
  auto const before = pattern.substr(0, mark), after = pattern.substr(mark + 1);
  if (token.size() <= before.size() + after.size() || !token.starts_with(before) || !token.ends_with(after))
    return false;
  auto const digits = token.substr(before.size(), token.size() - before.size() - after.size());
  return std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
}

class vocabulary {
 public:
  vocabulary() = default;

  /// Collects the names of the rows that are not left out.  `least_count` is the least number of times that a word of
  /// the dictionary occurs.  Tokens of the form of a pattern are one word to the model: the pattern.  If `look_up` is
  /// true, labels that words decide are looked up.
  static vocabulary of(std::vector<given_row> const& train, int least_count = 1, std::vector<std::string> patterns = {},
                       bool look_up = false) {
    vocabulary v;
    v.patterns_ = std::move(patterns);
    text::token_counts counts;
    std::set<std::string> relations, labels, graph_labels;
    std::set<int> spans;
    for (auto const& row : train) {
      if (!row.left_out.empty()) continue;
      auto const& m = row.graph;
      for (auto const& token : m.tokens) counts.add(v.spelt(token));
      for (auto const& e : m.edges) relations.insert(e.label);
      for (auto const& of_node : m.node_labels) labels.insert(of_node.begin(), of_node.end());
      graph_labels.insert(m.label);
      for (auto const& n : m.nodes)
        if (!n.is_slot && n.size() > 1) spans.insert(n.size());
    }
    v.words_ = dictionary::build(counts, least_count);
    for (auto const& name : relations) v.relations_.add(name);
    v.looks_up_ = look_up;
    if (look_up) v.choose_looked_up(train, labels);
    for (auto const& name : labels)
      if (!v.looked_up_.contains(name)) v.labels_.add(name);
    if (graph_labels != std::set<std::string>{""})
      for (auto const& name : graph_labels) v.graph_labels_.add(name);
    v.spans_.assign(spans.begin(), spans.end());
    v.choose_queried(train);
    v.isolated_ = std::any_of(train.begin(), train.end(), [&](given_row const& row) {
      auto const alone = v.alone_in(row.graph);
      for (std::size_t i = 0; i < alone.size(); ++i)
        if (alone[i] && !v.is_certain(row.graph, row.graph.nodes[i])) return true;
      return false;
    });
    return v;
  }
  static vocabulary from(nlohmann::json const& json, std::string const& file);
  friend nlohmann::json to_json(vocabulary const& v);

  dictionary const& words() const { return words_; }
  std::vector<std::string> const& relations() const { return relations_.names(); }
  /// The labels of nodes that a model learns, without internal labels.
  std::vector<std::string> const& labels() const { return labels_.names(); }
  std::vector<std::string> const& graph_labels() const { return graph_labels_.names(); }
  std::vector<std::string> const& patterns() const { return patterns_; }
  bool by_word() const { return by_word_; }
  /// The labels that words decide.  No model learns them.
  std::set<std::string> const& looked_up() const { return looked_up_; }
  /// The labels that a word decides, in ascending order.  The number -1, for a slot, has none.
  std::vector<std::string> const& labels_of_word(index_t word) const {
    static std::vector<std::string> const none;
    auto const found = of_word_.find(word);
    return found == of_word_.end() ? none : found->second;
  }

  /// Returns the number of a token's word.  A token that is spelt like a special token, such as <pad>, is unknown.
  index_t word(std::string const& token) const {
    return std::max<index_t>(words_.number(spelt(token)), dictionary::unknown);
  }
  /// These return the number of a name; -1 if the training set does not have it.
  index_t relation(std::string_view name) const { return relations_.find(name); }
  index_t graph_label(std::string_view name) const { return graph_labels_.find(name); }
  /// The labels of nodes, including internal labels, have numbers from 0 to label_count() - 1.
  index_t label(std::string_view name) const {
    auto const found = labels_.find(name);
    return found < 0 ? -1 : internal_labels() + found;
  }
  index_t label_of_isolated() const { return isolated_ ? 0 : -1; }
  index_t label_of_span(int tokens) const {
    auto const found = std::find(spans_.begin(), spans_.end(), tokens);
    return found == spans_.end() ? -1 : (isolated_ ? 1 : 0) + (found - spans_.begin());
  }
  index_t internal_labels() const { return (isolated_ ? 1 : 0) + static_cast<index_t>(spans_.size()); }
  index_t label_count() const { return internal_labels() + labels_.size(); }
  /// Returns the number of tokens that an internal label stands for; 0 for other labels.
  int tokens_of_label(index_t label) const {
    index_t const at = label - (isolated_ ? 1 : 0);
    return at >= 0 && at < static_cast<index_t>(spans_.size()) ? spans_[static_cast<std::size_t>(at)] : 0;
  }
  /// Returns the name of a label for people.  The names of internal labels are in parentheses.
  std::string label_name(index_t label) const {
    if (label == label_of_isolated()) return "(node)";
    if (int const tokens = tokens_of_label(label); tokens > 0) return fmt::format("({} tokens)", tokens);
    return labels_.name(static_cast<int>(label - internal_labels()));
  }

  /// Returns whether tokens of this word are queried.  If tokens are queried by word, words that the training set does
  /// not have are queried too, since a new word may be a name.
  bool queries(index_t word) const { return !by_word_ || queried_.count(word) != 0; }
  /// Returns whether every token of this word is a node.  A token that is an unknown word is a node only if it has an
  /// edge or a label, unless all words of the training set are nodes.
  bool always_node(index_t word) const {
    return by_word_ && queried_.count(word) != 0 && (word != dictionary::unknown || every_word_is_a_node());
  }

  /// For each node of a graph: whether it has neither an edge nor a label that a model learns.
  std::vector<bool> alone_in(meaning const& m) const {
    std::vector<bool> alone(m.nodes.size(), true);
    for (auto const& e : m.edges)
      alone[static_cast<std::size_t>(e.from)] = alone[static_cast<std::size_t>(e.to)] = false;
    for (std::size_t i = 0; i < alone.size(); ++i)
      for (auto const& label : m.node_labels[i])
        if (!looked_up_.contains(label)) alone[i] = false;
    return alone;
  }
  /// Returns whether a node is in the graph whatever edges and labels the graph has.  A span also needs its label.
  bool is_certain(meaning const& m, node const& n) const {
    if (n.is_slot) return false;
    return n.size() > 1 || always_node(word(m.tokens[static_cast<std::size_t>(n.last)]));
  }

 private:
  std::string const& spelt(std::string const& token) const {
    auto const found =
        std::find_if(patterns_.begin(), patterns_.end(), [&](auto const& pattern) { return matches(pattern, token); });
    return found == patterns_.end() ? token : *found;
  }

  bool every_word_is_a_node() const {
    return static_cast<index_t>(queried_.size()) == words_.size() - dictionary::specials + 1;  // 1: unknown words
  }

  void choose_queried(std::vector<given_row> const& train) {
    std::set<index_t> nodes, others;
    for (auto const& row : train) {
      if (!row.left_out.empty()) continue;
      std::vector<bool> is_node(row.graph.tokens.size());
      for (auto const& n : row.graph.nodes)
        if (!n.is_slot) is_node[static_cast<std::size_t>(n.last)] = true;
      for (std::size_t i = 0; i < is_node.size(); ++i) (is_node[i] ? nodes : others).insert(word(row.graph.tokens[i]));
    }
    by_word_ = std::none_of(nodes.begin(), nodes.end(), [&](index_t n) { return others.count(n) != 0; });
    if (!by_word_) return;
    queried_ = std::move(nodes);
    if (others.count(dictionary::unknown) == 0) queried_.insert(dictionary::unknown);
  }

  /// Finds the labels, of `all` labels of nodes, that words decide.
  void choose_looked_up(std::vector<given_row> const& train, std::set<std::string> const& all) {
    std::map<index_t, int> nodes_of_word;
    std::map<std::string, std::map<index_t, int>> counts;  // of each label: how many nodes of a word have it
    constexpr index_t slot = -1;
    for (auto const& row : train) {
      if (!row.left_out.empty()) continue;
      auto const& m = row.graph;
      for (std::size_t i = 0; i < m.nodes.size(); ++i) {
        auto const& n = m.nodes[i];
        index_t const of = n.is_slot ? slot : word(m.tokens[static_cast<std::size_t>(n.last)]);
        ++nodes_of_word[of];
        for (auto const& label : m.node_labels[i]) ++counts[label][of];
      }
    }
    for (auto const& label : all) {
      auto const& count = counts[label];
      if (std::any_of(count.begin(), count.end(),
                      [&](auto const& of) { return of.first == slot || of.second != nodes_of_word[of.first]; }))
        continue;
      looked_up_.insert(label);
      for (auto const& [of, times] : count) of_word_[of].push_back(label);
    }
  }

  /// Reads the labels that words decide from a checkpoint.  Throws data_error, or an exception of the JSON library.
  void read_looked_up(nlohmann::json const& list) {
    index_t least = dictionary::unknown;
    for (auto const& one : list) {
      auto const word = json_integer<index_t>(one.at("word"), "word_labels, word");
      if (word < least || word >= words_.size())
        throw data_error(fmt::format("word_labels: found the word {}, expected {} to {}, ascending", word, least,
                                     words_.size() - 1));
      least = word + 1;
      auto labels = one.at("labels").get<std::vector<std::string>>();
      if (labels.empty() || labels.front().empty() ||
          std::adjacent_find(labels.begin(), labels.end(), std::greater_equal<>()) != labels.end())
        throw data_error(
            fmt::format("word_labels: the labels of the word {} are not sorted, or one of them is empty or "
                        "there twice; expected one or more, ascending",
                        word));
      looked_up_.insert(labels.begin(), labels.end());
      of_word_[word] = std::move(labels);
    }
    for (auto const& label : looked_up_)
      if (labels_.find(label) >= 0) throw data_error("word_labels: the model also learns the label " + label);
  }

  dictionary words_;
  numbering relations_, labels_, graph_labels_;
  std::vector<std::string> patterns_;
  std::vector<int> spans_;  // the numbers of tokens of spans, ascending
  bool isolated_ = false;   // there is an internal label (node)
  bool by_word_ = false;
  bool looks_up_ = false;
  std::set<index_t> queried_;                            // if tokens are queried by word: the words that are queried
  std::set<std::string> looked_up_;                      // the labels that words decide
  std::map<index_t, std::vector<std::string>> of_word_;  // the labels that each word decides
};

inline nlohmann::json to_json(vocabulary const& v) {
  auto json = dictionary_json(v.words_);
  json["relations"] = v.relations();
  json["labels"] = v.labels();
  json["graph_labels"] = v.graph_labels();
  json["patterns"] = v.patterns_;
  json["spans"] = v.spans_;
  json["isolated"] = v.isolated_;
  if (v.looks_up_) {
    json["word_labels"] = nlohmann::json::array();
    for (auto const& [word, labels] : v.of_word_) json["word_labels"].push_back({{"word", word}, {"labels", labels}});
  }
  if (v.by_word_) json["queried"] = std::vector<index_t>(v.queried_.begin(), v.queried_.end());
  return json;
}

inline vocabulary vocabulary::from(nlohmann::json const& json, std::string const& file) {
  std::string reason;
  try {
    vocabulary v;
    v.words_ = dictionary_from(json);
    read_names(json, file, {{"relations", &v.relations_}, {"labels", &v.labels_}, {"graph_labels", &v.graph_labels_}});
    v.patterns_ = json.at("patterns").get<std::vector<std::string>>();
    v.spans_ = json_integers<int>(json.at("spans"), "spans");
    for (std::size_t i = 0; i < v.spans_.size(); ++i)
      if (int const least = i == 0 ? 2 : v.spans_[i - 1] + 1; v.spans_[i] < least)
        throw data_error(fmt::format("spans: found {}, expected {} or more", v.spans_[i], least));
    v.isolated_ = json.at("isolated").get<bool>();
    v.by_word_ = json.contains("queried");
    if (v.by_word_)
      for (index_t const word : json_integers<index_t>(json.at("queried"), "queried")) v.queried_.insert(word);
    v.looks_up_ = json.contains("word_labels");
    if (v.looks_up_) v.read_looked_up(json.at("word_labels"));
    return v;
  } catch (nlohmann::json::exception const&) {
  } catch (data_error const& e) {
    reason = std::string(": ") + e.what();
  }
  refuse("{}: its vocabulary is not one of this program's{}", file, reason);
}

}  // namespace triad::programs::meanings
