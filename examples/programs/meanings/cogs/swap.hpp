// Replaces a phrase of a sentence by a phrase of another training sentence.  Both the words and the edges are replaced.
// SPDX-License-Identifier: Apache-2.0
//
//   noun phrase  a name, or a determiner with its noun, and all modifiers after it
//   clause       the words from `that` to the full stop; the new clause may also be a whole sentence without its full
//                stop
//
// Only the head of a phrase has a parent outside the phrase, and no token outside has a parent inside.  So the edges
// inside the new phrase are copied, and the head of the new phrase gets the parent and the role of the replaced head.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sentence.hpp"
#include "shared/run/phrase_pool.hpp"
#include "triad/core/random.hpp"

namespace triad::programs::cogs {

/// Tokens `first` to `last` - 1 of a sentence.  Only the token `head` has a parent outside the phrase.
struct phrase {
  int first, last, head;

  int size() const { return last - first; }
  friend bool operator==(phrase const&, phrase const&) = default;
};

/// The kinds of phrases.  A phrase is replaced only by a phrase of the same kind.
enum class phrase_kind { noun_phrase, clause };
inline constexpr std::array phrase_kinds{phrase_kind::noun_phrase, phrase_kind::clause};

namespace detail {

inline std::size_t at(int i) { return static_cast<std::size_t>(i); }

inline bool is_determiner(std::string const& word) {
  auto const lower = with_first(word, false);
  return lower == "a" || lower == "an" || lower == "the";
}

/// Returns whether only the head connects the phrase to the rest of the sentence.
inline bool stands_alone(tagged_sentence const& s, phrase const& p) {
  auto const in = [&](int i) { return i >= p.first && i < p.last; };
  for (int i = 0; i < s.size(); ++i)
    if (i != p.head && s.parent[at(i)] >= 0 && in(i) != in(s.parent[at(i)])) return false;
  return !in(s.parent[at(p.head)]);
}

/// Returns the first token of the noun phrase with this noun.  Returns -1 if the noun has no determiner, as in a line
/// that consists of one noun.
inline int beginning_of(tagged_sentence const& s, int noun) {
  if (noun < 0 || noun >= s.size()) return -1;
  if (s.category[at(noun)] == "PNOUN") return noun;
  bool const common = s.category[at(noun)] == "CNOUN" && noun > 0 && is_determiner(s.tokens[at(noun - 1)]);
  return common && s.parent[at(noun - 1)] < 0 ? noun - 1 : -1;
}

inline std::optional<phrase> noun_phrase_of(tagged_sentence const& s, int noun) {
  phrase p{beginning_of(s, noun), noun + 1, noun};
  if (p.first < 0) return std::nullopt;
  for (;;) {  // a preposition that belongs to a noun of the phrase, and the noun phrase after it
    int const preposition = p.last;
    if (preposition >= s.size() || s.role[at(preposition)] != "PREP" || s.parent[at(preposition)] < p.first ||
        s.parent[at(preposition)] >= p.last)
      break;
    int inner = -1;
    for (int const i : {preposition + 1, preposition + 2})
      if (i < s.size() && s.role[at(i)] == "PP_NOUN" && s.parent[at(i)] == preposition) inner = i;
    if (beginning_of(s, inner) != preposition + 1) return std::nullopt;
    p.last = inner + 1;
  }
  return stands_alone(s, p) ? std::optional(p) : std::nullopt;
}

inline bool ends_with_full_stop(tagged_sentence const& s) { return s.size() > 1 && s.tokens.back() == "."; }

inline std::optional<phrase> clause_of(tagged_sentence const& s, int verb) {
  if (s.role[at(verb)] != "ccomp" || !ends_with_full_stop(s)) return std::nullopt;
  int that = verb - 1;
  while (that >= 0 && s.tokens[at(that)] != "that") --that;
  phrase const p{that + 1, s.size() - 1, verb};
  return that >= 0 && p.last > verb && stands_alone(s, p) ? std::optional(p) : std::nullopt;
}

/// Returns the whole sentence without its full stop, as a phrase, if exactly one verb is its root.
inline std::optional<phrase> main_clause_of(tagged_sentence const& s) {
  if (!ends_with_full_stop(s)) return std::nullopt;
  phrase p{0, s.size() - 1, -1};
  for (int i = 0; i < s.size(); ++i) {
    if (s.parent[at(i)] >= 0 || s.verb_name[at(i)].empty()) continue;
    if (p.head >= 0) return std::nullopt;
    p.head = i;
  }
  return p.head >= 0 && stands_alone(s, p) ? std::optional(p) : std::nullopt;
}

}  // namespace detail

/// Returns the phrases of a sentence that can be replaced, which are those whose head has a parent.
inline std::vector<phrase> places_in(tagged_sentence const& s, phrase_kind kind) {
  std::vector<phrase> all;
  for (int i = 0; i < s.size(); ++i) {
    if (s.parent[detail::at(i)] < 0) continue;
    if (auto const p = kind == phrase_kind::clause ? detail::clause_of(s, i) : detail::noun_phrase_of(s, i))
      all.push_back(*p);
  }
  return all;
}

/// Returns the phrases that can replace another phrase.  These are the phrases of places_in(), a name that is alone in
/// its line, and the whole sentence as a clause.
inline std::vector<phrase> phrases_of(tagged_sentence const& s, phrase_kind kind) {
  auto all = places_in(s, kind);
  if (kind == phrase_kind::clause) {
    if (auto const p = detail::main_clause_of(s)) all.push_back(*p);
  } else {
    for (int i = 0; i < s.size(); ++i)
      if (s.parent[detail::at(i)] < 0)
        if (auto const p = detail::noun_phrase_of(s, i)) all.push_back(*p);
  }
  return all;
}

/// Returns the sentence with the phrase `place` replaced by the phrase `given` of another sentence.  In the result, a
/// determiner is capitalised only if it is the first word.
inline tagged_sentence with_phrase(tagged_sentence const& s, phrase const& place, tagged_sentence const& other,
                                   phrase const& given) {
  int const shift = given.size() - place.size();
  tagged_sentence result;
  result.distribution = s.distribution;
  auto const add = [&](tagged_sentence const& from, int i, int parent, std::string const& role) {
    auto const k = detail::at(i);
    bool const first = result.tokens.empty();
    result.tokens.push_back(detail::is_determiner(from.tokens[k]) ? with_first(from.tokens[k], first) : from.tokens[k]);
    result.parent.push_back(parent);
    result.role.push_back(role);
    result.category.push_back(from.category[k]);
    result.noun_type.push_back(from.noun_type[k]);
    result.verb_name.push_back(from.verb_name[k]);
  };
  // The new position of a token outside the phrase.
  auto const moved = [&](int i) { return i < place.first ? i : i + shift; };
  auto const own = [&](int i) {
    int const parent = s.parent[detail::at(i)];
    add(s, i, parent < 0 ? -1 : moved(parent), s.role[detail::at(i)]);
  };
  for (int i = 0; i < place.first; ++i) own(i);
  for (int i = given.first; i < given.last; ++i) {
    int const parent = other.parent[detail::at(i)], head_parent = s.parent[detail::at(place.head)];
    if (i == given.head)
      add(other, i, head_parent < 0 ? -1 : moved(head_parent), s.role[detail::at(place.head)]);
    else
      add(other, i, parent < 0 ? -1 : parent - given.first + place.first, other.role[detail::at(i)]);
  }
  for (int i = place.last; i < s.size(); ++i) own(i);
  return result;
}

/// Returns whether a name occurs twice.  A logical form cannot distinguish the two occurrences.
inline bool repeats_a_name(tagged_sentence const& s) {
  std::set<std::string_view> names;
  for (int i = 0; i < s.size(); ++i)
    if (s.category[detail::at(i)] == "PNOUN" && !names.insert(s.tokens[detail::at(i)]).second) return true;
  return false;
}

/// Swaps phrases between the sentences of a list.  The list must outlive this object.
class phrase_swaps {
 public:
  using sentences = std::vector<tagged_sentence>;
  using refusal = std::function<bool(tagged_sentence const&)>;

