// Tests the generated data of tree-transforms: the conversion of sentences to trees and back, and counts that were
// found in the published files. If the published files are next to the checkout, they are compared with the same
// counts.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/published.hpp"
#include "trees/transforms/data.hpp"

namespace programs_tree_transforms_generate_tests {

using namespace triad::programs::transforms;
using triad::index_t, triad::symbol_tree;

/// Returns the sentence of a row of active-logical, or, for the form `f`, of any task except car-cdr-seq. Returns
/// nothing if the row is not made from a sentence.
std::optional<sentence> sentence_of(row const& r, form f) {
  auto const there = sentence_of(r.source, f), back = sentence_of(r.source, form::logical);
  auto const s = there ? there : back;
  if (!s || (there && back)) return std::nullopt;
  return tree_of(*s, there ? form::logical : f) == r.target ? s : std::nullopt;
}

/// The number of different tokens in the text of a split, including parentheses, and the depth of its deepest tree.
struct size_of_split {
  std::size_t tokens = 0;
  index_t depth = 0;
  bool operator==(size_of_split const&) const = default;
};
size_of_split measured(std::vector<row> const& rows) {
  std::set<std::string> tokens{"(", ")"};
  index_t depth = 0;
  for (auto const& r : rows) {
    for (auto const* tree : {&r.source, &r.target})
      for (auto const& node : tree->nodes()) tokens.insert(node.label);
    depth = std::max(depth, r.depth());
  }
  return {tokens.size(), depth};
}

/// Checks a count among n draws, each with probability p. The count must be within 4.5 standard deviations of its mean.
/// By chance, one of 150,000 checks fails. There are about a thousand checks.
void check_share(std::string const& what, double count, double n, double p) {
  auto const off = std::fabs(count - n * p), allowed = 4.5 * std::sqrt(n * p * (1 - p));
  CAPTURE(what, count, n, p);
  CHECK(off <= allowed);
}

/// Checks that the frequency of each drawn word is proportional to its number of entries in the list.
void check_words(std::map<std::string, double> const& drawn, word_list words) {
  double all = 0;
  for (auto const& [word, count] : drawn) {
    all += count;
    CAPTURE(word);
    CHECK(std::find(words.begin(), words.end(), word) != words.end());
  }
  for (auto const* word : words) {
    auto const times = static_cast<double>(std::count(words.begin(), words.end(), std::string(word)));
    check_share(word, drawn.contains(word) ? drawn.at(word) : 0, all, times / static_cast<double>(words.size()));
  }
}

/// Checks how often each word, and each number of adjectives, occurs in a split.
void check_distribution(std::vector<sentence> const& sentences, split of) {
  CAPTURE(name_of(of));
  std::map<std::string, double> verb, determiner, noun, adjective;
  std::map<std::pair<std::size_t, std::size_t>, double> shared;
  double same_noun = 0, again = 0, pairs = 0;
  for (auto const& s : sentences) {
    ++verb[s.verb];
    for (auto const* phrase : {&s.agent, &s.patient}) {
      ++determiner[phrase->determiner];
      ++noun[phrase->noun];
      for (auto const& a : phrase->adjectives) ++adjective[a];
      if (phrase->adjectives.size() != 2) continue;
      ++pairs;
      again += phrase->adjectives[0] == phrase->adjectives[1] ? 1 : 0;
    }
    ++shared[{s.agent.adjectives.size(), s.patient.adjectives.size()}];
    same_noun += s.agent.noun == s.patient.noun ? 1 : 0;
  }
  word_list const from = of == split::ood_new ? word_list(new_adjectives) : word_list(adjectives);
  check_words(verb, verbs);
  check_words(determiner, determiners);
  check_words(noun, nouns);
  check_words(adjective, from);
  auto const n = static_cast<double>(sentences.size());
  check_share("some", determiner["some"], 2 * n, 0.2);
  check_share("bumped", verb["bumped"], n, 2.0 / 24);
  CHECK(verb.size() == 23);
  CHECK(determiner.size() == 9);
  CHECK(noun.size() == 28);
  CHECK(adjective.size() == (of == split::ood_new ? 38 : 27));
  check_share("both nouns the same", same_noun, n, 1.0 / 28);
  check_share("the same adjective twice", again, pairs, 1.0 / static_cast<double>(from.size()));
  std::size_t const fewest = of == split::ood_long ? 3 : 1;
  std::size_t ways = 0;
  for (auto const in_all : {fewest, fewest + 1})
    for (std::size_t i = 0; i <= in_all; ++i, ++ways)
      check_share(std::to_string(i) + " and " + std::to_string(in_all - i) + " adjectives", shared[{i, in_all - i}], n,
                  0.5 / static_cast<double>(in_all + 1));
  CHECK(shared.size() == ways);
}

TEST_CASE("a sentence becomes an active, a passive and a logical tree, and each of them the sentence again") {
  sentence const s{{"the", {"round", "red"}, "rose"}, "bought", {"a", {}, "goat"}};
  CHECK(text_of(s) == "the round red rose bought a goat");
  std::string const rose = "( NP ( DET the ) ( AP ( ADJ round ) ( AP ( ADJ red ) ( AP ( N rose ) ) ) ) )",
                    goat = "( NP ( DET a ) ( AP ( N goat ) ) )";
  CHECK(to_text(tree_of(s, form::active)) == "( S " + rose + " ( VP ( V bought ) " + goat + " ) )");
  CHECK(to_text(tree_of(s, form::passive)) ==
        "( S " + goat + " ( VP ( AUXPS was ) ( VPPS ( V bought ) ( PPPS ( PPS by ) " + rose + " ) ) ) )");
  CHECK(to_text(tree_of(s, form::logical)) == "( LF ( V bought ) ( ARGS " + rose + " " + goat + " ) )");
  for (auto const f : {form::active, form::passive, form::logical})
    for (auto const other : {form::active, form::passive, form::logical}) {
      auto const back = sentence_of(tree_of(s, f), other);
      CHECK(back.has_value() == (f == other));
      if (back) CHECK(*back == s);
    }
  row const read{tree_of(s, form::active), tree_of(s, form::logical)}, heard{read.target, tree_of(s, form::passive)};
  CHECK(in_voice(read, form::passive) == row{heard.target, read.target});
  CHECK(in_voice(heard, form::active) == row{read.target, read.source});
  CHECK(in_voice(heard, form::passive) == heard);
  CHECK_FALSE(in_voice({tree_of(s, form::active, "CAR"), read.target}, form::passive));
  CHECK_FALSE(in_voice({read.source, symbol_tree("rose")}, form::passive));
}

TEST_CASE("what is no sentence is none") {
  for (auto const* text :
       {"( S )", "( S ( NP ( DET a ) ( AP ( N goat ) ) ) ( VP ( V fell ) ) )",
        "( S ( NP ( DET a ) ( AP ( N goat ) ) ) ( VP ( V saw ) ( NP ( DET a ) ( AP ( N goat ) extra ) ) ) )",
        "( S ( NP ( DET a ) ( AP ( N goat ) ) ) ( VP ( V saw ) ( NP ( DET a ) ( AP ( AP ( N goat ) ) ) ) ) )"}) {
    CAPTURE(text);
    CHECK_FALSE(sentence_of(triad::parse_tree(text), form::active));
  }
}

TEST_CASE("car takes the left child and cdr the right one, the letter next to R first") {
  // The sample in the paper.
  auto const tree = triad::parse_tree(
      "( CDDDDR ( NP ( DET the ) ( AP ( N goat ) ) ) "
      "( VP ( AUXPS was ) ( VPPS ( V bought ) ( PPPS ( PPS by ) ( NP ( DET the ) ( AP ( ADJ round ) ( AP ( N rose ) ) "
      ") ) ) ) ) )");
  auto const is = [&](char const* function, char const* text) {
    CAPTURE(function);
    CHECK(car_cdr(tree, function) == (*text == 0 ? symbol_tree() : triad::parse_tree(text)));
  };
  is("CDDDDR", "( NP ( DET the ) ( AP ( ADJ round ) ( AP ( N rose ) ) ) )");
  is("CADR", "( AUXPS was )");
  is("CDAR", "( AP ( N goat ) )");
  is("CAAAR", "the");
  is("CAAAAR", "");
  is("CDAAR", "");
  auto const names = car_cdr_functions();
  CHECK(names.size() == 30);
  CHECK(std::set<std::string>(names.begin(), names.end()).size() == 30);
  CHECK(names[3] == "CADR");
}

TEST_CASE(
    "a seed gives always the same rows, another seed others, and train does not depend on how many rows the tests "
    "have") {
  for (auto const& facts : kinds) {
    CAPTURE(facts.name);
    generator_options settings{facts.which, false, 200, 50, 3};
    auto const one = generate_data(settings), same = generate_data(settings);
    for (auto const s : splits) {
      CHECK(part_of(one, s).rows == part_of(same, s).rows);
      CHECK(static_cast<index_t>(part_of(one, s).rows.size()) == (s == split::train ? 200 : 50));
    }
    settings.test_rows = 10;
    CHECK(part_of(generate_data(settings), split::train).rows == part_of(one, split::train).rows);
    settings.seed = 4;
    CHECK_FALSE(part_of(generate_data(settings), split::train).rows == part_of(one, split::train).rows);
  }
}

TEST_CASE("the first rows of seed 1 are what they were when results were written down") {
  auto const first = [](kind k) {
    return to_json_line(part_of(generate_data({k, false, 1, 0, 1}), split::train).rows.at(0));
  };
  CHECK(
      first(kind::active_logical) ==
      R"_({"source":"( S ( NP ( DET a ) ( AP ( ADJ happy ) ( AP ( N goat ) ) ) ) ( VP ( V watched ) ( NP ( DET our ) ( AP ( ADJ hot ) ( AP ( N leopard ) ) ) ) ) )",)_"
      R"_("target":"( LF ( V watched ) ( ARGS ( NP ( DET a ) ( AP ( ADJ happy ) ( AP ( N goat ) ) ) ) ( NP ( DET our ) ( AP ( ADJ hot ) ( AP ( N leopard ) ) ) ) ) )"})_");
  CHECK(
      first(kind::car_cdr_seq) ==
      R"_({"source":"( CDDDR ( NP ( DET one ) ( AP ( N cheetah ) ) ) ( VP ( AUXPS was ) ( VPPS ( V kissed ) ( PPPS ( PPS by ) )_"
      R"_(( NP ( DET my ) ( AP ( ADJ sad ) ( AP ( ADJ round ) ( AP ( N snake ) ) ) ) ) ) ) ) )",)_"
      R"_("target":"( PPPS ( PPS by ) ( NP ( DET my ) ( AP ( ADJ sad ) ( AP ( ADJ round ) ( AP ( N snake ) ) ) ) ) )"})_");
}

TEST_CASE("generated data of the published sizes have the published distribution, tokens and depths") {
  struct expected {
    kind task;
    form said;
    std::size_t tokens, new_tokens;
    index_t depth, long_depth;
  };
  auto const e = GENERATE(expected{kind::active_logical, form::active, 99, 110, 8, 10},
                          expected{kind::passive_logical, form::passive, 105, 116, 10, 12},
                          expected{kind::active_passive_logical, form::active, 105, 116, 10, 12});
  CAPTURE(facts_of(e.task).name);
  auto const data = generate_data({.task = e.task});
  std::set<std::string> all;
  for (auto const s : splits) {
    auto const& rows = part_of(data, s).rows;
    std::vector<sentence> sentences;
    double said_first = 0, active = 0;
    for (auto const& r : rows) {
      auto found = sentence_of(r, e.said);
      if (e.task == kind::active_passive_logical) {
        active += found ? 1 : 0;
        if (!found) found = sentence_of(r, form::passive);
      }
      REQUIRE(found);
      sentences.push_back(*found);
      said_first += r.source.label() == "S" ? 1 : 0;
      all.insert(text_of(*found));
    }
    auto const n = static_cast<double>(rows.size());
    CHECK(rows.size() == (s == split::train ? 10000 : 1250));
    check_distribution(sentences, s);
    if (e.task == kind::active_passive_logical) {
      CHECK(said_first == n);
      check_share("active", active, n, 0.5);
    } else {
      check_share("to the logical form", said_first, n, 0.5);
    }
  }
  CHECK(all.size() == 15000);
  CHECK(measured(part_of(data, split::train).rows) == size_of_split{e.tokens, e.depth});
  CHECK(measured(part_of(data, split::dev).rows) == size_of_split{e.tokens, e.depth});
  CHECK(measured(part_of(data, split::test).rows) == size_of_split{e.tokens, e.depth});
  CHECK(measured(part_of(data, split::ood_new).rows) == size_of_split{e.new_tokens, e.depth});
  CHECK(measured(part_of(data, split::ood_long).rows) == size_of_split{e.tokens, e.long_depth});
}

TEST_CASE("a sentence that is drawn again is drawn anew") {
  // The 10,000 sentences of a split rarely have a repetition, so this searches for a seed with a repetition.
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    triad::random_stream random(seed, static_cast<std::uint64_t>(kind::active_logical) * 8);
    std::vector<row> once;
    std::set<std::string> drawn;
    for (int i = 0; i < 10000; ++i) {
      auto const s = draw_sentence(random, split::train);
      if (drawn.insert(text_of(s)).second) once.push_back({tree_of(s, form::active), tree_of(s, form::logical)});
    }
    if (once.size() == 10000) continue;
    CAPTURE(seed, once.size());
    auto const rows = generator({kind::active_logical, true, 10000, 0, seed}).rows(split::train);
    CHECK(rows.size() == 10000);
    CHECK(std::equal(once.begin(), once.end(), rows.begin()));
    std::set<std::string> all;
    for (auto const& r : rows) all.insert(triad::to_text(r.source));
    CHECK(all.size() == 10000);
    return;
  }
  FAIL("no seed from 1 to 30 draws a sentence twice");
}

TEST_CASE("one way is from the sentence to the logical form") {
  for (auto const k : {kind::active_logical, kind::passive_logical}) {
    auto const data = generate_data({k, true, 100, 0, 1});
    CHECK(part_of(data, split::train).rows.size() == 100);
    for (auto const& r : part_of(data, split::train).rows) CHECK(r.target.label() == "LF");
  }
}

TEST_CASE(
    "car-cdr-seq: a row's target is what its root selects, sources are distinct, active and passive, of 1 to 4 steps") {
  auto const data = generate_data({.task = kind::car_cdr_seq});
  auto const functions = car_cdr_functions();
  std::set<std::string> all, used;
  for (auto const s : splits) {
    std::vector<sentence> sentences;
    std::map<std::size_t, double> steps;
    double active = 0;
    for (auto const& r : part_of(data, s).rows) {
      auto const& root = r.source.label();
      REQUIRE(std::find(functions.begin(), functions.end(), root) != functions.end());
      auto const tree =
          r.source.mapped([&](std::string const& label) { return label == root ? std::string("S") : label; });
      auto found = sentence_of(tree, form::active);
      active += found ? 1 : 0;
      if (!found) found = sentence_of(tree, form::passive);
      REQUIRE(found);
      sentences.push_back(*found);
      ++steps[root.size() - 2];
      used.insert(root);
      all.insert(text_of(*found));
      // Applies the steps one by one to copies of subtrees, for comparison.
      auto rest = r.source;
      for (auto letter = root.rbegin() + 1; letter + 1 != root.rend(); ++letter)
        rest = rest.subtree(rest.child(0, *letter == 'A' ? 0 : 1));
      REQUIRE_FALSE(rest.empty());
      CHECK(rest == r.target);
    }
    check_distribution(sentences, s);
    auto const n = static_cast<double>(sentences.size());
    check_share("active", active, n, 0.5);
    for (std::size_t k = 1; k <= 4; ++k) check_share(std::to_string(k) + " steps", steps[k], n, 0.25);
  }
  CHECK(all.size() == 15000);
  CHECK(used.size() == 18);  // all other functions have no result on any such tree
  // The paper has the same depth, and 22 more tokens.
  CHECK(measured(part_of(data, split::train).rows) == size_of_split{120, 10});
  CHECK(measured(part_of(data, split::ood_new).rows) == size_of_split{131, 10});
  CHECK(measured(part_of(data, split::ood_long).rows) == size_of_split{120, 12});
}

TEST_CASE(
    "every row of the published files is a sentence of this grammar, with the words and numbers that the generator "
    "draws") {
  auto const folder = triad::test::published("bst");
  if (triad::test::is_missing(folder, "Basic Sentence Transforms")) return;
  auto const active = read_data((folder / "active_logical_ttb").string());
  auto const passive_folder = folder / "passive_logical_ttb_derived";
  bool const derived = std::filesystem::exists(passive_folder);
  auto const passive = derived ? read_data(passive_folder.string()) : data_set();
  std::set<std::string> all;
  for (auto const s : splits) {
    CAPTURE(name_of(s));
    auto const& rows = part_of(active, s).rows;
    REQUIRE(rows.size() == (s == split::train ? 10000 : 1250));
    if (derived) REQUIRE(part_of(passive, s).rows.size() == rows.size());
    std::vector<sentence> sentences;
    double said_first = 0;
    std::size_t other = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      auto const found = sentence_of(rows[i], form::active);
      REQUIRE(found);
      sentences.push_back(*found);
      said_first += rows[i].source.label() == "S" ? 1 : 0;
      all.insert(text_of(*found));
      if (!derived) continue;
      other += in_voice(rows[i], form::passive) == part_of(passive, s).rows[i] ? 0 : 1;
    }
    CHECK(other == 0);
    check_distribution(sentences, s);
    check_share("to the logical form", said_first, static_cast<double>(rows.size()), 0.5);
  }
  CHECK(all.size() == 15000);
  CHECK(measured(part_of(active, split::train).rows) == size_of_split{99, 8});
  CHECK(measured(part_of(active, split::ood_new).rows) == size_of_split{110, 8});
  CHECK(measured(part_of(active, split::ood_long).rows) == size_of_split{99, 10});
}

}  // namespace programs_tree_transforms_generate_tests
