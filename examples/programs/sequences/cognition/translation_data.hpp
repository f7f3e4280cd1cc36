// Draws the data of the generated translation task, in the files and sizes of CoGnition.
// SPDX-License-Identifier: Apache-2.0
//
// A compound has a noun and words that never occur with this noun in training, dev and test:
//   NP  determiner [adjective] noun [modifier]        no determiner, adjective or modifier of these compounds is with
//                                                     a noun of these compounds
//   VP  verb determiner [adjective] noun [modifier]   the noun is never the object of the verb; for each noun, 10 of
//                                                     20 verbs are drawn
//   PP  preposition determiner [adjective] noun [modifier]   the noun never follows the preposition; for each noun, 8
//                                                     of 16 prepositions are drawn
// As in CoGnition, each kind of phrase has 8 nouns x 5 determiners x (none or 5 adjectives) x (none or 2 modifiers) =
// 720 compounds, and each compound is in five sentences.  These are drawn like training sentences.  Then one of their
// phrases of the same kind is replaced by the compound.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cter.hpp"
#include "distinct_pairs.hpp"
#include "options.hpp"
#include "shared/data/new_data.hpp"
#include "shared/data/text_pairs.hpp"
#include "shared/report/refuse.hpp"
#include "translation.hpp"
#include "triad/core/random.hpp"

namespace triad::programs::cognition {
namespace translation {

inline constexpr int phrase_kinds = 3, kind_nouns = 8, kind_determiners = 5, kind_adjectives = 5, kind_verbs = 20;
inline constexpr int compounds_of_kind = kind_nouns * kind_determiners * (1 + kind_adjectives) * 3;
inline constexpr std::array<char const*, phrase_kinds> kind_names{"NP", "VP", "PP"};
/// The two modifiers of each kind of compound, in fixed_modifiers.
inline constexpr std::array<std::array<int, 2>, phrase_kinds> kind_modifiers{{{0, 1}, {0, 2}, {1, 2}}};

struct compound {
  int kind = 0;  // in kind_names
  noun_phrase phrase;
  int head = -1;  // in verbs or prepositions; -1 for a noun phrase

  std::string source() const {
    auto const* word = kind == 0 ? "" : kind == 1 ? at(verbs, head).past : at(prepositions, head).source;
    return joined(word, phrase.source(true));
  }
};

/// Draws sentences in which no compound can occur, and sentences with compounds.
class generator {
 public:
  explicit generator(std::uint64_t seed) : choice_(seed, 1), random_(seed, 2) {
    for (auto& held : held_verbs_) held = half(kind_verbs);
    for (auto& held : held_prepositions_) held = half(count_of(prepositions));
  }

  /// Draws `count` different compounds of a kind, of at most compounds_of_kind.
  std::vector<compound> compounds(int kind, int count) {
    std::vector<int> places(compounds_of_kind);
    std::iota(places.begin(), places.end(), 0);
    shuffle(places);
    places.resize(static_cast<std::size_t>(count));
    std::sort(places.begin(), places.end());
    std::vector<compound> result;
    for (int i : places) {
      compound c{kind, {}, -1};
      int const m = i % 3, a = i / 3 % (1 + kind_adjectives), rest = i / 3 / (1 + kind_adjectives);
      c.phrase.word = kind * kind_nouns + rest / kind_determiners;
      c.phrase.determiner = rest % kind_determiners;
      c.phrase.adjective = a == 0 ? -1 : kind * kind_adjectives + a - 1;
      if (m > 0) c.phrase.with = at(fixed_modifiers, at(at(kind_modifiers, kind), m - 1));
      if (kind > 0) {
        auto const& held = at(kind == 1 ? held_verbs_ : held_prepositions_, rest / kind_determiners);
        c.head = at(held, choice_.below(count_of(held)));
      }
      result.push_back(c);
    }
    return result;
  }

  /// Draws a sentence that was not drawn before.
  text_pair next() {
    return distinct_([this] { return pair_of(draw()); });
  }