  /// No swap makes a sentence that is longer than the longest sentence of the list, or for which `refuses` returns
  /// true.
  phrase_swaps(sentences const& all, std::vector<phrase_kind> kinds, refusal refuses = {})
      : all_(all), kinds_(std::move(kinds)), refuses_(std::move(refuses)) {
    for (auto const kind : kinds_) {
      auto& alike = pools_[static_cast<std::size_t>(kind)];
      for (auto const& s : all) alike.add(phrases_of(s, kind));
    }
    for (auto const& s : all) {
      longest_ = std::max(longest_, s.size());
      for (auto const& word : s.tokens)
        if (detail::is_determiner(word)) determiners_.insert(word);
    }
  }

  /// Replaces a phrase of sentence number `which` by a phrase of another sentence.  All phrases of the sentence are
  /// equally likely to be replaced, and all phrases of the other sentences are equally likely to replace it.  Returns
  /// nothing if several draws give no sentence that is allowed.
  std::optional<tagged_sentence> operator()(std::size_t which, random_stream random) const {
    auto const& s = all_[which];
    std::vector<std::pair<phrase_kind, phrase>> places;
    for (auto const kind : kinds_)
      for (auto const& p : places_in(s, kind)) places.emplace_back(kind, p);
    if (places.empty()) return std::nullopt;
    for (int draw = 0; draw < most_swap_draws; ++draw) {
      auto const& [kind, place] = places[random.below(static_cast<std::uint32_t>(places.size()))];
      auto const* const drawn = pools_[static_cast<std::size_t>(kind)].draw(which, random);
      if (drawn == nullptr) return std::nullopt;
      auto const& [from, given] = *drawn;
      if (s.size() - place.size() + given.size() > longest_) continue;
      auto swapped = with_phrase(s, place, all_[from], given);
      if (is_known(swapped) && !repeats_a_name(swapped) && !(refuses_ && refuses_(swapped))) return swapped;
    }
    return std::nullopt;
  }

 private:
  /// Returns whether each determiner occurs in the list with the same capitalisation.  The model does not know a
  /// determiner with another capitalisation.
  bool is_known(tagged_sentence const& s) const {
    return std::all_of(s.tokens.begin(), s.tokens.end(),
                       [&](auto const& word) { return !detail::is_determiner(word) || determiners_.contains(word); });
  }

  sentences const& all_;
  std::vector<phrase_kind> kinds_;
  refusal refuses_;
  std::array<phrase_pool<phrase>, phrase_kinds.size()> pools_;
  std::set<std::string> determiners_;
  int longest_ = 0;
};

}  // namespace triad::programs::cogs
