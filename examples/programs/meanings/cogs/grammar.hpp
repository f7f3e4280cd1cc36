// Generates sentences like those of COGS, with their graphs, from a small grammar.  Runs and tests use them if there
// are no data files.
// SPDX-License-Identifier: Apache-2.0
//
//   S   -> NP VP .                      VP -> V | V NP | was V by NP | V NP to NP | V NP NP | V that S | V to V
//   NP  -> name | the N | a N           NP -> NP on NP, if modifiers are allowed
//
// Each kind of test sentence has something that training sentences do not have:
//   lexical     A noun that is only an object in training is a subject.  A verb that is only active in training is
//               passive.
//   structural  The subject has a modifier.  Clauses or modifiers are nested more deeply.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "sentence.hpp"
#include "triad/core/random.hpp"

namespace triad::programs::cogs {

/// The kinds of test sentences, in the order of the report.
inline constexpr std::array<char const*, 5> generated_kinds{"object_to_subject", "active_to_passive",
                                                            "subject_modifier", "deeper_clauses", "deeper_modifiers"};

class sentence_generator {
 public:
  explicit sentence_generator(std::uint64_t seed) : random_(seed) {}

  /// Draws a training sentence.  It has at most two nested clauses and two nested modifiers.  Only its objects have
  /// modifiers.
  tagged_sentence next() {
    begin("in_distribution");
    clause(random_.below(3));
    return end();
  }

  /// Draws a test sentence of a kind.
  tagged_sentence next(std::string const& kind) {
    begin(kind);
    if (kind == "object_to_subject") {
      int const subject = noun_phrase(only_objects[pick(only_objects)]);
      int const verb = word(transitive[active()], "VERB");
      attach(subject, verb, "agent");
      attach(object(0), verb, "theme");
    } else if (kind == "active_to_passive") {
      passive(only_active);
    } else if (kind == "subject_modifier") {
      int const subject = noun_phrase(nouns[pick(nouns)]);
      modifiers(subject, 1);
      intransitive(subject);
    } else if (kind == "deeper_clauses") {
      clause(3 + random_.below(4));
    } else {
      int const subject = noun_phrase();
      int const verb = word(transitive[active()], "VERB");
      attach(subject, verb, "agent");
      int const theme = noun_phrase(nouns[pick(nouns)]);
      attach(theme, verb, "theme");
      modifiers(theme, 3 + random_.below(4));
    }
    return end();
  }

 private:
  /// A verb as it occurs in a sentence, and its lemma.
  struct verb_form {
    char const *past, *lemma;
  };
  static constexpr std::array<char const*, 8> names{"Ada", "Boris", "Clara", "Dora", "Emil", "Farid", "Greta", "Hugo"};
  static constexpr std::array<char const*, 14> nouns{"baker", "otter", "pilot", "nurse",  "lamp", "violin", "kettle",
                                                     "poet",  "fox",   "guest", "ladder", "pear", "sailor", "statue"};
  static constexpr std::array<char const*, 2> only_objects{"lantern", "heron"};
  static constexpr std::array<char const*, 5> places{"roof", "table", "boat", "hill", "shelf"};
  static constexpr std::array<char const*, 3> prepositions{"on", "beside", "under"};
  static constexpr std::array<verb_form, 3> unergative{{{"laughed", "laugh"}, {"swam", "swim"}, {"sang", "sing"}}};
  static constexpr std::array<verb_form, 2> unaccusative{{{"fell", "fall"}, {"melted", "melt"}}};
  static constexpr std::array<verb_form, 6> transitive{{{"saw", "see"},
                                                        {"carried", "carry"},
                                                        {"drew", "draw"},
                                                        {"found", "find"},
                                                        {"cleaned", "clean"},
                                                        {"painted", "paint"}}};
  static constexpr std::array<char const*, 6> participles{"seen", "carried", "drawn", "found", "cleaned", "painted"};
  // Number of a verb that is passive only in tests.  Its participle equals its past form.
  static constexpr int only_active = 5;
  static constexpr std::array<verb_form, 2> dative{{{"gave", "give"}, {"sent", "send"}}};
  static constexpr std::array<verb_form, 3> clausal{{{"knew", "know"}, {"said", "say"}, {"hoped", "hope"}}};
  static constexpr std::array<verb_form, 2> controlling{{{"wanted", "want"}, {"tried", "try"}}};

