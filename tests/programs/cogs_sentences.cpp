// Tests the sentences of COGS: conversion of logical forms to graphs and back, files, and the grammar. Also uses the
// published files if they are next to the checkout.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <ctime>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "meanings/cogs/grammar.hpp"
#include "meanings/cogs/read.hpp"
#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"
#include "tests/published.hpp"

namespace programs_cogs_sentences_tests {

using namespace triad::programs::cogs;
using triad::test::contains;

TEST_CASE("a logical form becomes a graph, and the graph the form again") {
  struct example {
    char const *sentence, *form;
    std::vector<int> parent;
    std::vector<std::string> role;
  };
  for (auto const& e : {
           example{"The fox saw Ada .",
                   "* fox ( x _ 1 ) ; see . agent ( x _ 2 , x _ 1 ) AND see . theme ( x _ 2 , Ada )",
                   {-1, 2, -1, 2, -1},
                   {"", "agent", "", "theme", ""}},
           example{"Ada wanted to sing .",
                   "want . agent ( x _ 1 , Ada ) AND want . xcomp ( x _ 1 , x _ 3 ) AND sing . agent ( x _ 3 , Ada )",
                   {1, -1, -1, 1, -1},
                   {"agent", "", "", "xcomp", ""}},
           example{"A lamp on the roof fell .",
                   "* roof ( x _ 4 ) ; lamp ( x _ 1 ) AND lamp . nmod . on ( x _ 1 , x _ 4 ) AND fall . theme ( x _ 5 "
                   ", x _ 1 )",
                   {-1, 5, 1, -1, 2, -1, -1},
                   {"", "theme", "PREP", "", "PP_NOUN", "", ""}},
           example{"Ada knew that the TV fell .",
                   "* tv ( x _ 4 ) ; know . agent ( x _ 1 , Ada ) AND know . ccomp ( x _ 1 , x _ 5 ) AND fall . theme "
                   "( x _ 5 , x _ 4 )",
                   {1, -1, -1, -1, 5, 1, -1},
                   {"agent", "", "", "", "theme", "ccomp", ""}},
       }) {
    CAPTURE(e.sentence);
    auto const s = from_logical_form(e.sentence, e.form, "test");
    CHECK(s.parent == e.parent);
    CHECK(s.role == e.role);
    CHECK(to_logical_form(s) == std::string(e.form));
  }
}

TEST_CASE("a word alone is known by the arguments it wants") {
  CHECK(from_logical_form("Ada", "Ada", "primitive").category == std::vector<std::string>{"PNOUN"});
  CHECK(from_logical_form("fox", "LAMBDA a . fox ( a )", "primitive").category == std::vector<std::string>{"CNOUN"});
  CHECK(from_logical_form("sing", "LAMBDA a . LAMBDA e . sing . agent ( e , a )", "primitive").verb_name ==
        std::vector<std::string>{"sing"});
}

TEST_CASE("a form that is none is refused with the clause at fault") {
  auto const refused = [](char const* sentence, char const* form, char const* reason) {
    CAPTURE(sentence, form);
    CHECK_THROWS_WITH(from_logical_form(sentence, form, "test"), contains(reason));
  };
  refused("Ada sang .", "sing . agent ( x _ 1 , Ada", "is no clause");
  refused("Ada sang .", "sing . agent ( x _ 9 , Ada )", "x_9 is no token of a sentence of 3");
  refused("Ada sang .", "sing . agent ( x _ 1 , Boris )", "Boris does not stand exactly once");
  refused("Ada saw Ada .", "see . agent ( x _ 1 , Ada ) AND see . theme ( x _ 1 , Ada )",
          "Ada does not stand exactly once");
  refused("Ada sang .", "sing . agent ( Ada )", "a noun has one variable");
  refused("Ada sang .", "sing . agent ( x _ 1 , Ada ) AND sing . theme ( x _ 1 , Ada )", "two parents");
  refused("Ada sang .", "sing . agent ( x _ 1 , x _ 0 ) AND laugh . theme ( x _ 1 , x _ 2 )", "the verb sing already");
  refused("A lamp under the roof fell .", "lamp . nmod . on ( x _ 1 , x _ 4 )", "on does not stand between");
  refused("Ada wanted to sing .", "want . xcomp ( x _ 1 , x _ 3 )", "no agent of want");
  refused("Ada wanted to sing .", "want . agent ( x _ 1 , Ada ) AND want . xcomp ( x _ 1 , x _ 3 )",
          "does not have the same agent");
  refused("", "sing", "the sentence is empty");
}

TEST_CASE("a line of many clauses is read in a time that grows as they do") {
  std::string sentence, form;
  int const groups = 6'667;  // each group has three words and three clauses
  for (int i = 0; i < groups; ++i) {
    auto const who = "x _ " + std::to_string(3 * i), want = "x _ " + std::to_string(3 * i + 1),
               sing = "x _ " + std::to_string(3 * i + 2);
    sentence += "fox wanted sing ";
    form += (i == 0 ? "" : " AND ") + ("want . agent ( " + want + " , " + who) + " ) AND want . xcomp ( " + want +
            " , " + sing + " ) AND sing . agent ( " + sing + " , " + who + " )";
  }
  auto const begin = std::clock();
  auto const s = from_logical_form(sentence, form, "test");
  CHECK(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC <
        5);  // takes a tenth of a second; a comparison of all pairs would take twenty
  for (int i = 0; i < groups; ++i) {
    auto const at = static_cast<std::size_t>(3 * i);
    REQUIRE((s.role[at] == "agent" && s.parent[at] == 3 * i + 1));
    REQUIRE((s.role[at + 2] == "xcomp" && s.parent[at + 2] == 3 * i + 1));
    REQUIRE((s.verb_name[at + 1] == "want" && s.verb_name[at + 2] == "sing"));
  }
}

TEST_CASE("a graph that has no logical form gives none") {
  auto s = from_logical_form("Ada sang .", "sing . agent ( x _ 1 , Ada )", "test");
  auto broken = s;
  broken.verb_name[1].clear();
  CHECK_FALSE(to_logical_form(broken));
  broken = s;
  broken.parent[0] = -1;
  CHECK_FALSE(to_logical_form(broken));
  broken = s;
  broken.role[0] = "PP_NOUN";
  CHECK_FALSE(to_logical_form(broken));
}

TEST_CASE("files of both kinds are read, and what is wrong in one is reported with its line") {
  triad::test::scratch_folder const folder;
  auto const write = [&](char const* name, std::string const& text) {
    auto const path = folder / name;
    std::ofstream(path) << text;
    return path;
  };
  auto const s = from_logical_form("Ada sang .", "sing . agent ( x _ 1 , Ada )", "test");
  CHECK(read_sentences(write("a.tsv", "Ada sang .\tsing . agent ( x _ 1 , Ada )\ttest\n")) == std::vector{s});
  CHECK(read_sentences(write("a.jsonl", to_json_line(s) + "\n" + to_json_line(s))) == std::vector{s, s});
  CHECK_THROWS_WITH(read_sentences(write("b.tsv", "Ada sang .\tsing . agent ( x _ 1 , Ada )\ttest\nAda\tAda\n")),
                    contains("b.tsv:2: three columns"));
  CHECK_THROWS_WITH(read_sentences(write("b.jsonl", "{\"tokens\": [\"Ada\"]}")),
                    contains(R"(b.jsonl:1: expected "parent", a list of integers, found none)"));
  auto const without_distribution =
      R"({"tokens": ["A"], "parent": [-1], "role": [""], "category": [""], "noun_type": [""], "verb_name": [""])";
  CHECK_THROWS_WITH(read_sentences(write("b.jsonl", std::string(without_distribution) + "}")),
                    contains(R"(b.jsonl:1: expected "distribution", a text, found none)"));
  CHECK_THROWS_WITH(read_sentences(write("b.jsonl", std::string(without_distribution) + ", \"distribution\": 3}")),
                    contains(R"(b.jsonl:1: expected "distribution" to be a text, found 3)"));
  CHECK_THROWS_WITH(read_sentences(write("e.tsv", "Sentence\tLogical form\tDistribution\n")),
                    contains("e.tsv:1: found a header"));
  CHECK_THROWS_WITH(
      read_sentences(write(
          "c.jsonl",
          "{\"tokens\": [\"Ada\"], \"parent\": [3], \"role\": [\"\"], \"category\": [\"\"], \"noun_type\": [\"\"], "
          "\"verb_name\": [\"\"], \"distribution\": \"x\"}")),
      contains("c.jsonl:1: parent 3 is no token"));
  CHECK_THROWS_WITH(
      from_json(R"({"tokens": ["Ada"], "parent": [0], "role": [""], "category": [""], "noun_type": [""], )"
                R"("verb_name": [""], "distribution": "x"})"),
      contains("token 0 is its own parent; that of a root is -1"));
  auto const with_parent = [](std::string const& parent) {
    return R"({"tokens": ["Ada", "sang"], "parent": [)" + parent +
           R"(], "role": ["", ""], "category": ["", ""], "noun_type": ["", ""], "verb_name": ["", ""], "distribution": "x"})";
  };
  CHECK(read_sentences(write("d.jsonl", with_parent("1, -1")))[0].parent == std::vector<int>{1, -1});
  for (char const* parent : {"4294967296", "4294967295", "-4294967296", "18446744073709551615", "0.5", "1.0", "1e300",
                             "true", "null", "[1]"}) {
    CAPTURE(parent);
    CHECK_THROWS_WITH(
        read_sentences(write("d.jsonl", with_parent("-1, -1") + "\n" + with_parent(std::string(parent) + ", -1"))),
        contains("d.jsonl:2: parent: expected an integer from -2147483648 to 2147483647, found "));
  }
  CHECK_THROWS_WITH(read_sentences(write("d.jsonl", with_parent("1e999, -1"))),
                    contains("d.jsonl:1: there is a value that cannot be read: number overflow"));
  CHECK_THROWS_WITH(read_sentences(write("d.jsonl", with_parent(std::string(200'000, '[')))),
                    contains("d.jsonl:1: expected JSON of at most 64 levels, found more"));
  CHECK_THROWS_WITH(read_sentences(write("empty.tsv", "")), contains("there is no sentence"));
  CHECK_THROWS_WITH(read_sentences(write("a.txt", "Ada")), contains("a .jsonl or a .tsv file is expected"));
}

TEST_CASE("generated sentences are graphs with a logical form, and a seed gives always the same") {
  sentence_generator one(1), same(1), other(2);
  bool differs = false;
  for (int i = 0; i < 500; ++i) {
    auto const s = one.next();
    CHECK(s == same.next());
    differs = differs || !(s == other.next());
    std::string sentence;
    for (auto const& word : s.tokens) sentence += (sentence.empty() ? "" : " ") + word;
    auto const form = to_logical_form(s);
    INFO(sentence);
    REQUIRE(form);
    CAPTURE(*form);
    // If a name occurs twice, a logical form does not show which of the two is meant.
    std::set<std::string> names;
    bool twice = false;
    for (int k = 0; k < s.size(); ++k)
      if (s.category[static_cast<std::size_t>(k)] == "PNOUN")
        twice = twice || !names.insert(s.tokens[static_cast<std::size_t>(k)]).second;
    if (!twice) CHECK(from_logical_form(sentence, *form, s.distribution) == s);
  }
  CHECK(differs);
}

TEST_CASE("what the test kinds test is not among the training sentences") {
  sentence_generator train(1);
  for (int i = 0; i < 3000; ++i) {
    auto const s = train.next();
    for (int k = 0; k < s.size(); ++k) {
      auto const at = static_cast<std::size_t>(k);
      auto const& word = s.tokens[at];
      if (word == "lantern" || word == "heron") CHECK((s.role[at] == "theme" || s.role[at] == "recipient"));
      CHECK_FALSE((word == "painted" && k > 0 && s.tokens[at - 1] == "was"));
      if (s.role[at] != "PREP") continue;
      auto const noun = static_cast<std::size_t>(s.parent[at]);
      CHECK(s.role[noun] != "agent");
    }
    CHECK(std::count(s.tokens.begin(), s.tokens.end(), "that") <= 2);
  }
  sentence_generator test(1);
  for (auto const* kind : generated_kinds)
    for (int i = 0; i < 100; ++i) {
      auto const s = test.next(kind);
      CHECK(s.distribution == kind);
      CHECK(to_logical_form(s));
    }
}

TEST_CASE("the published files with logical forms are the published files with graphs, record for record, and back") {
  auto const folder = triad::test::published("cogs");
  if (triad::test::is_missing(folder, "COGS")) return;
  for (auto const* split : {"train", "dev", "test", "gen", "gen_2022fix"}) {
    CAPTURE(split);
    auto const path = (folder / split).string();
    auto const tagged = read_sentences(path + "_seqtag.jsonl.gz");
    CHECK(read_sentences(path + ".tsv.gz") == tagged);
    triad::text::gz_lines lines(path + ".tsv.gz");
    std::size_t next = 0, wrong = 0;
    for (std::string line; lines.next(line);) {
      auto const& s = tagged.at(next++);
      auto const first = line.find('\t'), second = line.find('\t', first + 1);
      if (s.distribution != "primitive" && to_logical_form(s) != line.substr(first + 1, second - first - 1)) ++wrong;
    }
    CHECK(wrong == 0);
  }
}

}  // namespace programs_cogs_sentences_tests
