// Tests the replacement of phrases by phrases of other training sentences, in sentences of COGS. Also uses the
// published sentences if they are next to the checkout.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "meanings/cogs/grammar.hpp"
#include "meanings/cogs/hold_out.hpp"
#include "meanings/cogs/read.hpp"
#include "meanings/cogs/swap.hpp"
#include "tests/catch.hpp"
#include "tests/published.hpp"
#include "triad/batches/augmentation.hpp"

namespace programs_cogs_swap_tests {

using namespace triad::programs::cogs;
using sentences = std::vector<tagged_sentence>;
using texts = std::vector<std::string>;
constexpr auto noun_phrase = phrase_kind::noun_phrase, clause = phrase_kind::clause;

std::string text_of(tagged_sentence const& s, phrase const& p) {
  std::string text;
  for (int i = p.first; i < p.last; ++i) text += (i == p.first ? "" : " ") + s.tokens[static_cast<std::size_t>(i)];
  return text;
}
std::string text_of(tagged_sentence const& s) { return text_of(s, {0, s.size(), -1}); }

tagged_sentence read(char const* sentence, char const* form) { return from_logical_form(sentence, form, "train"); }
tagged_sentence given_to_bo() {
  return read("A fox gave the pear on a roof to Bo .",
              "* pear ( x _ 4 ) ; fox ( x _ 1 ) AND give . agent ( x _ 2 , x _ 1 ) AND give . theme ( x _ 2 , x _ 4 ) "
              "AND give . recipient ( x _ 2 , Bo ) AND pear . nmod . on ( x _ 4 , x _ 7 ) AND roof ( x _ 7 )");
}
tagged_sentence said_to_sing() {
  return read("Ada said that the otter sang .",
              "* otter ( x _ 4 ) ; say . agent ( x _ 1 , Ada ) AND say . ccomp ( x _ 1 , x _ 5 ) AND sing . agent ( x "
              "_ 5 , x _ 4 )");
}
sentences generated(int count) {
  sentence_generator random(7);
  sentences all;
  while (static_cast<int>(all.size()) < count)
    if (auto s = random.next(); !repeats_a_name(s)) all.push_back(std::move(s));
  return all;
}

TEST_CASE("phrases are found in the graph, with all that is in them") {
  auto const found = [](tagged_sentence const& s, auto const& which, phrase_kind kind) {
    texts all;
    for (auto const& p : which(s, kind)) all.push_back(text_of(s, p));
    return all;
  };
  auto const given = given_to_bo(), said = said_to_sing();
  CHECK(found(given, places_in, noun_phrase) == texts{"A fox", "the pear on a roof", "a roof", "Bo"});
  CHECK(found(given, places_in, clause).empty());
  CHECK(found(given, phrases_of, clause) == texts{"A fox gave the pear on a roof to Bo"});
  CHECK(found(said, places_in, noun_phrase) == texts{"Ada", "the otter"});
  CHECK(found(said, places_in, clause) == texts{"the otter sang"});
  CHECK(found(said, phrases_of, clause) == texts{"the otter sang", "Ada said that the otter sang"});
  // Each of these lines is a single word. A name is a phrase, and a noun or a verb is not. None of these words can be
  // replaced.
  for (auto const& [word, form, phrases] : {std::tuple("Cy", "Cy", texts{"Cy"}),
                                            {"pear", "LAMBDA a . pear ( a )", texts()},
                                            {"sing", "LAMBDA a . LAMBDA e . sing . agent ( e , a )", texts()}}) {
    auto const alone = from_logical_form(word, form, "primitive");
    CHECK(found(alone, phrases_of, noun_phrase) == phrases);
    CHECK(found(alone, places_in, noun_phrase).empty());
    CHECK(found(alone, phrases_of, clause).empty());
  }
  // In these graphs, the noun of a modifier is also a theme, or parents form a cycle. These graphs have no phrases.
  auto tangled = given;
  tangled.parent[7] = 2;
  CHECK(found(tangled, places_in, noun_phrase) == texts{"A fox", "a roof", "Bo"});
  tangled = said;
  tangled.parent[1] = 5;
  CHECK(found(tangled, phrases_of, clause).empty());
}

TEST_CASE("words and graph of a phrase take another's place, and the head gets its parent and role") {
  auto const given = given_to_bo(), said = said_to_sing();
  auto const places = places_in(given, noun_phrase);
  auto const otter = places_in(said, noun_phrase)[1], clauses = phrases_of(given, clause)[0];
  CHECK(with_phrase(given, places[0], said, otter) ==
        read("The otter gave the pear on a roof to Bo .",
             "* otter ( x _ 1 ) ; * pear ( x _ 4 ) ; give . agent ( x _ 2 , x _ 1 ) AND give . theme ( x _ 2 , x _ 4 ) "
             "AND give . recipient ( x _ 2 , Bo ) AND pear . nmod . on ( x _ 4 , x _ 7 ) AND roof ( x _ 7 )"));
  CHECK(with_phrase(given, places[1], given, places[3]).tokens ==
        texts{"A", "fox", "gave", "Bo", "to", "Bo", "."});  // Bo is twice in it, so no swap makes this sentence
  CHECK(with_phrase(said, places_in(said, noun_phrase)[0], given, places[1]) ==
        read("The pear on a roof said that the otter sang .",
             "* pear ( x _ 1 ) ; * otter ( x _ 8 ) ; pear . nmod . on ( x _ 1 , x _ 4 ) AND roof ( x _ 4 ) AND say . "
             "agent ( x _ 5 , x _ 1 ) AND say . ccomp ( x _ 5 , x _ 9 ) AND sing . agent ( x _ 9 , x _ 8 )"));
  CHECK(with_phrase(said, places_in(said, clause)[0], given, clauses) ==
        read("Ada said that a fox gave the pear on a roof to Bo .",
             "* pear ( x _ 7 ) ; say . agent ( x _ 1 , Ada ) AND say . ccomp ( x _ 1 , x _ 5 ) AND fox ( x _ 4 ) AND "
             "give . agent ( x _ 5 , x _ 4 ) AND give . theme ( x _ 5 , x _ 7 ) AND give . recipient ( x _ 5 , Bo ) "
             "AND pear . nmod . on ( x _ 7 , x _ 10 ) AND roof ( x _ 10 )"));
}

TEST_CASE("a phrase in its own place, or in that of one with the same words, changes nothing") {
  int places = 0;
  for (auto const& s : generated(200))
    for (auto const kind : phrase_kinds)
      for (auto const& p : places_in(s, kind)) {
        CHECK(with_phrase(s, p, s, p) == s);
        ++places;
      }
  CHECK(places > 400);
  auto const fox =
      read("The fox saw Ada .", "* fox ( x _ 1 ) ; see . agent ( x _ 2 , x _ 1 ) AND see . theme ( x _ 2 , Ada )");
  auto const other =
      read("Ada saw the fox .", "* fox ( x _ 3 ) ; see . agent ( x _ 1 , Ada ) AND see . theme ( x _ 1 , x _ 3 )");
  CHECK(with_phrase(fox, places_in(fox, noun_phrase)[0], other, places_in(other, noun_phrase)[1]) == fox);
}

/// Returns the number of occurrences of each role, except for roles within noun phrases, and of each verb.
std::map<std::string, int> labels_of(tagged_sentence const& s) {
  std::map<std::string, int> counts;
  for (std::size_t i = 0; i < s.tokens.size(); ++i) {
    if (s.role[i] != "PREP" && s.role[i] != "PP_NOUN") ++counts["role " + s.role[i]];
    if (!s.verb_name[i].empty()) ++counts["verb " + s.verb_name[i]];
  }
  counts.erase("role ");  // tokens without a role, whose number differs between phrases
  return counts;
}
/// Checks that the words and the logical form describe the same graph: parents, roles, categories, noun types and verbs
/// must agree.
void expect_consistent(tagged_sentence const& s) {
  CAPTURE(text_of(s));
  auto const form = to_logical_form(s);
  REQUIRE(form);
  CHECK(from_logical_form(text_of(s), *form, s.distribution) == s);
}

TEST_CASE(
    "swapped sentences are consistent graphs, no longer than the longest, and noun phrases keep verbs and roles") {
  auto const all = generated(300);
  std::size_t longest = 0;
  for (auto const& s : all) longest = std::max(longest, s.tokens.size());
  triad::augmentation const every{.seed = 2};
  for (auto const& kinds : {std::vector{noun_phrase}, {clause}, {noun_phrase, clause}}) {
    phrase_swaps const swaps(all, kinds);
    int swapped = 0, others = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      auto const s = swaps(i, *every.of(i, 0));
      if (!s) continue;
      ++swapped;
      others += *s == all[i] ? 0 : 1;
      expect_consistent(*s);
      CHECK(s->tokens.size() <= longest);
      CHECK_FALSE(repeats_a_name(*s));
      if (kinds == std::vector{noun_phrase}) CHECK(labels_of(*s) == labels_of(all[i]));
      CHECK(swaps(i, *every.of(i, 0)) == s);
    }
    CHECK(swapped > (kinds == std::vector{clause} ? 60 : 280));
    CHECK(others > swapped * 9 / 10);
  }
}

