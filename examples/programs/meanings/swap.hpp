// Replaces a phrase of a training sentence by a phrase of another one: both the words and their part of the graph.
// SPDX-License-Identifier: Apache-2.0
//
//   The fox saw the cup that Ada cleaned .        phrases: The fox; the cup that Ada cleaned; Ada
//   saw --agent--> fox   saw --theme--> cup   cup --nmod--> cleaned   cleaned --agent--> Ada   cleaned --theme--> cup
//
// A phrase is a node that is no slot, its head, with all nodes that can be reached from the head over edges, if:
//
//   - one edge or more enters the head from a node outside, and no such edge enters another node of the phrase
//   - no node of the phrase is a slot
//   - no node outside has a token of the phrase.  The tokens go from the head to the last token of a reached node.
//     Before the head, they include the phrase words, such as `the`, that directly precede it
//   - no token is a question word, such as `who`
//
// A swap replaces the tokens, the nodes with their labels, and the edges between them.  The edges that enter the old
// head enter the new head instead, and keep their labels.  A phrase is replaced only by a phrase of the same kind,
// which is the kind of the edges that enter it (edge_kinds).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "meaning.hpp"
#include "numbered.hpp"
#include "shared/cli/list_items.hpp"
#include "shared/cli/number_checks.hpp"
#include "shared/run/phrase_pool.hpp"
#include "triad/core/random.hpp"
#include "triad/io/text/characters.hpp"
#include "vocabulary.hpp"

namespace triad::programs::meanings {

/// Returns the word with lower-case letters.  Changes only the letters A to Z.
inline std::string in_lower_case(std::string word) {
  for (char& c : word)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return word;
}

/// The check of an option whose value is a list of words, or `none`.
inline number_check const some_words{
    "WORD,...", [](std::string const& list) {
      for (auto const& word : list_items(list))
        if (word.empty() || text::words(word).size() != 1 || text::words(word)[0] != word)
          return "\"" + word + "\" is not a word; give words with commas between, or none";
      return std::string();
    }};
/// Returns the words of such a list in lower case.
inline std::set<std::string> words_in(std::string const& list) {
  std::set<std::string> words;
  if (list == "none") return words;
  for (auto& word : list_items(list)) words.insert(in_lower_case(std::move(word)));
  return words;
}

/// Knowledge about the language of the sentences.  The words are in lower case, and words of sentences are compared
/// with them without case.
struct swap_words {
  std::set<std::string> phrase{"a", "an", "the"};  // they belong to the phrase whose head they precede
  std::set<std::string> question{"who", "what"};   // no phrase has one of them

  bool is_phrase_word(std::string const& word) const { return phrase.contains(in_lower_case(word)); }
  bool is_question_word(std::string const& word) const { return question.contains(in_lower_case(word)); }
};

/// The tokens `first` to `last` of a sentence, and the nodes in them.
struct phrase {
  int head = 0;              // the only node that edges from outside enter
  int first = 0, last = 0;   // both included
  std::vector<int> nodes{};  // with the head; ascending