  template <class List>
  std::size_t pick(List const& list) {
    return static_cast<std::size_t>(random_.below(static_cast<int>(list.size())));
  }
  std::size_t active() { return pick(transitive); }
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  void begin(std::string kind) { sentence_ = tagged_sentence({}, std::move(kind)); }
  tagged_sentence end() {
    word(".");
    auto& first = sentence_.tokens[0];
    if (first == "the") first = "The";
    if (first == "a") first = "A";
    return std::move(sentence_);
  }

  int word(std::string text, char const* category = "", char const* noun_type = "", char const* verb = "") {
    auto& s = sentence_;
    s.tokens.push_back(std::move(text));
    s.parent.push_back(-1);
    s.role.emplace_back();
    s.category.emplace_back(category);
    s.noun_type.emplace_back(noun_type);
    s.verb_name.emplace_back(verb);
    return s.size() - 1;
  }
  int word(verb_form const& v, char const* category) { return word(v.past, category, "", v.lemma); }
  void attach(int child, int parent, char const* role) {
    sentence_.parent[at(child)] = parent;
    sentence_.role[at(child)] = role;
  }

  /// Writes a name, or a noun with its article.  Returns the position of the head.
  int noun_phrase() {
    if (random_.chance(1, 3)) return word(names[pick(names)], "PNOUN");
    return noun_phrase(nouns[pick(nouns)]);
  }
  int noun_phrase(char const* noun) {
    bool const definite = random_.chance(1, 2);
    word(definite ? "the" : "a");
    return word(noun, "CNOUN", definite ? "DEF" : "INDEF");
  }
  /// Writes `depth` nested modifiers after a noun.  Each modifier modifies the noun of the modifier before.
  void modifiers(int noun, int depth) {
    for (int k = 0; k < depth; ++k) {
      int const preposition = word(prepositions[pick(prepositions)]);
      attach(preposition, noun, "PREP");
      noun = noun_phrase(places[pick(places)]);
      attach(noun, preposition, "PP_NOUN");
    }
  }
  int object(int most_modifiers) {
    if (random_.chance(1, 6)) return noun_phrase(only_objects[pick(only_objects)]);
    int const head = noun_phrase();
    if (most_modifiers > 0 && sentence_.category[at(head)] == "CNOUN" && random_.chance(1, 4))
      modifiers(head, 1 + random_.below(most_modifiers));
    return head;
  }

  int intransitive(int subject) {
    bool const theme = random_.chance(1, 3);
    int const verb =
        theme ? word(unaccusative[pick(unaccusative)], "VERB") : word(unergative[pick(unergative)], "VERB");
    attach(subject, verb, theme ? "theme" : "agent");
    return verb;
  }
  int passive(int which) {
    int const subject = noun_phrase();
    word("was");
    int const verb = word(participles[at(which)], "VERB", "", transitive[at(which)].lemma);
    attach(subject, verb, "theme");
    if (random_.chance(1, 2)) {
      word("by");
      attach(noun_phrase(), verb, "agent");
    }
    return verb;
  }

  /// Writes a clause with `depth` nested clauses.  Returns the position of its verb.
  int clause(int depth) {
    if (depth > 0) {
      int const subject = noun_phrase(), verb = word(clausal[pick(clausal)], "VERB");
      attach(subject, verb, "agent");
      word("that");
      attach(clause(depth - 1), verb, "ccomp");
      return verb;
    }
    int const kind = random_.below(7);
    if (kind == 6) return passive(random_.below(only_active));
    int const subject = noun_phrase();
    if (kind == 0) return intransitive(subject);
    if (kind == 1) {  // to-infinitive
      int const verb = word(controlling[pick(controlling)], "VERB");
      attach(subject, verb, "agent");
      word("to");
      auto const& inner = unergative[pick(unergative)];
      attach(word(inner.lemma, "", "", inner.lemma), verb,
             "xcomp");  // no category, as in COGS: this verb has no arguments of its own
      return verb;
    }
    if (kind <= 3) {
      int const verb = word(dative[pick(dative)], "VERB");
      attach(subject, verb, "agent");
      int const first = object(0);
      bool const to = kind == 2;
      if (to) word("to");
      int const second = to ? noun_phrase() : object(1);
      attach(first, verb, to ? "theme" : "recipient");
      attach(second, verb, to ? "recipient" : "theme");
      return verb;
    }
    int const verb = word(transitive[active()], "VERB");
    attach(subject, verb, "agent");
    attach(object(2), verb, "theme");
    return verb;
  }

  counter_random random_;
  tagged_sentence sentence_;
};

}  // namespace triad::programs::cogs
