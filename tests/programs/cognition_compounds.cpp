// Tests CTER by the length of compounds and sentences, and with and without a modifier.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "sequences/cognition/compounds.hpp"
#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"

namespace programs_cognition_compounds_tests {

using namespace triad::programs::cognition;
using triad::programs::text_pair;
using triad::test::contains;
using triad::test::WithinAbs;
using list = std::vector<std::string>;

// Two compounds in five sentences each.  "wolf" is gale, "grey" is turo, "he liked" is kuna.
struct example {
  compound_list compounds;
  std::vector<text_pair> pairs;
  list hypotheses;
};

example wolves() {
  example e;
  e.compounds.known.add("wolf\tgale\tnoun");
  e.compounds.known.add("grey\tturo\tadjective");
  e.compounds.known.add("he liked\tkuna\tmodifier");
  auto const add = [&](char const* compound, char const* source, char const* hypothesis) {
    e.compounds.compounds.emplace_back(compound);
    e.pairs.push_back({source, "", ""});
    e.hypotheses.emplace_back(hypothesis);
  };
  add("grey wolf", "grey wolf ran .", "turo gale pida .");
  add("grey wolf", "grey wolf ran .", "gale turo pida .");  // wrong: the adjective is after the noun
  add("grey wolf", "a grey wolf ran .", "turo gale pida .");
  add("grey wolf", "a grey wolf ran .", "turo gale pida .");
  add("grey wolf", "a grey wolf ran .", "turo gale pida .");
  add("wolf he liked", "wolf he liked ran .", "kuna gale pida .");
  add("wolf he liked", "wolf he liked ran .", "gale pida .");       // wrong
  add("wolf he liked", "wolf he liked ran .", "gale kuna pida .");  // wrong
  add("wolf he liked", "wolf he liked ran .", "kuna gale pida .");
  add("wolf he liked", "wolf he liked ran .", "pida .");  // wrong
  return e;
}

TEST_CASE("errors are counted by the words of compound and sentence, and with and without a modifier") {
  auto const e = wolves();
  auto const found = errors_by_length("plain", e.pairs, e.compounds, e.hypotheses);
  CHECK(found.run == "plain");
  REQUIRE(found.by_compound.size() == 2);
  CHECK(found.by_compound.at(2).lines == 5);
  CHECK(found.by_compound.at(2).wrong == 1);
  CHECK(found.by_compound.at(3).lines == 5);  // the words of a modifier count one by one
  CHECK(found.by_compound.at(3).wrong == 3);
  REQUIRE(found.by_sentence.size() == 2);
  CHECK(found.by_sentence.at(4).lines == 2);
  CHECK(found.by_sentence.at(4).wrong == 1);
  CHECK(found.by_sentence.at(5).lines == 8);
  CHECK(found.by_sentence.at(5).wrong == 3);
  CHECK(found.without_modifier.lines == 5);
  CHECK(found.without_modifier.wrong == 1);
  CHECK(found.with_modifier.lines == 5);
  CHECK(found.with_modifier.wrong == 3);
  auto const all = total(scores_by_kind(e.hypotheses, e.compounds.compounds, list(10), e.compounds.known));
  CHECK(found.with_modifier.wrong + found.without_modifier.wrong == all.wrong_lines);
  CHECK(compounds_csv({found}) ==
        "run,by,value,lines,wrong,CTER\n"
        "plain,words of compound,2,5,1,20\n"
        "plain,words of compound,3,5,3,60\n"
        "plain,words of sentence,4,2,1,50\n"
        "plain,words of sentence,5,8,3,37.5\n"
        "plain,modifier,without,5,1,20\n"
        "plain,modifier,with,5,3,60\n");
}

TEST_CASE("a point of the plot has enough lines, and is at their mean length") {
  std::map<std::size_t, wrong_lines> const by{{3, {2, 1}}, {4, {6, 1}}, {5, {20, 5}}, {9, {1, 1}}};
  auto const line = detail::line_of("lrf", by, 8);
  CHECK(line.name == "lrf");
  REQUIRE(line.x.size() == 2);
  CHECK_THAT(line.x[0], WithinAbs((2 * 3 + 6 * 4) / 8.0, 1e-12));
  CHECK_THAT(line.y[0], WithinAbs(100 * 2 / 8.0, 1e-12));
  CHECK_THAT(line.x[1], WithinAbs((20 * 5 + 9) / 21.0, 1e-12));  // the last length has too few lines for a point
  CHECK_THAT(line.y[1], WithinAbs(100 * 6 / 21.0, 1e-12));
  auto const alone = detail::line_of("lrf", {{3, {2, 1}}}, 8);  // fewer lines in all
  REQUIRE(alone.x.size() == 1);
  CHECK(alone.y[0] == 50);
  CHECK(detail::line_of("lrf", {}, 8).x.empty());
}

TEST_CASE("translations of a run belong to the data, or are refused") {
  auto const e = wolves();
  triad::test::scratch_folder const folder;
  auto const write = [&](char const* name, std::string const& text) { std::ofstream(folder / name) << text; };
  auto const read = [&] {
    auto translations = detail::translations_of_run(folder / "", e.compounds);
    detail::expect_recorded(folder / "", errors_by_length("run", e.pairs, e.compounds, translations));
    return translations;
  };
  CHECK_THROWS_WITH(read(), contains("cg-test.hypotheses.txt: there is none; evaluate "));
  std::string text;
  for (auto const& h : e.hypotheses) text += h + "\n";
  write("cg-test.hypotheses.txt", text + "gale\n");
  CHECK_THROWS_WITH(read(), contains("11 lines, expected 10, one for each sentence of cg-test"));
  write("cg-test.hypotheses.txt", text);
  REQUIRE(read().size() == 10);
  CHECK(read()[0] == "turogalepida.");
  write("scores.csv", "seed,part,figure,value\n1,cg-test,CTER instance,40\n");
  CHECK(read().size() == 10);
  write("scores.csv", "seed,part,figure,value\n1,cg-test,CTER instance,41\n");
  CHECK_THROWS_WITH(read(), contains("CTER instance is 41.0000, and ") && contains("has 40.0000"));
  write("scores.csv", "seed,part,figure,value\n1,cg-test,CTER instance,nan\n");
  CHECK_THROWS_WITH(read(), contains("CTER instance is nan"));
}

}  // namespace programs_cognition_compounds_tests