  int size() const { return last - first + 1; }
  friend bool operator==(phrase const&, phrase const&) = default;
};

namespace detail {

using arguments = std::vector<std::vector<int>>;  // of each node: the nodes that its edges enter

inline std::optional<phrase> phrase_of(meaning const& m, arguments const& out, int head, swap_words const& words) {
  auto const at = [](int i) { return static_cast<std::size_t>(i); };
  auto const& own = m.nodes[at(head)];
  if (own.is_slot) return std::nullopt;
  phrase p{head, own.first, own.last, {head}};
  while (p.first > 0 && words.is_phrase_word(m.tokens[at(p.first - 1)])) --p.first;
  std::vector<bool> inside(m.nodes.size());
  inside[at(head)] = true;
  for (std::size_t i = 0; i < p.nodes.size(); ++i)
    for (int const to : out[at(p.nodes[i])]) {
      if (inside[at(to)]) continue;
      auto const& n = m.nodes[at(to)];
      if (n.is_slot || n.first < p.first) return std::nullopt;
      inside[at(to)] = true;
      p.nodes.push_back(to);
      p.last = std::max(p.last, n.last);
    }
  for (std::size_t i = 0; i < m.nodes.size(); ++i) {
    auto const& n = m.nodes[i];
    if (!inside[i] && !n.is_slot && n.last >= p.first && n.first <= p.last) return std::nullopt;
  }
  bool entered = false;
  for (auto const& e : m.edges) {
    if (inside[at(e.from)] || !inside[at(e.to)]) continue;
    if (e.to != head) return std::nullopt;
    entered = true;
  }
  if (!entered) return std::nullopt;
  for (int i = p.first; i <= p.last; ++i)
    if (words.is_question_word(m.tokens[at(i)])) return std::nullopt;
  std::sort(p.nodes.begin(), p.nodes.end());
  return p;
}

}  // namespace detail

/// Returns the phrases of a sentence, in the order of their heads in the list of nodes.
inline std::vector<phrase> phrases_of(meaning const& m, swap_words const& words) {
  detail::arguments out(m.nodes.size());
  for (auto const& e : m.edges) out[static_cast<std::size_t>(e.from)].push_back(e.to);
  std::vector<phrase> all;
  for (int i = 0; i < static_cast<int>(m.nodes.size()); ++i)
    if (auto p = detail::phrase_of(m, out, i, words)) all.push_back(std::move(*p));
  return all;
}

/// Returns the sentence with its phrase `place` replaced by the phrase `given` of another sentence, in canonical order.
/// Only the first word of the new phrase may change its case, and only if it is a phrase word: as the first word of the
/// sentence, it is capitalised if the replaced word was; a word that was the first of its sentence and no longer is
/// gets a lower-case letter.
inline meaning with_phrase(meaning const& m, phrase const& place, meaning const& other, phrase const& given,
                           swap_words const& words) {
  meaning r;
  r.label = m.label;
  r.kind = m.kind;
  auto const copy = [&](meaning const& from, int first, int last) {
    r.tokens.insert(r.tokens.end(), from.tokens.begin() + first, from.tokens.begin() + last);
  };
  copy(m, 0, place.first);
  copy(other, given.first, given.last + 1);
  copy(m, place.last + 1, static_cast<int>(m.tokens.size()));
  if (auto& word = r.tokens[static_cast<std::size_t>(place.first)]; words.is_phrase_word(word)) {
    auto const& replaced = m.tokens[static_cast<std::size_t>(place.first)];
    if (place.first == 0)
      word = with_first(word, with_first(replaced, false) != replaced);
    else if (given.first == 0)
      word = with_first(word, false);
  }
  // The new index of each node; -1: the result does not have it.
  std::vector<int> kept(m.nodes.size(), -1), added(other.nodes.size(), -1);
  auto const add = [&](meaning const& from, std::size_t i, int shift, std::vector<int>& index) {
    auto n = from.nodes[i];
    if (!n.is_slot) n.first += shift, n.last += shift;
    index[i] = static_cast<int>(r.nodes.size());
    r.nodes.push_back(n);
    r.node_labels.push_back(from.node_labels[i]);
  };
  for (std::size_t i = 0; i < m.nodes.size(); ++i)
    if (!std::binary_search(place.nodes.begin(), place.nodes.end(), static_cast<int>(i)))
      add(m, i, m.nodes[i].first > place.last ? given.size() - place.size() : 0, kept);
  for (int const i : given.nodes) add(other, static_cast<std::size_t>(i), place.first - given.first, added);
  for (auto const& e : m.edges) {
    int const from = kept[static_cast<std::size_t>(e.from)], to = kept[static_cast<std::size_t>(e.to)];
    if (from >= 0) r.edges.push_back({from, e.label, to >= 0 ? to : added[static_cast<std::size_t>(given.head)]});
  }
  for (auto const& e : other.edges)
    if (int const from = added[static_cast<std::size_t>(e.from)]; from >= 0)
      r.edges.push_back({from, e.label, added[static_cast<std::size_t>(e.to)]});
  return canonical(std::move(r));
}

/// Finds out which labels of edges are of one kind.  Two labels are of one kind if edges with both enter one phrase, or
/// two phrases with the same words.  Labels that a chain of such labels connects are of one kind, too.
class edge_kinds {
 public:
  explicit edge_kinds(std::size_t labels) : next_(labels) { std::iota(next_.begin(), next_.end(), std::size_t{0}); }

  /// Adds a phrase with these words, and a label of an edge that enters it.
  void add(std::string const& words, std::size_t label) {
    auto const first = labels_.try_emplace(words, label).first->second;
    next_[of(label)] = of(first);
  }
  /// Returns a number of the label's kind, which is one of the labels of this kind.
  std::size_t of(std::size_t label) const {
    while (next_[label] != label) label = next_[label];
    return label;
  }

 private:
  std::vector<std::size_t> next_;              // of each label: another one of its kind, or itself; without cycles
  std::map<std::string, std::size_t> labels_;  // of words: the label of the first edge
};

/// A sentence with a phrase of another one, and its numbers.
struct swapped_sentence {
  meaning graph;
  example numbers;
};

/// Swaps phrases between the sentences of a list.  A phrase is replaced only by a phrase of the same kind: the kind of
/// the edges that enter it.  The graphs and the vocabulary must outlive this object.
class phrase_swaps {
 public:
  phrase_swaps(std::vector<meaning const*> all, swap_words words, vocabulary const& v, int slots)
      : all_(std::move(all)), words_(std::move(words)), vocabulary_(v), slots_(slots), places_(all_.size()) {
    edge_kinds kinds(v.relations().size());
    for (std::size_t s = 0; s < all_.size(); ++s) {
      auto const& m = *all_[s];
      for (auto& p : phrases_of(m, words_)) {
        auto text = name_of(m, node::span(p.first, p.last));
        if (words_.is_phrase_word(m.tokens[static_cast<std::size_t>(p.first)])) text = with_first(text, false);
        std::size_t label = 0;
        for (auto const& e : m.edges)
          if (e.to == p.head && !std::binary_search(p.nodes.begin(), p.nodes.end(), e.from))
            kinds.add(text, label = static_cast<std::size_t>(v.relation(e.label)));
        places_[s].push_back({std::move(p), label});
      }
      auto const numbers = question_of(m.tokens, v);
      longest_ = std::max(longest_, numbers.tokens.size());
      most_queried_ = std::max(most_queried_, numbers.queried.size());
    }
    sort_by_kind(kinds);
  }