TEST_CASE("a list without another phrase, and one that refuses all, swaps nothing") {
  sentences const one{given_to_bo()}, two{given_to_bo(), said_to_sing()};
  triad::augmentation const every{.seed = 1};
  CHECK_FALSE(phrase_swaps(one, {noun_phrase})(0, *every.of(0, 0)));
  CHECK(phrase_swaps(two, {noun_phrase})(0, *every.of(0, 0)));
  CHECK_FALSE(phrase_swaps(two, {noun_phrase}, [](auto const&) { return true; })(0, *every.of(0, 0)));
  CHECK_FALSE(phrase_swaps(two, {clause})(0, *every.of(0, 0)));  // there is no clause
  // No sentence has "The", so the model has no number for it.
  sentences const without{
      read("A fox saw Bo .", "fox ( x _ 1 ) AND see . agent ( x _ 2 , x _ 1 ) AND see . theme ( x _ 2 , Bo )"),
      read("Bo saw the fox .", "* fox ( x _ 3 ) ; see . agent ( x _ 1 , Bo ) AND see . theme ( x _ 1 , x _ 3 )")};
  for (std::uint64_t epoch = 0; epoch < 40; ++epoch)
    if (auto const s = phrase_swaps(without, {noun_phrase})(0, *every.of(0, epoch)))
      CHECK(std::count(s->tokens.begin(), s->tokens.end(), "The") == 0);
}

