// Tests splits of generated questions: properties that every split must have.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "cfq/corpus.hpp"
#include "cfq/generate.hpp"
#include "cfq/split.hpp"
#include "tests/catch.hpp"

namespace programs_cfq_split_tests {

using namespace triad::programs::cfq;
using triad::test::contains;

TEST_CASE("compounds of generated questions are the same however many occurrences are held at once") {
  std::vector<rule_tree> trees;
  for (auto const& q : generate_questions(300, 4).questions) trees.push_back(q.rules);
  auto const sums = [&](std::size_t at_once) {
    auto const table = compounds_of(trees, 4, at_once);
    std::vector<std::vector<int>> weights;
    for (auto const& items : table.of) {
      auto& mine = weights.emplace_back();
      for (auto const& i : items) mine.push_back(i.amount);
      std::sort(mine.begin(), mine.end());
    }
    weights.push_back({table.kinds});
    return weights;
  };
  CHECK(sums(1000) == sums(std::size_t{1} << 24U));
}

TEST_CASE("a split keeps its bounds, and its compounds are much further apart than by chance") {
  auto const c = generate_questions(1500, 9);
  auto const settings = settings_for(c.questions.size(), 3);
  CHECK(settings.train == 600);
  CHECK(settings.held_out == 150);
  auto const d = make_split(c, settings, 4), again = make_split(c, settings, 4);
  CHECK(d.train == again.train);
  CHECK(d.dev == again.dev);
  CHECK(d.test == again.test);
  CHECK(make_split(c, settings_for(1500, 4), 4).test != d.test);
  CHECK(d.train.size() == 600);
  CHECK(d.dev.size() == 75);
  CHECK(d.test.size() == 75);
  std::set<int> all(d.train.begin(), d.train.end());
  all.insert(d.dev.begin(), d.dev.end());
  all.insert(d.test.begin(), d.test.end());
  CHECK(all.size() == 750);

  // Computes the reported numbers again, directly from their definition.
  std::vector<rule_tree> trees;
  for (auto const& q : c.questions) trees.push_back(q.rules);
  auto const compounds = compounds_of(trees, 4), atoms = atoms_of(trees, c.names.end());
  auto held_out = d.dev;
  held_out.insert(held_out.end(), d.test.begin(), d.test.end());
  auto const by_definition = [&](item_table const& table, double alpha) {
    auto const shares = [&](std::vector<int> const& questions) {
      std::vector<double> p(static_cast<std::size_t>(table.kinds));
      double sum = 0;
      for (int const q : questions)
        for (auto const& i : table.of[static_cast<std::size_t>(q)])
          p[static_cast<std::size_t>(i.what)] += i.amount, sum += i.amount;
      for (auto& x : p) x /= sum;
      return p;
    };
    auto const p = shares(d.train), q = shares(held_out);
    double same = 0;
    for (std::size_t x = 0; x < p.size(); ++x)
      same += p[x] > 0 && q[x] > 0 ? std::pow(p[x], alpha) * std::pow(q[x], 1 - alpha) : 0;
    return 1 - same;
  };
  CHECK_THAT(d.atoms_apart, triad::test::WithinRel(by_definition(atoms, 0.5), 1e-6));
  CHECK_THAT(d.compounds_apart, triad::test::WithinRel(by_definition(compounds, 0.1), 1e-6));
  CHECK(d.atoms_apart <= 0.02);
  CHECK(d.compounds_by_chance < 0.2);
  CHECK(d.compounds_apart > d.compounds_by_chance + 0.25);

  std::set<std::string> known;
  auto const words = [&](int q) {
    auto const& one = c.questions[static_cast<std::size_t>(q)];
    return triad::text::words(one.question + " " + one.query);
  };
  for (int const q : d.train)
    for (auto const& word : words(q)) known.insert(word);
  for (int const q : held_out)
    for (auto const& word : words(q)) REQUIRE(known.contains(word));
}

TEST_CASE("all questions may be used, and held-out words are given to training") {
  // Each of the words x0 ... x29 is in two questions. All questions have the same atoms, and there are two kinds of
  // compounds.
  corpus c;
  for (int i = 0; i < 60; ++i) {
    annotated_question q;
    q.query = "c";
    detail::add_rules(nlohmann::json::parse(i % 2 ? R"(["S",["a","b"],["c","d"]])" : R"(["S",["a","d"],["c","b"]])"),
                      c.names, q.rules, -1, 0, 1);
    q.question = "x" + std::to_string(i % 30) + " y" + std::to_string(i / 30);
    c.questions.push_back(q);
  }
  auto const d =
      make_split(c, {.train = 40, .held_out = 20, .seed = 1, .atom_limit = 0.02, .candidates = 5, .passes = 5}, 3);
  std::set<std::string> known;
  for (int const q : d.train)
    for (auto const& word : triad::text::words(c.questions[static_cast<std::size_t>(q)].question)) known.insert(word);
  CHECK(known.size() == 32);
  CHECK(d.dev.size() + d.test.size() == 20);

  CHECK_THROWS_WITH(make_split(c, {.train = 55, .held_out = 6}, 3), contains("at most 60"));
  CHECK_THROWS_WITH(make_split(c, {.train = 10, .held_out = 50}, 3), contains("give more of them"));
  CHECK_THROWS_WITH(make_split(c, {.train = 10, .held_out = 0}, 3), contains("10 training and 0 other examples"));
}

}  // namespace programs_cfq_split_tests
