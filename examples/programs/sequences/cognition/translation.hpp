// The grammar of the generated translation task.  A tree has a sentence of an English-like language, and its
// translation into an invented language, which orders words as Chinese does.
// SPDX-License-Identifier: Apache-2.0
//
//   rule of the source                                            its translation
//   sentence -> clause . | did clause ?                           clause . | clause te ?
//             | clause but clause .                               clause , gima clause .
//             | clause conjunction clause .                       conjunction clause2 , clause1 .
//             | np report that clause .                           np report clause .
//   clause   -> [time ,] subject verb [np] [pp] [adverb] [time]   [time] subject [adverb] [pp] verb [ka] [np]
//             | subject was [not] adjective                       subject [desu] adjective
//   subject  -> np | np and np                                    np | np tuno np
//   pp       -> place np | relation np                            ga np place | relation np
//   np       -> determiner [adjective] noun [modifier]            [modifier] determiner [adjective] noun
//             | name | pronoun                                    name | pronoun
//   modifier -> pronoun verb | preposition the site               pronoun verb P | site preposition P
//
// Agreement in the translation:
//   - Between a determiner and its noun is the noun's measure word, one for each of six classes of nouns.  "the" has
//     neither a translation nor a measure word.  An owner, as in "his", has the particle di and no measure word.
//   - P is the particle of the noun that is modified: do for living beings, pu for things.  Two
//     thirds of the adjectives are followed by the particle of their noun too: adjective -> adjective P.
//   - Many adjectives and verbs have two translations.  The noun, the subject or the object decides which one is used.
//   - ka follows a verb in the past.  It is absent after desu (not) and dero (will).
//   - The object of some verbs is before the verb: verb np -> bi np verb ka.
// There are no plurals in the translation.
//
//   the nurse she kept pushed two heavy wagons near a tower yesterday .
//   tevi dovu pero do gema ga duno gam gisa dava bi piva gam tuli pu dami dela ka .
//   (yesterday, she kept P nurse, ga a M tower near, bi two M heavy P wagon pushed ka; M: measure word)
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "translation_words.hpp"

namespace triad::programs::cognition::translation {

constexpr auto const& at(auto const& table, int i) { return table[static_cast<std::size_t>(i)]; }
constexpr int count_of(auto const& table) { return static_cast<int>(table.size()); }

/// Adds a word after a space.  Does nothing if the word is empty.
inline void add(std::string& text, std::string_view word) {
  if (word.empty()) return;
  if (!text.empty()) text += ' ';
  text += word;
}
inline std::string joined(auto const&... words) {
  std::string text;
  (add(text, words), ...);
  return text;
}

/// A phrase after a noun: a pronoun and a verb, or a site.  By default, there is none.
struct modifier {
  int pronoun = -1, verb = -1, site = -1;

  explicit operator bool() const { return verb >= 0 || site >= 0; }
  friend bool operator==(modifier const&, modifier const&) = default;

  std::string source() const {
    if (site < 0) return joined(at(pronouns, pronoun).subject, at(verbs, verb).past);
    return joined(at(site_prepositions, at(sites, site).preposition).source, "the", at(sites, site).source);
  }
  std::string target(bool living) const {
    auto const* particle = living ? of_living : of_thing;
    if (site < 0) {
      auto const& v = at(verbs, verb);
      return joined(at(pronouns, pronoun).target, living ? v.living : v.thing, particle);
    }
    return joined(at(sites, site).target, at(site_prepositions, at(sites, site).preposition).target, particle);
  }
};

/// The modifiers of compounds: she kept, at the market, on the hill.
inline constexpr std::array<modifier, 3> fixed_modifiers{modifier{3, 20, -1}, {-1, -1, 0}, {-1, -1, 1}};

/// The determiners in one list: determiners, then numbers, then owners.
inline constexpr int first_number = count_of(determiners), first_owner = first_number + count_of(numbers),
                     all_determiners = first_owner + count_of(pronouns);
inline constexpr int indefinite = 5;  // "a" or "an"

enum class np_form { common, name, pronoun };

/// A noun phrase.
struct noun_phrase {
  np_form form = np_form::common;
  int word = 0;        // in nouns, names or pronouns
  int determiner = 0;  // of all_determiners
  int adjective = -1;  // -1: none
  modifier with{};

  bool plural() const {
    if (form == np_form::pronoun) return word == 1 || word == 4 || word == 5;  // you, we, they
    return form == np_form::common && determiner >= first_number && determiner < first_owner;
  }
  bool living() const {
    if (form == np_form::common) return is_living(at(nouns, word).what);
    return form == np_form::name || word != count_of(pronouns) - 1;
  }

  std::string source(bool is_object) const {
    if (form == np_form::name) return at(names, word).source;
    if (form == np_form::pronoun) return is_object ? at(pronouns, word).object : at(pronouns, word).subject;
    std::string const thing = plural() ? plural_of(at(nouns, word).source) : at(nouns, word).source,
                      described = joined(adjective < 0 ? "" : at(adjectives, adjective).source, thing);
    return joined(determiner_before(described.front()), described, with ? with.source() : "");
  }
  std::string target() const {
    if (form == np_form::name) return at(names, word).target;
    if (form == np_form::pronoun) return at(pronouns, word).target;
    std::string text = with ? with.target(living()) : "";
    auto const* measure = at(measure_words, static_cast<int>(at(nouns, word).what));
    if (determiner >= first_owner)
      add(text, joined(at(pronouns, determiner - first_owner).target, belongs));
    else if (determiner >= first_number)
      add(text, joined(at(numbers, determiner - first_number).target, measure));
    else if (determiner != 0)
      add(text, joined(at(determiners, determiner).target, measure));
    if (adjective >= 0) {
      auto const& a = at(adjectives, adjective);
      add(text, living() ? a.living : a.thing);
      if (a.marked) add(text, living() ? of_living : of_thing);
    }
    add(text, at(nouns, word).target);
    return text;
  }

