// Tests constructions of COGS that are held out of the training sentences. Also uses the published sentences if they
// are next to the checkout.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "meanings/cogs/grammar.hpp"
#include "meanings/cogs/hold_out.hpp"
#include "meanings/cogs/read.hpp"
#include "tests/catch.hpp"
#include "tests/published.hpp"

namespace programs_cogs_hold_out_tests {

using namespace triad::programs::cogs;
using triad::programs::list_items;
using triad::test::contains;
using sentences = std::vector<tagged_sentence>;
using texts = std::vector<std::string>;

std::string text_of(tagged_sentence const& s) {
  std::string text;
  for (auto const& word : s.tokens) text += (text.empty() ? "" : " ") + word;
  return text;
}
texts texts_of(sentences const& all) {
  texts result;
  for (auto const& s : all) result.push_back(text_of(s));
  return result;
}

tagged_sentence alone(char const* word) {
  return from_logical_form(word, "LAMBDA a . LAMBDA e . " + std::string(word) + " . agent ( e , a )", "primitive");
}
sentences some_sentences() {
  auto const s = [](char const* sentence, char const* form) { return from_logical_form(sentence, form, "train"); };
  return {s("Ada gave Bo a pear .",
            "give . agent ( x _ 1 , Ada ) AND give . recipient ( x _ 1 , Bo ) AND give . theme ( x _ 1 , x _ 4 ) AND "
            "pear ( x _ 4 )"),
          s("Ada gave a pear to Bo .",
            "give . agent ( x _ 1 , Ada ) AND give . theme ( x _ 1 , x _ 3 ) AND give . recipient ( x _ 1 , Bo ) AND "
            "pear ( x _ 3 )"),
          s("Ada gave a pear on a roof to Bo .",
            "give . agent ( x _ 1 , Ada ) AND give . theme ( x _ 1 , x _ 3 ) AND give . recipient ( x _ 1 , Bo ) AND "
            "pear ( x _ 3 ) AND pear . nmod . on ( x _ 3 , x _ 6 ) AND roof ( x _ 6 )"),
          s("Bo saw a pear on a roof .",
            "see . agent ( x _ 1 , Bo ) AND see . theme ( x _ 1 , x _ 3 ) AND pear ( x _ 3 ) AND pear . nmod . on ( x "
            "_ 3 , x _ 6 ) AND roof ( x _ 6 )"),
          s("A pear on a roof fell .",
            "pear ( x _ 1 ) AND pear . nmod . on ( x _ 1 , x _ 4 ) AND roof ( x _ 4 ) AND fall . theme ( x _ 5 , x _ 1 "
            ")"),
          s("Bo said that Ada saw that Bo sang .",
            "say . agent ( x _ 1 , x _ 0 ) AND say . ccomp ( x _ 1 , x _ 4 ) AND see . agent ( x _ 4 , Ada ) AND see . "
            "ccomp ( x _ 4 , x _ 7 ) AND sing . agent ( x _ 7 , x _ 6 )"),
          s("Ada said that Bo sang .",
            "say . agent ( x _ 1 , Ada ) AND say . ccomp ( x _ 1 , x _ 4 ) AND sing . agent ( x _ 4 , Bo )"),
          s("Ada wanted to sing .",
            "want . agent ( x _ 1 , Ada ) AND want . xcomp ( x _ 1 , x _ 3 ) AND sing . agent ( x _ 3 , Ada )"),
          alone("sing"),
          s("Bo wanted to swim .",
            "want . agent ( x _ 1 , Bo ) AND want . xcomp ( x _ 1 , x _ 3 ) AND swim . agent ( x _ 3 , Bo )"),
          alone("swim"),
          s("Bo swam .", "swim . agent ( x _ 1 , Bo )"),
          s("Bo saw a pear on a roof on a roof .",
            "see . agent ( x _ 1 , Bo ) AND see . theme ( x _ 1 , x _ 3 ) AND pear ( x _ 3 ) AND pear . nmod . on ( x "
            "_ 3 , x _ 6 ) AND roof ( x _ 6 ) AND roof . nmod . on ( x _ 6 , x _ 9 ) AND roof ( x _ 9 )")};
}

held_out of(std::string const& kinds) { return hold_out(some_sentences(), list_items(kinds)); }

TEST_CASE("a construction is found in the graph, and training is left without it") {
  struct example {
    char const* kind;
    texts rows;
    std::size_t left_out;
  };
  for (auto const& e : {
           example{"name-before-theme", {"Ada gave Bo a pear ."}, 0},
           example{"inner-modifier", {"Ada gave a pear on a roof to Bo ."}, 0},
           example{"deepest-clauses", {"Bo said that Ada saw that Bo sang ."}, 0},
           example{"deepest-modifiers", {"Bo saw a pear on a roof on a roof ."}, 0},
           example{"longest", {"Bo saw a pear on a roof on a roof ."}, 0},
           // swim is in three sentences, and sing is in four.
           example{"infinitive", {"Bo wanted to swim ."}, 1},
           // pear is in six sentences, and Bo is in nine. Ada never follows its verb. `gave` occurs only together with
           // pear.
           example{"subject-to-object", {"Bo saw a pear on a roof .", "Bo saw a pear on a roof on a roof ."}, 3},
       }) {
    CAPTURE(e.kind);
    auto all = some_sentences();
    if (e.kind == std::string("longest"))  // a thirtieth of 13 sentences is less than one
      for (int i = 0; i < 30; ++i) all.push_back(all.front());
    auto const found = hold_out(all, {e.kind});
    CHECK(texts_of(found.rows) == e.rows);
    for (auto const& s : found.rows) CHECK(s.distribution == e.kind);
    CHECK(found.left_out == e.left_out);
    CHECK(found.train.size() + found.rows.size() + found.left_out == all.size());
    construction_finder const finder(all, {e.kind});
    for (auto const& s : found.train) CHECK_FALSE(finder.has(s, e.kind));
  }
}

TEST_CASE("of a chosen verb training keeps the word alone, of a chosen noun one sentence with the subject") {
  auto const with = [](sentences const& all, char const* word) {
    texts result;
    for (auto const& s : all)
      if (std::find(s.tokens.begin(), s.tokens.end(), word) != s.tokens.end()) result.push_back(text_of(s));
    return result;
  };
  auto const verbs = hold_out(some_sentences(), {"infinitive"}).train;
  CHECK(with(verbs, "swim") == texts{"swim"});
  CHECK(with(verbs, "swam").empty());
  CHECK(with(verbs, "sing") == texts{"Ada wanted to sing .", "sing"});
  CHECK(with(hold_out(some_sentences(), {"subject-to-object"}).train, "pear") == texts{"A pear on a roof fell ."});
}

TEST_CASE("a sentence with several of the constructions, or a word that training lacks, is neither seen nor scored") {
  auto all = some_sentences();
  all.push_back(from_logical_form("Bo said that Ada said that Ada gave Bo a pear .",
                                  "say . agent ( x _ 1 , x _ 0 ) AND say . ccomp ( x _ 1 , x _ 4 ) AND say . agent ( x "
                                  "_ 4 , x _ 3 ) AND say . ccomp ( x _ 4 , x _ 7 ) AND give . agent ( x _ 7 , x _ 6 ) "
                                  "AND give . recipient ( x _ 7 , x _ 8 ) AND give . theme ( x _ 7 , x _ 10 ) AND pear "
                                  "( x _ 10 )",
                                  "train"));
  CHECK(hold_out(all, {"name-before-theme"}).rows.size() == 2);
  auto const both = hold_out(all, {"name-before-theme", "deepest-clauses"});
  CHECK(texts_of(both.rows) == texts{"Ada gave Bo a pear .", "Bo said that Ada saw that Bo sang ."});
  CHECK(both.left_out == 1);
  all.back().tokens[0] = "Cy";
  auto const unknown = hold_out(all, {"name-before-theme"});
  CHECK((unknown.rows.size() == 1 && unknown.left_out == 1));
}

TEST_CASE("a name that is no construction, and one that no sentence has, are refused") {
  CHECK(some_constructions("longest,infinitive").empty());
  CHECK_THAT(some_constructions("longest,deep"),
             contains("\"deep\" is not one of the constructions name-before-theme, inner-modifier, deepest-clauses"));
  CHECK_THAT(some_constructions("longest,"), contains("\"\" is not one of the constructions"));
  CHECK(some_constructions("longest,longest") == "longest is named twice");
  sentence_generator random(1);
  sentences all;
  for (int i = 0; i < 500; ++i) all.push_back(random.next());
  CHECK_THROWS_WITH(hold_out(all, {"infinitive"}),
                    contains("--hold-out infinitive: no training sentence is left with this construction alone"));
  CHECK_THROWS_WITH(hold_out({some_sentences()[0]}, {"name-before-theme"}),
                    contains("--hold-out leaves no sentence to train on: name fewer kinds"));
}

TEST_CASE("a graph whose parents go round is held out or not, and ends") {
  auto all = some_sentences();
  auto& s = all[5];
  s.parent[1] = 7;  // a cycle: say, see, sing, say
  s.role[1] = "ccomp";
  CHECK(hold_out(all, {"deepest-clauses"}).rows.size() + hold_out(all, {"deepest-clauses"}).left_out == 1);
}

TEST_CASE("the published training sentences are held out by the counts of the program's page") {
  auto const path = triad::test::published("cogs/train_seqtag.jsonl.gz");
  if (triad::test::is_missing(path, "COGS")) return;
  auto const all = read_sentences(path.string());
  auto const counted = [&](std::string const& kinds) {
    auto const found = hold_out(all, list_items(kinds));
    CHECK(found.train.size() + found.rows.size() + found.left_out == all.size());
    std::map<std::string, std::size_t> counts{{"left out", found.left_out}};
    for (auto const& s : found.rows) ++counts[s.distribution];
    return counts;
  };
  using counts = std::map<std::string, std::size_t>;
  CHECK(counted("name-before-theme") == counts{{"name-before-theme", 783}, {"left out", 1}});
  CHECK(counted("inner-modifier") == counts{{"inner-modifier", 1453}, {"left out", 14}});
  CHECK(counted("deepest-clauses") == counts{{"deepest-clauses", 160}, {"left out", 0}});
  CHECK(counted("deepest-modifiers") == counts{{"deepest-modifiers", 441}, {"left out", 7}});
  CHECK(counted("longest") == counts{{"longest", 727}, {"left out", 3}});
  CHECK(counted("infinitive") == counts{{"infinitive", 172}, {"left out", 143}});
  CHECK(counted("subject-to-object") == counts{{"subject-to-object", 543}, {"left out", 602}});
  CHECK(counted("name-before-theme,inner-modifier,deepest-clauses,deepest-modifiers,infinitive") ==
        counts{{"name-before-theme", 751},
               {"inner-modifier", 1337},
               {"deepest-clauses", 153},
               {"deepest-modifiers", 298},
               {"infinitive", 172},
               {"left out", 317}});
}

}  // namespace programs_cogs_hold_out_tests