  /// Draws a sentence with the compound.
  text_pair next(compound const& c) {
    auto pair = distinct_([&] {
      for (;;)
        if (auto s = draw(); put(c, s)) return pair_of(s);
    });
    pair.kind = at(kind_names, c.kind);
    return pair;
  }

  /// Returns whether the word before the noun, or one in its phrase, never occurs with this noun in training.
  bool is_held(noun_phrase const& p) const {
    if (p.form != np_form::common || p.word >= kind_nouns) return false;
    return p.determiner < kind_determiners || (p.adjective >= 0 && p.adjective < kind_adjectives) ||
           p.with == fixed_modifiers[0] || p.with == fixed_modifiers[1];
  }
  bool is_held_object(int verb, noun_phrase const& p) const { return is_in(held_verbs_, 1, verb, p); }
  bool is_held_place(int preposition, noun_phrase const& p) const {
    return is_in(held_prepositions_, 2, preposition, p);
  }

 private:
  using held_words = std::array<std::vector<int>, kind_nouns>;

  static bool is_in(held_words const& held, int kind, int word, noun_phrase const& p) {
    int const i = p.word - kind * kind_nouns;
    if (p.form != np_form::common || i < 0 || i >= kind_nouns) return false;
    return std::find(at(held, i).begin(), at(held, i).end(), word) != at(held, i).end();
  }
  void shuffle(std::vector<int>& values) {
    for (auto i = values.size(); i > 1; --i)
      std::swap(values[i - 1], values[static_cast<std::size_t>(choice_.below(static_cast<int>(i)))]);
  }
  std::vector<int> half(int count) {
    std::vector<int> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    shuffle(all);
    all.resize(all.size() / 2);
    return all;
  }

  int any(auto const& table) { return random_.below(count_of(table)); }
  bool percent(int p) { return random_.chance(p, 100); }

  modifier draw_modifier() {
    switch (random_.below(3)) {
      case 0:
        return at(fixed_modifiers, any(fixed_modifiers));
      case 1:
        return {any(pronouns), any(verbs), -1};
      default:
        return {-1, -1, any(sites)};
    }
  }
  noun_phrase draw_phrase() {
    for (;;) {
      noun_phrase p;
      int const form = random_.below(100);
      if (form < 15) return {np_form::name, any(names), 0, -1, {}};
      if (form < 30) return {np_form::pronoun, any(pronouns), 0, -1, {}};
      p.word = any(nouns);
      int const owner = random_.below(10);
      p.determiner = owner < 6   ? any(determiners)
                     : owner < 8 ? first_number + any(numbers)
                                 : first_owner + any(pronouns);
      if (percent(45)) p.adjective = any(adjectives);
      if (percent(20)) p.with = draw_modifier();
      if (!is_held(p)) return p;
    }
  }
  clause draw_clause(bool opens) {
    clause c;
    c.subject = draw_phrase();
    int const form = random_.below(100);
    c.form = form < 55 ? clause_form::transitive : form < 85 ? clause_form::intransitive : clause_form::adjective;
    int const when = random_.below(10);
    c.when = when < 8 ? tense::past : when < 9 ? tense::denied : tense::future;
    if (percent(20)) c.time = any(times);
    c.time_first = opens && c.time >= 0 && percent(50);
    if (c.form == clause_form::adjective) {
      c.verb = any(adjectives);
      return c;
    }
    if (percent(8)) c.both = true, c.second = draw_phrase();
    if (c.form == clause_form::intransitive) {
      c.verb = any(plain_verbs);
    } else {
      do c.verb = any(verbs), c.object = draw_phrase();
      while (is_held_object(c.verb, c.object));
    }
    if (percent(45)) {
      do c.preposition = any(prepositions), c.place = draw_phrase();
      while (is_held_place(c.preposition, c.place));
    }
    if (percent(20)) c.adverb = any(adverbs);
    return c;
  }
  sentence draw() {
    sentence s;
    int const form = random_.below(100);
    if (form < 50) {
      s.first = draw_clause(true);
    } else if (form < 60) {
      s.form = sentence_form::question;
      do s.first = draw_clause(false);
      while (s.first.form == clause_form::adjective);
      s.first.when = tense::past;
    } else if (form < 90) {
      s.form = form < 70 ? sentence_form::contrast : sentence_form::conjunction;
      s.word = any(conjunctions);
      s.first = draw_clause(true);
      s.second = draw_clause(false);
    } else {
      s.form = sentence_form::report;
      s.word = any(reports);
      s.speaker = draw_phrase();
      s.first = draw_clause(false);
    }
    return s;
  }