 private:
  static std::string plural_of(std::string const& noun) { return noun + (noun.back() == 'x' ? "es" : "s"); }
  std::string determiner_before(char next) const {
    if (determiner >= first_owner) return at(pronouns, determiner - first_owner).owner;
    if (determiner >= first_number) return at(numbers, determiner - first_number).source;
    bool const vowel = std::string_view("aeiou").find(next) != std::string_view::npos;
    return determiner == indefinite && vowel ? "an" : at(determiners, determiner).source;
  }
};

enum class clause_form { transitive, intransitive, adjective };
enum class tense { past, denied, future };

struct clause {
  noun_phrase subject, second;
  bool both = false;  // the subject is subject and second
  clause_form form = clause_form::transitive;
  tense when = tense::past;
  int verb = 0;  // in verbs, plain_verbs or adjectives
  noun_phrase object{};
  int preposition = -1;  // -1: no prepositional phrase
  noun_phrase place{};
  int adverb = -1, time = -1;
  bool time_first = false;  // in the source

  /// Returns the text of the source.  A question has "did" in front, so its verb has the base form.
  std::string source(bool question = false) const {
    std::string text = time_first ? joined(at(times, time).source, ",") : question ? "did" : "";
    add(text, subject.source(false));
    if (both) add(text, joined("and", second.source(false)));
    add(text, predicate(question));
    if (form == clause_form::transitive) add(text, object.source(true));
    if (preposition >= 0) add(text, joined(at(prepositions, preposition).source, place.source(true)));
    if (adverb >= 0) add(text, at(adverbs, adverb).source);
    if (time >= 0 && !time_first) add(text, at(times, time).source);
    return text;
  }

  std::string target() const {
    std::string text = time < 0 ? "" : at(times, time).target;
    add(text, subject.target());
    if (both) add(text, joined(both_of, second.target()));
    if (adverb >= 0) add(text, at(adverbs, adverb).target);
    if (preposition >= place_prepositions)
      add(text, joined(at(prepositions, preposition).target, place.target()));
    else if (preposition >= 0)
      add(text, joined(at_place, place.target(), at(prepositions, preposition).target));
    if (when == tense::denied) add(text, not_done);
    if (when == tense::future) add(text, not_yet);
    auto const* ending = when == tense::past ? done : "";
    if (form == clause_form::adjective) {
      add(text, subject.living() ? at(adjectives, verb).living : at(adjectives, verb).thing);
    } else if (form == clause_form::intransitive) {
      add(text, joined(at(plain_verbs, verb).living, ending));
    } else {
      auto const& v = at(verbs, verb);
      auto const* word = object.living() ? v.living : v.thing;
      add(text, v.fronts ? joined(object_first, object.target(), word, ending) : joined(word, ending, object.target()));
    }
    return text;
  }

 private:
  static constexpr int place_prepositions = 8;

  std::string predicate(bool question) const {
    bool const many = both || subject.plural(), me = subject.form == np_form::pronoun && subject.word == 0;
    if (form == clause_form::adjective) {
      auto const* a = at(adjectives, verb).source;
      if (when == tense::future) return joined("will be", a);
      return joined(many && !me ? "were" : "was", when == tense::denied ? "not" : "", a);
    }
    auto const& v = form == clause_form::transitive ? at(verbs, verb) : at(plain_verbs, verb);
    if (when == tense::denied) return joined("did not", v.base);
    return when == tense::future ? joined("will", v.base) : question ? v.base : v.past;
  }
};

enum class sentence_form { plain, question, contrast, conjunction, report };

struct sentence {
  sentence_form form = sentence_form::plain;
  clause first, second{};  // second: of contrast and conjunction
  int word = 0;            // in conjunctions or reports
  noun_phrase speaker{};   // of a report, whose clause is `first`

  std::string source() const {
    switch (form) {
      case sentence_form::question:
        return joined(first.source(true), "?");
      case sentence_form::contrast:
        return joined(first.source(), "but", second.source(), ".");
      case sentence_form::conjunction:
        return joined(first.source(), at(conjunctions, word).source, second.source(), ".");
      case sentence_form::report:
        return joined(speaker.source(false), at(reports, word).source, "that", first.source(), ".");
      default:
        return joined(first.source(), ".");
    }
  }
  std::string target() const {
    switch (form) {
      case sentence_form::question:
        return joined(first.target(), asks, "?");
      case sentence_form::contrast:
        return joined(first.target(), ",", in_contrast, second.target(), ".");
      case sentence_form::conjunction:
        return joined(at(conjunctions, word).target, second.target(), ",", first.target(), ".");
      case sentence_form::report:
        return joined(speaker.target(), at(reports, word).target, first.target(), ".");
      default:
        return joined(first.target(), ".");
    }
  }
};

}  // namespace triad::programs::cognition::translation