TEST_CASE("noun phrases make constructions that are held out, and none where swaps stay within what is left") {
  std::vector<std::string> const kinds{"name-before-theme", "inner-modifier", "deepest-clauses", "deepest-modifiers"};
  sentences const all{
      read("A fox saw a pear on a roof .",
           "fox ( x _ 1 ) AND see . agent ( x _ 2 , x _ 1 ) AND see . theme ( x _ 2 , x _ 4 ) AND pear ( x _ 4 ) AND "
           "pear . nmod . on ( x _ 4 , x _ 7 ) AND roof ( x _ 7 )"),
      read("Ada gave a fox a pear .",
           "give . agent ( x _ 1 , Ada ) AND give . recipient ( x _ 1 , x _ 3 ) AND give . theme ( x _ 1 , x _ 5 ) AND "
           "fox ( x _ 3 ) AND pear ( x _ 5 )"),
      read("Cy said that a fox gave a pear to Bo .",
           "say . agent ( x _ 1 , Cy ) AND say . ccomp ( x _ 1 , x _ 5 ) AND fox ( x _ 4 ) AND give . agent ( x _ 5 , "
           "x _ 4 ) AND give . theme ( x _ 5 , x _ 7 ) AND give . recipient ( x _ 5 , Bo ) AND pear ( x _ 7 )"),
      read("Cy saw a fox on a pear .",
           "see . agent ( x _ 1 , Cy ) AND see . theme ( x _ 1 , x _ 3 ) AND fox ( x _ 3 ) AND fox . nmod . on ( x _ 3 "
           ", x _ 6 ) AND pear ( x _ 6 )"),
      read("Ada saw that a fox saw Bo .",
           "see . agent ( x _ 1 , Ada ) AND see . ccomp ( x _ 1 , x _ 5 ) AND fox ( x _ 4 ) AND see . agent ( x _ 5 , "
           "x _ 4 ) AND see . theme ( x _ 5 , Bo )"),
      read("The fox saw that the pear on a roof on a roof and all of that was seen .",  // so that no swap is too long
           "* fox ( x _ 1 ) ; see . agent ( x _ 2 , x _ 1 )"),
      read("Ada gave Bo a pear .",
           "give . agent ( x _ 1 , Ada ) AND give . recipient ( x _ 1 , Bo ) AND give . theme ( x _ 1 , x _ 4 ) AND "
           "pear ( x _ 4 )"),
      read("Ada gave a pear on a roof to Bo .",
           "give . agent ( x _ 1 , Ada ) AND give . theme ( x _ 1 , x _ 3 ) AND give . recipient ( x _ 1 , Bo ) AND "
           "pear ( x _ 3 ) AND pear . nmod . on ( x _ 3 , x _ 6 ) AND roof ( x _ 6 )"),
      read("Bo said that Ada said that Cy gave a fox a pear .",
           "say . agent ( x _ 1 , Bo ) AND say . ccomp ( x _ 1 , x _ 4 ) AND say . agent ( x _ 4 , Ada ) AND say . "
           "ccomp ( x _ 4 , x _ 7 ) AND give . agent ( x _ 7 , Cy ) AND give . recipient ( x _ 7 , x _ 9 ) AND give . "
           "theme ( x _ 7 , x _ 11 ) AND fox ( x _ 9 ) AND pear ( x _ 11 )"),
      read("Bo saw a pear on a roof on a roof .",
           "see . agent ( x _ 1 , Bo ) AND see . theme ( x _ 1 , x _ 3 ) AND pear ( x _ 3 ) AND pear . nmod . on ( x _ "
           "3 , x _ 6 ) AND roof ( x _ 6 ) AND roof . nmod . on ( x _ 6 , x _ 9 ) AND roof ( x _ 9 )")};
  auto const left = hold_out(all, kinds).train;
  REQUIRE(left.size() == 6);
  construction_finder const finder(all, {kinds.begin(), kinds.end()});
  auto const is_held_out = [&](tagged_sentence const& s) {
    return std::any_of(kinds.begin(), kinds.end(), [&](auto const& kind) { return finder.has(s, kind); });
  };
  auto const made = [&](phrase_swaps const& swaps) {
    std::map<std::string, int> found;
    int swapped = 0;
    for (std::uint64_t epoch = 0; epoch < 400; ++epoch)
      for (std::size_t i = 0; i < left.size(); ++i)
        if (auto const s = swaps(i, *triad::augmentation{.seed = 3}.of(i, epoch))) {
          for (auto const& kind : kinds) found[kind] += finder.has(*s, kind) ? 1 : 0;
          ++swapped;
        }
    CHECK(swapped > 300);
    return found;
  };
  auto const of_nouns = made(phrase_swaps(left, {noun_phrase}));
  for (auto const& kind : kinds) {
    CAPTURE(kind);
    CHECK((of_nouns.at(kind) > 0) == (kind != "deepest-clauses"));
  }
  CHECK(made(phrase_swaps(left, {clause})).at("deepest-clauses") > 0);
  for (auto const& [kind, count] : made(phrase_swaps(left, {noun_phrase, clause}, is_held_out))) CHECK(count == 0);
}

TEST_CASE("the published training sentences have phrases by the counts of the program's page, and swap consistently") {
  auto const path = triad::test::published("cogs/train_seqtag.jsonl.gz");
  if (triad::test::is_missing(path, "COGS")) return;
  auto const all = read_sentences(path.string());
  std::size_t noun_phrases = 0, clauses = 0, nowhere = 0;
  for (auto const& s : all) {
    noun_phrases += phrases_of(s, noun_phrase).size();
    clauses += places_in(s, clause).size();
    nowhere += places_in(s, noun_phrase).empty() ? 1 : 0;
  }
  CHECK(noun_phrases == 55958);
  CHECK(clauses == 2435);
  CHECK(nowhere == 143);
  phrase_swaps const swaps(all, {noun_phrase, clause});
  std::size_t swapped = 0;
  for (std::size_t i = 0; i < all.size(); i += 7)
    if (auto const s = swaps(i, *triad::augmentation{.seed = 1}.of(i, 0))) {
      expect_consistent(*s);
      ++swapped;
    }
  CHECK(swapped > all.size() / 7 * 98 / 100);
}

}  // namespace programs_cogs_swap_tests