  /// Replaces a phrase of the sentence by the compound.  Returns false if there is none of its kind.
  bool put(compound const& c, sentence& s) {
    std::vector<clause*> clauses;
    bool const two = s.form == sentence_form::contrast || s.form == sentence_form::conjunction;
    for (auto* each : {&s.first, &s.second}) {
      if (each == &s.second && !two) continue;
      bool const verb =
          each->form == clause_form::transitive && each->when == tense::past && s.form != sentence_form::question;
      if (c.kind == 0 || (c.kind == 1 ? verb : each->preposition >= 0)) clauses.push_back(each);
    }
    if (clauses.empty()) return false;
    auto& chosen = *clauses[static_cast<std::size_t>(random_.below(static_cast<int>(clauses.size())))];
    if (c.kind == 1) {
      chosen.verb = c.head, chosen.object = c.phrase;
    } else if (c.kind == 2) {
      chosen.preposition = c.head, chosen.place = c.phrase;
    } else {
      std::vector<noun_phrase*> phrases{&chosen.subject};
      if (chosen.form == clause_form::transitive) phrases.push_back(&chosen.object);
      if (chosen.preposition >= 0) phrases.push_back(&chosen.place);
      *phrases[static_cast<std::size_t>(random_.below(static_cast<int>(phrases.size())))] = c.phrase;
    }
    return true;
  }

  static text_pair pair_of(sentence const& s) { return {s.source(), s.target(), {}}; }

