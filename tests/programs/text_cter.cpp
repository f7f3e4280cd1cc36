// Tests CoGnition's compound translation error rate: cases by hand, and the published reference translations, which
// have a known score.
// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "sequences/cognition/cter.hpp"
#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"
#include "tests/published.hpp"
#include "triad/io/text/gz_lines.hpp"

namespace programs_text_cter_tests {

using namespace triad::programs::cognition;
using triad::test::contains;
using triad::test::WithinAbs;
using list = std::vector<std::string>;

lexicon small() {
  lexicon result;
  result.set("the", "/");
  result.set("every", "每/所有");
  result.set("small", "小");
  result.set("dog", "狗/犬");
  result.set("farmer", "农民");
  result.set("near", "附近/近");
  result.set("saw", "看到");
  result.set("liked", "喜欢/");
  result.set("mod0", "他喜欢的");
  return result;
}

cter score(std::span<std::string const> hypotheses, std::span<std::string const> compounds, lexicon const& known) {
  return total(scores_by_kind(hypotheses, compounds, list(compounds.size()), known));
}

std::vector<std::string> lines_of(std::string const& path) {
  triad::text::gz_lines lines(path);
  std::vector<std::string> result;
  for (std::string line; lines.next(line);) result.push_back(line);
  return result;
}

TEST_CASE("a compound is right where its atoms are translated, and what describes the noun is before it") {
  auto const known = small();
  struct example {
    char const *compound, *hypothesis;
    bool right;
  };
  for (auto const& e : {
           example{"the dog", "狗跑了。", true},
           example{"the dog", "猫跑了。", false},
           example{"every dog", "每只狗", true},
           example{"every dog", "所有的犬", true},
           example{"every dog", "只狗", false},
           example{"every dog", "狗每", false},     // the determiner is after the noun
           example{"every dog", "狗每只狗", true},  // the last occurrence of the noun counts
           example{"small dog", "狗小每小", false},
           example{"the small dog he liked", "他 喜欢@@ 的 小@@ 狗", true},  // word parts are joined
           example{"the small dog he liked", "小狗他喜欢的", false},
           example{"saw the dog he liked", "看到狗他喜欢的", true},  // with a verb, the modifier may be at any place
           example{"saw the dog he liked", "看到狗", false},         // the modifier is missing
           example{"near the dog", "狗附近", true},                  // a preposition may be at any place
           example{"near the dog", "狗", false},
           example{"liked the dog", "狗", true},                 // an empty translation matches anywhere
           example{"every dog every farmer", "每农民狗", true},  // if there are two nouns, the later one counts
           example{"every dog every farmer", "农民每狗", false},
           example{"every dog", "", false},
       }) {
    CAPTURE(e.compound, e.hypothesis);
    CHECK(translates(e.hypothesis, e.compound, known) == e.right);
  }
}

TEST_CASE("a group of five contexts is right only where all five are") {
  list const compounds(10, "every dog");
  list hypotheses(10, "每只狗");
  auto const rates = [&] { return score(hypotheses, compounds, small()); };
  CHECK(rates().instance() == 0);
  CHECK(rates().aggregate() == 0);
  hypotheses[7] = "狗";
  CHECK(rates().wrong_lines == 1);
  CHECK(rates().instance() == 0.1);
  CHECK(rates().aggregate() == 0.5);
  hypotheses[9] = "";
  CHECK(rates().instance() == 0.2);
  CHECK(rates().aggregate() == 0.5);
  CHECK(score({}, {}, small()).aggregate() == 0);
}

TEST_CASE("a lexicon and lines that do not fit are refused with their place") {
  triad::test::scratch_folder const folder;
  auto const write = [&](char const* content) {
    std::ofstream(folder / "lexicon") << content;
    return folder / "lexicon";
  };
  auto const known = lexicon::read(write("the\t/\nbuilding\t建筑\n\nbuilding\t楼/房子\n"));
  CHECK(known.of("the").empty());
  CHECK(known.of("building") == list{"楼", "房子"});
  CHECK_THROWS_WITH(known.of("dog"), contains("does not have 'dog'"));
  CHECK_THROWS_WITH(lexicon::read(write("the\t/\ndog\n")), contains("lexicon:2: an atom, a tab"));
  CHECK_THROWS_WITH(lexicon::read(write("dog\t\n")), contains("lexicon:1: "));
  CHECK_THROWS_WITH(lexicon::read(write("\n")), contains("no atom in it"));
  CHECK_THROWS_WITH(lexicon::read(folder / "none"), contains("cannot be opened"));

  list const five(5, "every dog"), four(4, "every dog");
  CHECK_THROWS_WITH(score(four, five, small()), contains("4 translations and 5 kinds but 5 compounds"));
  CHECK_THROWS_WITH(score(four, four, small()), contains("groups of five"));
  list mixed = five;
  mixed[3] = "the dog";
  CHECK_THROWS_WITH(score(five, mixed, small()), contains("compound 4, 'the dog': line 1 begins"));
  CHECK_THROWS_WITH(score(five, list(5, "every wolf"), small()),
                    contains("compound 1, 'every wolf': 'wolf' is no atom"));
  CHECK_THROWS_WITH(score(five, list(5, " "), small()), contains("compound is empty"));
}

TEST_CASE("errors are counted for each kind of compound, and the kinds add up to all") {
  list compounds, kinds, hypotheses;
  auto const five = [&](char const* compound, char const* kind, list const& answers) {
    for (auto const& answer : answers) {
      compounds.emplace_back(compound);
      kinds.emplace_back(kind);
      hypotheses.push_back(answer);
    }
  };
  five("every dog", "NP", {"每只狗", "每只猫", "每只狗", "狗每", "每只犬"});  // two wrong lines
  five("the dog", "NP", list(5, "狗跑了"));
  five("saw the dog", "VP", list(5, "看到狗"));
  five("near the dog", "PP", list(5, "狗"));  // all wrong
  auto const of = scores_by_kind(hypotheses, compounds, kinds, small());
  REQUIRE(of.size() == 3);
  CHECK_THAT(of.at("NP").instance(), WithinAbs(0.2, 1e-12));
  CHECK_THAT(of.at("NP").aggregate(), WithinAbs(0.5, 1e-12));
  CHECK(of.at("VP").wrong_lines == 0);
  CHECK(of.at("VP").lines == 5);
  CHECK(of.at("PP").instance() == 1);
  CHECK(of.at("PP").aggregate() == 1);
  auto const all = score(hypotheses, compounds, small());
  CHECK(all.lines == 20);
  CHECK(all.wrong_lines == 7);
  CHECK(all.groups == 4);
  CHECK(all.wrong_groups == 2);
  kinds[3] = "VP";
  CHECK_THROWS_WITH(scores_by_kind(hypotheses, compounds, kinds, small()),
                    contains("lines 1 and 4 have the compound 'every dog', but are of the kinds NP and VP"));
  CHECK_THROWS_WITH(scores_by_kind(hypotheses, compounds, list(4, "NP"), small()), contains("4 kinds"));
}

TEST_CASE("a lexicon may name the classes of its atoms, which may be phrases") {
  lexicon known;
  known.add("wolf\tgale/bova\tnoun");
  known.add("grey\tturo\tadjective");
  known.add("he liked\tkuna\tmodifier");
  CHECK(known.class_of("wolf") == atom_class::noun);
  CHECK(known.class_of("dog") == atom_class::noun);  // of CoGnition
  CHECK(known.atoms_of("grey wolf he liked") == std::vector<std::string>{"grey", "wolf", "he liked"});
  CHECK(lexicon().atoms_of("the dog he liked at the store") == std::vector<std::string>{"the", "dog", "mod0", "mod1"});
  CHECK(translates("kuna turo bova", "grey wolf he liked", known));
  CHECK_FALSE(translates("turo bova kuna", "grey wolf he liked", known));
  CHECK_THROWS_WITH(known.add("wolf\tgale\tanimal"), contains("the class of an atom: found 'animal', expected"));
  CHECK_THROWS_WITH(known.add("wolf\t\tnoun"), contains("an atom, a tab"));
  CHECK_THROWS_WITH(known.add("wolf\tgale\tnoun\tx"), contains("an atom, a tab"));
}

TEST_CASE("CoGnition's references have the error rate that its scorer gives them") {
  auto const folder = triad::test::published("cognition");
  if (triad::test::is_missing(folder, "CoGnition")) return;
  auto const known = lexicon::read((folder / "lexicon").string());
  auto const references = lines_of((folder / "cg-test.zh.gz").string()),
             compounds = lines_of((folder / "cg-test.compound.gz").string());
  REQUIRE(references.size() == 10800);
  constexpr double last_digit = 5e-6;  // the rates are published in percent with three digits
  auto const check = [&](std::size_t first, std::size_t count, double instance, double aggregate) {
    CAPTURE(first);
    auto const rates =
        score(std::span(references).subspan(first, count), std::span(compounds).subspan(first, count), known);
    CHECK_THAT(rates.instance(), WithinAbs(instance, last_digit));
    CHECK_THAT(rates.aggregate(), WithinAbs(aggregate, last_digit));
  };
  check(0, 10800, 0.02620, 0.09815);
  check(0, 3600, 0.00889, 0.03333);     // noun phrases
  check(3600, 3600, 0.01361, 0.05694);  // verb phrases
  check(7200, 3600, 0.05611, 0.20417);  // prepositional phrases

  // The same text, cut into words and word parts, has the same score.
  CHECK(score(lines_of((folder / "bpe/cg-test.zh.gz").string()), compounds, known).instance() < 0.03);
}

}  // namespace programs_text_cter_tests
