// Removes sentences with certain constructions from the training set. The scores on these sentences help to choose
// options. Scores on dev do not, because every model answers dev correctly.
// SPDX-License-Identifier: Apache-2.0
//
//   kind               a sentence has it if                                      similar test kind
//   name-before-theme  a name is a recipient between its verb and the theme      prim_to_obj_proper, subj_to_obj_proper
//   inner-modifier     an argument of the verb stands after another's modifier   obj_pp_to_subj_pp
//   deepest-clauses    its clauses are nested as deeply as those of any other    cp_recursion
//   deepest-modifiers  its modifiers are nested as deeply as those of any other  pp_recursion
//   longest            it is one of the longest, at most a thirtieth of all      both recursions
//   infinitive         a chosen verb is an infinitive                            prim_to_inf_arg
//   subject-to-object  a chosen noun or name stands after its verb               subj_to_obj_common, ..._proper
//
// The graph of a sentence shows which constructions it has. The verbs that are alone in one line and an infinitive in
// another are the candidates for chosen verbs; a quarter of them are chosen. The nouns and names that occur both before
// and after their verbs are the candidates for chosen nouns; an eighth of them are chosen. The words with the fewest
// sentences are chosen first. For a chosen verb, training keeps only the line that consists of this verb. For a chosen
// noun or name, training keeps one sentence in which the word is the subject. All other sentences with a chosen word
// are removed from training. A sentence with several of the requested constructions is used neither for training nor
// for scores. Nor is a sentence with a word that no remaining training sentence has.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sentence.hpp"
#include "shared/cli/list_items.hpp"
#include "shared/cli/number_checks.hpp"
#include "shared/report/refuse.hpp"

namespace triad::programs::cogs {

inline constexpr std::array<std::string_view, 7> constructions{"name-before-theme", "inner-modifier", "deepest-clauses",
                                                               "deepest-modifiers", "longest",        "infinitive",
                                                               "subject-to-object"};

/// Returns the names of all constructions, separated by commas.
inline std::string all_constructions() {
  std::string all;
  for (auto const& name : constructions) all += (all.empty() ? "" : ", ") + std::string(name);
  return all;
}

/// The check of an option whose value is a list of constructions.
inline number_check const some_constructions{
    "KIND,...", [](std::string const& list) {
      std::set<std::string> found;
      for (auto const& kind : list_items(list)) {
        if (std::find(constructions.begin(), constructions.end(), kind) == constructions.end())
          return "\"" + kind + "\" is not one of the constructions " + all_constructions();
        if (!found.insert(kind).second) return kind + " is named twice";
      }
      return std::string();
    }};

/// The training sentences that remain, and the held-out sentences. The `distribution` of a held-out sentence is its
/// kind.
struct held_out {
  std::vector<tagged_sentence> train, rows;
  std::size_t left_out = 0;  // number of sentences that are in neither list
};

class construction_finder {
 public:
  construction_finder(std::vector<tagged_sentence> const& all, std::set<std::string> const& wanted) {
    std::vector<int> lengths;
    std::map<std::string, usage> verbs, nouns;
    for (auto const& s : all) {
      most_clauses_ = std::max(most_clauses_, depth(s, "ccomp"));
      most_modifiers_ = std::max(most_modifiers_, depth(s, "PP_NOUN"));
      lengths.push_back(s.size());
      if (wanted.contains("infinitive")) count_verbs(s, verbs);
      if (wanted.contains("subject-to-object")) count_nouns(s, nouns);
    }
    std::sort(lengths.begin(), lengths.end(), std::greater<>());
    if (!lengths.empty()) longest_ = lengths[lengths.size() / 30];
    verbs_ = rarest(verbs, 4);
    nouns_ = rarest(nouns, 8);
  }

  bool has(tagged_sentence const& s, std::string_view kind) const {
    if (kind == "name-before-theme") return name_before_theme(s);
    if (kind == "inner-modifier") return inner_modifier(s);
    if (kind == "deepest-clauses") return most_clauses_ > 0 && depth(s, "ccomp") >= most_clauses_;
    if (kind == "deepest-modifiers") return most_modifiers_ > 0 && depth(s, "PP_NOUN") >= most_modifiers_;
    if (kind == "longest") return s.size() > longest_;
    if (kind == "infinitive")
      return any(s, [&](int i) { return s.role[at(i)] == "xcomp" && verbs_.contains(s.verb_name[at(i)]); });
    return any(s, [&](int i) { return nouns_.contains(s.tokens[at(i)]) && argument(s, i) && s.parent[at(i)] < i; });
  }

  /// Returns whether the sentence has a chosen verb and at least one other word.
  bool has_chosen_verb(tagged_sentence const& s) const {
    return s.size() > 1 && any(s, [&](int i) { return verbs_.contains(s.verb_name[at(i)]); });
  }
  /// Returns the chosen nouns and names of a sentence. The value of a word is true if the word is a subject in this
  /// sentence.
  std::map<std::string, bool> chosen_nouns(tagged_sentence const& s) const {
    std::map<std::string, bool> found;
    for (int i = 0; i < s.size(); ++i)
      if (nouns_.contains(s.tokens[at(i)])) found[s.tokens[at(i)]] |= argument(s, i) && s.parent[at(i)] > i;
    return found;
  }