  counter_random choice_, random_;  // of held-out words and compounds; of sentences
  held_words held_verbs_, held_prepositions_;
  distinct_pairs distinct_;
};

}  // namespace translation

/// The parts of the generated translation task.
struct translation_data {
  std::vector<text_pair> train, valid, test, cg_test;  // cg_test: its kinds are NP, VP, PP
  std::vector<std::string> compounds;                  // one for each pair of cg_test
};

/// Returns the lines of the lexicon of all compounds, for CTER: atom, translations and class.
inline std::vector<std::string> translation_lexicon() {
  using namespace translation;
  std::vector<std::string> lines;
  auto const add = [&](std::string const& atom, std::string const& one, std::string const& other, char const* what) {
    lines.push_back(atom + "\t" + (one == other ? one : one + "/" + other) + "\t" + what);
  };
  auto const packed = [](std::string words) { return std::erase(words, ' '), words; };
  add(determiners[0].source, "/", "/", "determiner");
  for (int i = 1; i < kind_determiners; ++i)
    add(at(determiners, i).source, at(determiners, i).target, at(determiners, i).target, "determiner");
  for (int i = 0; i < phrase_kinds * kind_adjectives; ++i)
    add(at(adjectives, i).source, at(adjectives, i).living, at(adjectives, i).thing, "adjective");
  for (int i = 0; i < phrase_kinds * kind_nouns; ++i)
    add(at(nouns, i).source, at(nouns, i).target, at(nouns, i).target, "noun");
  for (int i = 0; i < kind_verbs; ++i) add(at(verbs, i).past, at(verbs, i).living, at(verbs, i).thing, "verb");
  for (auto const& p : prepositions) add(p.source, p.target, p.target, "preposition");
  for (auto const& m : fixed_modifiers) add(m.source(), packed(m.target(true)), packed(m.target(false)), "modifier");
  return lines;
}

/// Throws data_error if a compound occurs in one of the sentences.
inline void expect_no_compound(std::span<text_pair const> pairs, std::span<std::string const> compounds) {
  std::unordered_set<std::string_view> const known(compounds.begin(), compounds.end());
  constexpr int longest = 7;  // words of a compound
  for (auto const& pair : pairs) {
    std::string_view const text = pair.source;
    for (std::size_t begin = 0; begin < text.size(); begin = std::min(text.find(' ', begin), text.size() - 1) + 1)
      for (std::size_t end = begin, words = 0; words < longest && end < text.size(); ++words) {
        end = std::min(text.find(' ', end + 1), text.size());
        if (known.contains(text.substr(begin, end - begin)))
          refuse("the sentence '{}' has the compound '{}', which only cg-test may have", text,
                 text.substr(begin, end - begin));
      }
  }
}

/// Throws data_error if an atom of a compound occurs less than `least` times in the sentences.
inline void expect_atoms(std::span<text_pair const> pairs, std::span<std::string const> compounds, lexicon const& known,
                         int least) {
  std::unordered_map<std::string, int> counts;
  for (auto const& pair : pairs)
    for (auto const& atom : known.atoms_of(pair.source)) ++counts[atom];
  std::set<std::string> const different(compounds.begin(), compounds.end());
  for (auto const& compound : different)
    for (auto const& atom : known.atoms_of(compound))
      if (counts[atom] < least)
        refuse(
            "'{}', an atom of the compound '{}', is {} times in the training sentences, expected at least {}; ask for "
            "more with --sentences, or for fewer compounds with --test-size",
            atom, compound, counts[atom], least);
}

/// Generates `sentences` pairs for training, `test_size` each for valid and test, and cg-test: 2,160 compounds, or less
/// if test_size is less than 10,000, in five sentences each.  No sentence is in two parts.  Throws data_error if an
/// atom of a compound occurs less than `sentences` / 2,000 times in training, which is 100 times in 200,000 sentences.
inline translation_data generate_translation(int sentences, int test_size, std::uint64_t seed) {
  using namespace translation;
  generator draw(seed);
  translation_data d;
  auto const share = std::int64_t{compounds_of_kind} * test_size / 10000;
  auto const count = static_cast<int>(std::clamp<std::int64_t>(share, 1, compounds_of_kind));
  std::vector<compound> all;
  for (int kind = 0; kind < phrase_kinds; ++kind)
    for (auto const& c : draw.compounds(kind, count)) all.push_back(c);
  for (int i = 0; i < sentences; ++i) d.train.push_back(draw.next());
  for (auto* part : {&d.valid, &d.test})
    for (int i = 0; i < test_size; ++i) part->push_back(draw.next());
  for (auto const& c : all)
    for (std::size_t i = 0; i < contexts; ++i) {
      d.cg_test.push_back(draw.next(c));
      d.compounds.push_back(c.source());
    }
  for (auto const* part : {&d.train, &d.valid, &d.test}) expect_no_compound(*part, d.compounds);
  lexicon known;
  for (auto const& line : translation_lexicon()) known.add(line);
  expect_atoms(d.train, d.compounds, known, std::max(1, sentences / 2000));
  return d;
}

/// Returns the files of the task, as `--task cognition` reads them.
inline std::vector<new_file> translation_files(translation_data const& d) {
  std::vector<new_file> files;
  auto const add = [&](std::string const& name, std::vector<text_pair> const& pairs) {
    std::string sources, targets;
    for (auto const& pair : pairs) sources += pair.source + "\n", targets += pair.target + "\n";
    files.push_back({name + ".en", std::move(sources), fmt::format("{} sentences", pairs.size())});
    files.push_back({name + ".zh", std::move(targets), fmt::format("{} translations", pairs.size())});
  };
  add("train", d.train);
  add("valid", d.valid);
  add("test", d.test);
  add("cg-test", d.cg_test);
  auto const lines = [](std::vector<std::string> const& all) {
    std::string text;
    for (auto const& line : all) text += line + "\n";
    return text;
  };
  files.push_back({"cg-test.compound", lines(d.compounds), fmt::format("{} compounds", d.compounds.size() / contexts)});
  files.push_back({"lexicon", lines(translation_lexicon()), "atoms of compounds"});
  return files;
}

}  // namespace triad::programs::cognition