  /// The labels of the edges that enter phrases, for each kind of phrases.
  std::vector<std::vector<std::string>> const& kinds() const { return kinds_; }
  std::size_t phrases() const { return phrases_; }
  /// The number of sentences with a phrase that a phrase of another sentence may replace.
  std::size_t sentences() const { return sentences_; }
  /// The largest number of tokens and of queried tokens that a sentence of the list has.  No swapped sentence has more.
  std::size_t longest() const { return longest_; }
  std::size_t most_queried() const { return most_queried_; }

  /// Replaces a phrase of sentence number `which` by a phrase of another sentence.  All phrases of the sentence are
  /// equally likely to be replaced, and all phrases of this kind in other sentences are equally likely to replace it.
  /// Returns nothing if several draws give no sentence that is allowed: one that is not larger than longest() and
  /// most_queried(), and whose graph and whose new words the vocabulary has.
  std::optional<swapped_sentence> operator()(std::size_t which, random_stream random) const {
    auto const& m = *all_[which];
    auto const& places = places_[which];
    if (places.empty()) return std::nullopt;
    for (int draw = 0; draw < most_swap_draws; ++draw) {
      auto const& place = places[random.below(static_cast<std::uint32_t>(places.size()))];
      auto const* const drawn = pools_[place.kind].draw(which, random);
      if (drawn == nullptr) continue;
      auto const& given = places_[drawn->first][drawn->second].tokens;
      if (m.tokens.size() + static_cast<std::size_t>(given.size()) >
          longest_ + static_cast<std::size_t>(place.tokens.size()))
        continue;
      auto swapped = with_phrase(m, place.tokens, *all_[drawn->first], given, words_);
      if (!is_known(swapped, place.tokens.first, given.size())) continue;
      std::string left_out;
      auto numbers = numbered(swapped, vocabulary_, slots_, left_out);
      if (!numbers || numbers->queried.size() > most_queried_) continue;
      return swapped_sentence{std::move(swapped), std::move(*numbers)};
    }
    return std::nullopt;
  }

 private:
  struct phrase_of_kind {
    phrase tokens;
    std::size_t kind;  // before sort_by_kind(): the label of an edge that enters the phrase
  };

  void sort_by_kind(edge_kinds const& kinds) {
    std::map<std::size_t, std::size_t> number;  // of each kind, in the order of the kinds
    for (auto& places : places_)
      for (auto& p : places) number.try_emplace(kinds.of(p.kind), 0);
    std::size_t next = 0;
    for (auto& [kind, index] : number) index = next++;
    kinds_.resize(number.size());
    for (std::size_t label = 0; label < vocabulary_.relations().size(); ++label)
      if (auto const at = number.find(kinds.of(label)); at != number.end())
        kinds_[at->second].push_back(vocabulary_.relations()[label]);
    pools_.resize(number.size());
    for (auto& places : places_) {
      std::vector<std::vector<std::size_t>> own(number.size());
      for (std::size_t k = 0; k < places.size(); ++k)
        own[places[k].kind = number.at(kinds.of(places[k].kind))].push_back(k);
      for (std::size_t kind = 0; kind < own.size(); ++kind) pools_[kind].add(own[kind]);
      phrases_ += places.size();
    }
    for (std::size_t s = 0; s < places_.size(); ++s)
      if (std::any_of(places_[s].begin(), places_[s].end(),
                      [&](phrase_of_kind const& p) { return pools_[p.kind].has_other(s); }))
        ++sentences_;
  }
  /// Returns whether the vocabulary has the words of the new phrase.
  bool is_known(meaning const& m, int first, int size) const {
    return std::all_of(m.tokens.begin() + first, m.tokens.begin() + first + size,
                       [&](auto const& word) { return vocabulary_.word(word) != dictionary::unknown; });
  }

  std::vector<meaning const*> all_;
  swap_words words_;
  vocabulary const& vocabulary_;
  int slots_;
  std::vector<std::vector<phrase_of_kind>> places_;  // of each sentence
  std::vector<phrase_pool<std::size_t>> pools_;      // of each kind: indices into the places of each sentence
  std::vector<std::vector<std::string>> kinds_;
  std::size_t phrases_ = 0, sentences_ = 0, longest_ = 0, most_queried_ = 0;
};

}  // namespace triad::programs::meanings