 private:
  /// The number of sentences with a word, and whether some sentence uses the word in the first way and some sentence in
  /// the second way.
  struct usage {
    std::int64_t sentences = 0;
    bool one = false, other = false;
  };

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  template <class Holds>
  static bool any(tagged_sentence const& s, Holds const& holds) {
    for (int i = 0; i < s.size(); ++i)
      if (holds(i)) return true;
    return false;
  }
  /// Returns whether token i is an argument of a verb.
  static bool argument(tagged_sentence const& s, int i) {
    auto const& role = s.role[at(i)];
    return s.parent[at(i)] >= 0 && !role.empty() && role != "PREP" && role != "PP_NOUN";
  }
  /// Returns the largest number of edges with this role on a path towards the root. Works for graphs with cycles, too.
  static int depth(tagged_sentence const& s, std::string_view role) {
    int most = 0;
    for (int i = 0; i < s.size(); ++i) {
      int here = 0, steps = 0;
      for (int k = i; k >= 0 && steps < s.size(); k = s.parent[at(k)], ++steps) here += s.role[at(k)] == role ? 1 : 0;
      most = std::max(most, here);
    }
    return most;
  }
  static bool name_before_theme(tagged_sentence const& s) {
    return any(s, [&](int i) {
      int const verb = s.parent[at(i)];
      return s.category[at(i)] == "PNOUN" && s.role[at(i)] == "recipient" && verb >= 0 && verb < i &&
             any(s, [&](int j) { return j > i && s.parent[at(j)] == verb && s.role[at(j)] == "theme"; });
    });
  }
  static bool inner_modifier(tagged_sentence const& s) {
    return any(s, [&](int preposition) {
      int const noun = s.parent[at(preposition)];
      if (s.role[at(preposition)] != "PREP" || noun < 0 || !argument(s, noun)) return false;
      int const verb = s.parent[at(noun)];
      return verb < noun && any(s, [&](int j) { return j > preposition && s.parent[at(j)] == verb && argument(s, j); });
    });
  }

  static void count_verbs(tagged_sentence const& s, std::map<std::string, usage>& verbs) {
    for (auto const& name : std::set(s.verb_name.begin(), s.verb_name.end())) {
      if (name.empty()) continue;
      auto& use = verbs[name];
      ++use.sentences;
      use.one |= s.size() == 1;
      use.other |= any(s, [&](int i) { return s.role[at(i)] == "xcomp" && s.verb_name[at(i)] == name; });
    }
  }
  static void count_nouns(tagged_sentence const& s, std::map<std::string, usage>& nouns) {
    std::set<std::string> here;
    for (int i = 0; i < s.size(); ++i) {
      if (s.category[at(i)] != "PNOUN" && s.category[at(i)] != "CNOUN") continue;
      auto& use = nouns[s.tokens[at(i)]];
      use.sentences += here.insert(s.tokens[at(i)]).second ? 1 : 0;
      use.one |= argument(s, i) && s.parent[at(i)] > i;
      use.other |= argument(s, i) && s.parent[at(i)] < i;
    }
  }
  /// Among the words that are used in both ways, returns the rarest: one in every `part` of them. Equally rare words
  /// are ordered by their bytes.
  static std::set<std::string> rarest(std::map<std::string, usage> const& all, std::size_t part) {
    std::vector<std::pair<std::int64_t, std::string>> both;
    for (auto const& [word, use] : all)
      if (use.one && use.other) both.emplace_back(use.sentences, word);
    std::sort(both.begin(), both.end());
    std::set<std::string> chosen;
    for (std::size_t k = 0; k < (both.size() + part - 1) / part; ++k) chosen.insert(both[k].second);
    return chosen;
  }

  int most_clauses_ = 0, most_modifiers_ = 0, longest_ = 0;
  std::set<std::string> verbs_, nouns_;
};

/// Holds out sentences with these constructions.  Throws data_error if no sentence has one of the constructions, or if
/// no sentence is left to train on.
inline held_out hold_out(std::vector<tagged_sentence> const& all, std::vector<std::string> const& kinds) {
  std::set<std::string> const wanted(kinds.begin(), kinds.end());
  construction_finder const finder(all, wanted);
  held_out result;
  std::vector<std::size_t> held;         // numbers of the held-out sentences
  std::vector<std::string> held_kind;    // their kinds
  std::set<std::string> shown, trained;  // nouns with a training sentence as subject; all training words
  auto const train_on = [&](tagged_sentence const& s) {
    trained.insert(s.tokens.begin(), s.tokens.end());
    result.train.push_back(s);
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto const& s = all[i];
    std::vector<std::string> found;
    for (auto const& kind : kinds)
      if (finder.has(s, kind)) found.push_back(kind);
    auto const holds = [&](char const* kind) { return found.size() == 1 && found[0] == kind; };
    auto const nouns = finder.chosen_nouns(s);
    bool const verb = finder.has_chosen_verb(s);
    bool const unsaid = (verb && !holds("infinitive")) || (!nouns.empty() && !holds("subject-to-object"));
    if (found.size() == 1 && !unsaid) {
      held.push_back(i);
      held_kind.push_back(found[0]);
    } else if (found.empty() && !verb && nouns.size() <= 1 &&
               (nouns.empty() || (nouns.begin()->second && shown.insert(nouns.begin()->first).second))) {
      train_on(s);
    } else {
      ++result.left_out;
    }
  }
  if (result.train.empty()) refuse("--hold-out leaves no sentence to train on: name fewer kinds");
  std::set<std::string> seen;
  for (std::size_t k = 0; k < held.size(); ++k) {
    auto const& s = all[held[k]];
    if (!std::all_of(s.tokens.begin(), s.tokens.end(), [&](auto const& word) { return trained.contains(word); })) {
      ++result.left_out;
      continue;
    }
    seen.insert(held_kind[k]);
    result.rows.push_back(s);
    result.rows.back().distribution = held_kind[k];
  }
  for (auto const& kind : kinds)
    if (!seen.contains(kind)) refuse("--hold-out {}: no training sentence is left with this construction alone", kind);
  return result;
}

}  // namespace triad::programs::cogs
