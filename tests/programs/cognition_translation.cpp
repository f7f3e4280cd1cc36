// Tests the generated translation task of the program cognition: its grammar, its held-out compounds, its files and
// their score.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "sequences/cognition/score.hpp"
#include "sequences/cognition/translation_data.hpp"
#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"

namespace programs_cognition_translation_tests {

namespace sequences = triad::programs::sequences;

using namespace triad::programs::cognition;
namespace grammar = triad::programs::cognition::translation;
using triad::programs::text_pair;
using triad::test::contains;
using triad::test::WithinAbs;
using triad::text::words;

translation_data const& made() {
  static auto const data = generate_translation(4000, 200, 1);
  return data;
}

/// Returns the place of the row whose member is `word`.
int place_of(auto const& table, auto member, std::string const& word) {
  for (int i = 0; i < grammar::count_of(table); ++i)
    if (grammar::at(table, i).*member == word) return i;
  FAIL(word);
  return -1;
}
int place_of(auto const& table, std::string const& source) {
  return place_of(table, &std::remove_cvref_t<decltype(table[0])>::source, source);
}
int verb_of(auto const& table, std::string const& past) { return place_of(table, &grammar::verb::past, past); }

grammar::noun_phrase thing(int determiner, std::string const& adjective, std::string const& noun,
                           grammar::modifier with = {}) {
  return {grammar::np_form::common, place_of(grammar::nouns, noun), determiner,
          adjective.empty() ? -1 : place_of(grammar::adjectives, adjective), with};
}

constexpr int the = 0, every = 1, a = grammar::indefinite, two = grammar::first_number, her = grammar::first_owner + 3;

TEST_CASE("a noun decides its measure word, its particles and the translations of adjectives and modifiers") {
  auto const [kept, market, hill] = grammar::fixed_modifiers;
  struct example {
    grammar::noun_phrase phrase;
    char const *source, *target;
  };
  for (auto const& e : {
           example{thing(the, "", "baker"), "the baker", "base"},
           // ban is the measure word of persons, tul of animals, por of vessels, gam of large things
           example{thing(every, "", "baker"), "every baker", "posi ban base"},
           example{thing(every, "", "horse"), "every horse", "posi tul piso"},
           example{thing(every, "", "wagon"), "every wagon", "posi gam dami"},
           example{thing(two, "", "box"), "two boxes", "piva por beva"},
           example{thing(her, "", "wagon"), "her wagon", "dovu di dami"},
           // heavy has two translations, and the particle of its noun
           example{thing(a, "heavy", "horse"), "a heavy horse", "duno tul bolu do piso"},
           example{thing(a, "heavy", "wagon"), "a heavy wagon", "duno gam tuli pu dami"},
           // golden has one translation and the particle, clean has two translations, ancient has one
           example{thing(a, "golden", "wagon"), "a golden wagon", "duno gam paro pu dami"},
           example{thing(a, "clean", "horse"), "a clean horse", "duno tul kane piso"},
           example{thing(a, "clean", "wagon"), "a clean wagon", "duno gam bere dami"},
           example{thing(a, "ancient", "tower"), "an ancient tower", "duno gam dalo gisa"},
           // a modifier, with the particle do or pu, comes before all of this
           example{thing(every, "", "horse", kept), "every horse she kept", "dovu pero do posi tul piso"},
           example{thing(every, "", "wagon", kept), "every wagon she kept", "dovu geno pu posi gam dami"},
           example{thing(two, "clean", "horse", market), "two clean horses at the market",
                   "tere tesi do piva tul kane piso"},
           example{thing(the, "", "wagon", hill), "the wagon on the hill", "damu tose pu dami"},
       }) {
    CHECK(e.phrase.source(false) == e.source);
    CHECK(e.phrase.target() == e.target);
  }
}

TEST_CASE("a clause has its prepositional phrase before the verb, and the object of some verbs too") {
  grammar::clause c;
  c.subject = thing(the, "", "nurse");
  c.verb = verb_of(grammar::verbs, "feared");
  c.object = thing(the, "", "tiger");
  CHECK(c.source() == "the nurse feared the tiger");
  CHECK(c.target() == "gema tovo ka piro");
  c.verb = verb_of(grammar::verbs, "pushed");  // has its object before it, and one translation
  CHECK(c.target() == "gema bi piro dela ka");
  c.object = thing(the, "", "wagon");
  c.preposition = place_of(grammar::prepositions, "near"), c.place = thing(the, "", "tower");
  c.time = place_of(grammar::times, "yesterday"), c.adverb = place_of(grammar::adverbs, "slowly");
  CHECK(c.source() == "the nurse pushed the wagon near the tower slowly yesterday");
  CHECK(c.target() == "tevi gema bura ga gisa dava bi dami dela ka");
  c.object = thing(the, "", "tiger"), c.verb = verb_of(grammar::verbs, "feared");  // two translations
  CHECK(c.target() == "tevi gema bura ga gisa dava tovo ka piro");
  c.object = thing(the, "", "wagon");
  CHECK(c.target() == "tevi gema bura ga gisa dava tusi ka dami");
  c.verb = verb_of(grammar::verbs, "pushed");
  c.preposition = place_of(grammar::prepositions, "with"), c.adverb = c.time = -1;
  CHECK(c.target() == "gema kuse gisa bi dami dela ka");
  c.when = grammar::tense::denied;
  CHECK(c.source() == "the nurse did not push the wagon with the tower");
  CHECK(c.target() == "gema kuse gisa desu bi dami dela");
  c.when = grammar::tense::future, c.both = true, c.second = thing(the, "", "king"), c.preposition = -1;
  CHECK(c.source() == "the nurse and the king will push the wagon");
  CHECK(c.target() == "gema tuno palo dero bi dami dela");
}

TEST_CASE("the example in the header is translated by the rules there") {
  grammar::sentence s;
  s.first.subject = thing(the, "", "nurse", grammar::fixed_modifiers[0]);
  s.first.verb = verb_of(grammar::verbs, "pushed");
  s.first.object = thing(two, "heavy", "wagon");
  s.first.preposition = place_of(grammar::prepositions, "near"), s.first.place = thing(a, "", "tower");
  s.first.time = place_of(grammar::times, "yesterday");
  CHECK(s.source() == "the nurse she kept pushed two heavy wagons near a tower yesterday .");
  CHECK(s.target() == "tevi dovu pero do gema ga duno gam gisa dava bi piva gam tuli pu dami dela ka .");
  s.first.time_first = true;
  CHECK(s.source() == "yesterday , the nurse she kept pushed two heavy wagons near a tower .");
  CHECK(s.target() == "tevi dovu pero do gema ga duno gam gisa dava bi piva gam tuli pu dami dela ka .");
}

TEST_CASE("questions end in a particle, and the clause of a conjunction comes first") {
  grammar::sentence s;
  auto& c = s.first;
  c.subject = {grammar::np_form::pronoun, 3, 0, -1, {}};
  c.form = grammar::clause_form::intransitive;
  c.verb = verb_of(grammar::plain_verbs, "slept");
  CHECK(s.source() == "she slept .");
  CHECK(s.target() == "dovu buvi ka .");
  s.form = grammar::sentence_form::question;
  CHECK(s.source() == "did she sleep ?");
  CHECK(s.target() == "dovu buvi ka te ?");
  s.second.subject = thing(two, "", "frog");
  s.second.form = grammar::clause_form::adjective;
  s.second.verb = place_of(grammar::adjectives, "heavy");
  s.form = grammar::sentence_form::conjunction;
  CHECK(s.source() == "she slept because two frogs were heavy .");
  CHECK(s.target() == "bese piva tul duna bolu , dovu buvi ka .");
  s.form = grammar::sentence_form::contrast;
  CHECK(s.source() == "she slept but two frogs were heavy .");
  CHECK(s.target() == "dovu buvi ka , gima piva tul duna bolu .");
  s.form = grammar::sentence_form::report, s.speaker = thing(the, "", "king");
  CHECK(s.source() == "the king said that she slept .");
  CHECK(s.target() == "palo turo dovu buvi ka .");
}

TEST_CASE("every sentence and every compound follows from the seed") {
  auto const again = generate_translation(4000, 200, 1), other = generate_translation(4000, 200, 2);
  CHECK(again.train == made().train);
  CHECK(again.valid == made().valid);
  CHECK(again.cg_test == made().cg_test);
  CHECK(again.compounds == made().compounds);
  CHECK(other.train != made().train);
  CHECK(other.compounds != made().compounds);
  // The first pair is the same on every machine.
  CHECK(made().train[0].source == "few ancient cards dropped three dark ladders .");
  CHECK(made().train[0].target == "diri dis dalo poso bi bana ken pisi pu disu delo ka .");
}

TEST_CASE("compounds have the grid of CoGnition, and at full size there are 2,160 of them") {
  grammar::generator draw(1);
  std::set<std::string> all;
  for (int kind = 0; kind < 3; ++kind) {
    auto const compounds = draw.compounds(kind, grammar::compounds_of_kind);
    CHECK(compounds.size() == 720);
    std::map<std::string, std::set<int>> parts;
    int bare = 0;
    for (auto const& c : compounds) {
      all.insert(c.source());
      parts["noun"].insert(c.phrase.word);
      parts["determiner"].insert(c.phrase.determiner);
      parts["adjective"].insert(c.phrase.adjective);
      parts["head"].insert(c.head);
      bare += c.phrase.adjective < 0 && !c.phrase.with ? 1 : 0;
      CHECK((kind == 0   ? draw.is_held(c.phrase)
             : kind == 1 ? draw.is_held_object(c.head, c.phrase)
                         : draw.is_held_place(c.head, c.phrase)));
    }
    CHECK(parts["noun"].size() == 8);
    CHECK(parts["determiner"].size() == 5);
    CHECK(parts["adjective"].size() == 6);  // five, and none
    CHECK(bare == 40);
    CHECK(parts["head"].size() == (kind == 0 ? 1u : kind == 1 ? 20u : 16u));
  }
  CHECK(all.size() == 2160);
}

TEST_CASE("no sentence is in two parts, and compounds are in cg-test alone, each whole and in five sentences") {
  auto const& d = made();
  CHECK(d.train.size() == 4000);
  CHECK(d.valid.size() == 200);
  CHECK(d.test.size() == 200);
  REQUIRE(d.cg_test.size() == std::size_t{3 * 14 * 5});  // 720 compounds of a kind, times 200 / 10,000
  REQUIRE(d.compounds.size() == d.cg_test.size());
  auto const padded = [](std::string const& text) { return " " + text + " "; };
  std::set<std::string> seen;
  std::set<std::string> const compounds(d.compounds.begin(), d.compounds.end());
  CHECK(compounds.size() == 42);
  for (auto const* part : {&d.train, &d.valid, &d.test})
    for (auto const& pair : *part) {
      CHECK(seen.insert(pair.source).second);
      for (auto const& c : compounds)
        if (padded(pair.source).find(padded(c)) != std::string::npos) FAIL_CHECK(pair.source + ": " + c);
    }
  for (std::size_t i = 0; i < d.cg_test.size(); ++i) {
    CAPTURE(d.cg_test[i].source, d.compounds[i]);
    CHECK(seen.insert(d.cg_test[i].source).second);
    CHECK(padded(d.cg_test[i].source).find(padded(d.compounds[i])) != std::string::npos);
    CHECK(d.compounds[i] == d.compounds[i - i % 5]);
    CHECK(d.cg_test[i].kind == (i < 70 ? "NP" : i < 140 ? "VP" : "PP"));
  }

  std::vector<text_pair> const leak{{"a", "b", {}}, {"x " + d.compounds[7] + " .", "b", {}}};
  CHECK_THROWS_WITH(expect_no_compound(leak, d.compounds), contains("has the compound '" + d.compounds[7] + "'"));
  CHECK_NOTHROW(expect_no_compound(std::vector<text_pair>{{d.compounds[7] + "s", "b", {}}}, d.compounds));
}

TEST_CASE("pairs that are held out do not occur in training at all") {
  // The nouns of noun phrases never have a determiner of compounds, but they do have others.
  int others = 0;
  for (auto const& pair : made().train) {
    auto const all = words(pair.source);
    for (std::size_t i = 1; i < all.size(); ++i) {
      if (all[i] != "baker" && all[i] != "wagon") continue;
      for (auto const* held : {"the", "every", "any", "another", "each", "heavy", "golden"}) CHECK(all[i - 1] != held);
      others += all[i - 1] == "some" || all[i - 1] == "his" ? 1 : 0;
    }
  }
  CHECK(others > 3);
}

TEST_CASE("every atom of a compound is frequent in training, or the data are refused") {
  auto const& d = made();
  lexicon known;
  for (auto const& line : translation_lexicon()) known.add(line);
  CHECK_NOTHROW(expect_atoms(d.train, d.compounds, known, 2));
  std::vector<std::string> const one{"near the table she kept"};
  std::vector<text_pair> const pairs(3, {"the table is near , she kept it", "", {}});
  CHECK_NOTHROW(expect_atoms(pairs, one, known, 3));
  CHECK_THROWS_WITH(expect_atoms(pairs, one, known, 4),
                    contains("an atom of the compound '" + one[0]) &&
                        contains("is 3 times in the training sentences, expected at least 4"));
  CHECK_THROWS_WITH(generate_translation(20, 200, 1), contains("ask for more with --sentences"));
}

TEST_CASE("the words of a translation can be told apart without spaces") {
  std::set<std::string> content;
  auto const add = [&](std::string const& word, bool once = true) {
    CAPTURE(word);
    CHECK((content.insert(word).second || !once));
    REQUIRE(word.size() == 4);
    for (std::size_t i = 0; i < 4; ++i)
      CHECK(std::string(i % 2 == 1 ? "aeiou" : i == 0 ? "pbtdkg" : "mnlrsv").find(word[i]) != std::string::npos);
  };
  using namespace grammar;
  for (auto const& n : nouns) add(n.target);
  for (auto const& x : adjectives) add(x.living), add(x.thing, std::string(x.living) != x.thing);
  for (auto const& v : verbs) add(v.living), add(v.thing, std::string(v.living) != v.thing);
  for (auto const& v : plain_verbs) add(v.living);
  for (auto const& p : pronouns) add(p.target);
  for (auto const& s : sites) add(s.target);
  for (auto const& w : determiners)
    if (w.target[0] != '\0') add(w.target);
  auto const add_all = [&](auto const& table) {
    for (auto const& w : table) add(w.target);
  };
  add_all(prepositions), add_all(numbers), add_all(site_prepositions), add_all(names), add_all(reports);
  add_all(adverbs), add_all(times), add_all(conjunctions);
  for (auto const* w : {not_done, not_yet, both_of, in_contrast}) add(w);
}

TEST_CASE("a folder of the task is read, its references have no errors, and one wrong atom is an error") {
  auto const& d = made();
  triad::test::scratch_folder const folder;
  for (auto const& file : translation_files(d)) std::ofstream(folder / file.name) << file.content;
  options o;
  o.data = folder / "", o.task = "cognition";
  auto const p = program_of(o, true);
  CHECK(p.data.train == d.train);
  CHECK(p.data.dev == d.valid);
  REQUIRE(p.data.tests.size() == 2);
  CHECK(p.data.tests[0].pairs == d.test);
  auto const& part = p.data.tests[1];
  CHECK(part.name == "cg-test");
  CHECK(part.pairs == d.cg_test);  // with its kinds

  auto hypotheses = sequences::references_of(part);
  auto const rate = [&](std::string const& name) {
    for (auto const& f : sequences::score(p, part, hypotheses).figures)
      if (f.title() == name) return f.value;
    FAIL(name);
    return -1.0;
  };
  CHECK(rate("CTER instance") == 0);
  CHECK(rate("CTER aggregate") == 0);
  CHECK(rate("exact match") == 100);
  CHECK(rate("BLEU none") > 99.99);
  CHECK(rate("BLEU char") > 99.99);

  // Another noun in one line is one error of 210 lines, and one of 42 compounds.
  auto const known = lexicon::read(folder / "lexicon");
  auto const spoil = [&](atom_class what) {
    for (auto const& atom : known.atoms_of(d.compounds[0]))
      if (known.class_of(atom) == what)
        for (auto const& t : known.of(atom)) {
          auto all = words(hypotheses[0]);
          std::replace(all.begin(), all.end(), t, std::string("pasi"));  // no word of the language
          hypotheses[0] = triad::text::joined(all);
        }
  };
  spoil(atom_class::noun);
  CHECK_THAT(rate("CTER instance"), WithinAbs(100.0 / 210, 1e-9));
  CHECK_THAT(rate("CTER aggregate"), WithinAbs(100.0 / 42, 1e-9));
  CHECK_THAT(rate("CTER instance of NP"), WithinAbs(100.0 / 70, 1e-9));
  CHECK_THAT(rate("CTER aggregate of NP"), WithinAbs(100.0 / 14, 1e-9));
  CHECK(rate("CTER instance of VP") == 0);
  CHECK(rate("CTER aggregate of PP") == 0);

  // CTER accepts both translations of an adjective, and does not read measure words.
  auto const right = [&](char const* hypothesis) { return translates(hypothesis, "heavy horse at the market", known); };
  CHECK(right("tere tesi do piva tul bolu do piso"));
  CHECK(right("tere tesi pu piva gam tuli pu piso"));
  CHECK_FALSE(right("piva tul bolu do piso"));               // the modifier is missing
  CHECK_FALSE(right("piva tul bolu do piso tere tesi do"));  // it is after the noun
  CHECK_FALSE(right("tere tesi do piva tul piso bolu do"));  // the adjective is
}

}  // namespace programs_cognition_translation_tests
