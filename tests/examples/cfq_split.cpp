// Compounds, divergences and splits: values by hand, and laws of the splits that are found.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "cfq/corpus.hpp"
#include "cfq/data.hpp"
#include "tests/catch.hpp"

namespace {

using namespace cfq;
using triad::test::contains;

/// Rules are numbers, written as nested lists: [1, [2], [3]].
struct derived {
  rule_names names;
  std::vector<rule_tree> trees;

  explicit derived(std::vector<std::string> const& texts) {
    for (auto const& text : texts) {
      rule_tree tree;
      detail::add_rules(nlohmann::json::parse(text), names, tree, -1, 0, 1);
      trees.push_back(tree);
    }
  }
  /// Weights of each question's compounds, in ascending order.
  std::vector<std::vector<int>> weights(int largest) const {
    auto const table = compounds_of(trees, largest);
    std::vector<std::vector<int>> result;
    for (auto const& items : table.of) {
      auto& mine = result.emplace_back();
      for (auto const& i : items) mine.push_back(i.amount);
      std::sort(mine.begin(), mine.end());
    }
    return result;
  }
};

using lists = std::vector<std::vector<int>>;

TEST_CASE("a compound weighs what is left of it outside of its commonest larger one") {
  // S(a, b) twice, S(a, c) once.  S-a: 3 times, 2 of them in S(a, b): 1/3 there, and 2/3 in S(a, c).  S-b and S-c:
  // always in these: 0.  S(a, b), S(a, c): nothing around: 1.
  derived const one({R"(["S","a","b"])", R"(["S","a","b"])", R"(["S","a","c"])"});
  CHECK(one.weights(3) == lists{{1365, 4096}, {1365, 4096}, {2731, 4096}});
  // What lies around the largest counts as well: with two rules at most, S-a weighs as before, and S-b and S-c still
  // nothing.
  CHECK(one.weights(2) == lists{{1365}, {1365}, {2731}});
}

TEST_CASE("the occurrence that counts most is a question's weight") {
  // S-a four times: beside b, beside c, beside b, and beside c; half of them in each: 1/2, though twice in the first
  // question.  S(a, b) is twice, once under T: 1/2 there, and 1 where nothing is around it; the same for S(a, c).  All
  // else is always in something.
  derived const d({R"(["T",["S","a","b"],["S","a","c"]])", R"(["S","a","b"])", R"(["S","a","c"])"});
  auto const w = d.weights(3);
  CHECK(w[1] == std::vector<int>{2048, 4096});
  CHECK(w[2] == w[1]);
  CHECK(w[0] == std::vector<int>{2048, 2048, 2048});
  // A chain: of the two occurrences of a-a both lie in a-a-a, which is one compound, whether above or below.
  CHECK(derived({R"(["a",["a",["a"]]])"}).weights(3) == lists{{4096}});
  CHECK(derived({R"(["a",["a",["a"]]])"}).weights(2) == lists{{}});
}

TEST_CASE("a compound knows which child an edge leads to") {
  CHECK(compounds_of(derived({R"(["S","a","x"])", R"(["S","x","a"])"}).trees, 3).kinds == 2);
  derived const d({R"(["S","a","x"])", R"(["S","a","y"])", R"(["S","x","a"])", R"(["S","y","a"])"});
  auto const table = compounds_of(d.trees, 2);
  CHECK(table.kinds == 2);  // S-a with a first, and with a second; each half with x or y
  CHECK(table.of[0][0].what == table.of[1][0].what);
  CHECK(table.of[2][0].what == table.of[3][0].what);
  CHECK(table.of[0][0].what != table.of[2][0].what);
}

TEST_CASE("compounds are the same however many occurrences are held at once") {
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
  CHECK_THROWS_WITH(compounds_of(trees, 7), contains("2 to 6 rules"));
}

TEST_CASE("atoms are rules, counted") {
  derived const d({R"(["S",["S","a"],"a","b"])"});
  auto const table = atoms_of(d.trees, d.names.size());
  CHECK(table.kinds == 3);
  CHECK(table.of[0] == std::vector<item>{{0, 2}, {1, 2}, {2, 1}});
}

TEST_CASE("divergences by hand") {
  // P = (1/4, 3/4, 0), Q = (1/4, 1/4, 1/2).  alpha 1/2: C = 1/4 + sqrt(3)/4.  alpha 0.1: C = 1/4 + 3^0.1 / 4.
  item_table const table{{{{0, 1}, {1, 3}}, {{0, 2}, {1, 2}, {2, 4}}, {{2, 5}}, {{0, 7}}}, 3};
  CHECK(divergence_of(table, {0}, {1}, 0.5) == Approx(0.75 - std::sqrt(3.0) / 4));
  CHECK(divergence_of(table, {0}, {1}, 0.1) == Approx(0.75 - std::pow(3.0, 0.1) / 4));
  CHECK(divergence_of(table, {1}, {0}, 0.1) == Approx(0.75 - std::pow(3.0, 0.9) / 4));
  CHECK(divergence_of(table, {0}, {0}, 0.1) == Approx(0).margin(1e-12));
  CHECK(divergence_of(table, {0}, {2}, 0.5) == 1);
  CHECK(divergence_of(table, {}, {2}, 0.5) == 1);
  // P of questions 0 and 3: (8/11, 3/11).
  divergence d(3, 0.1);
  d.change(side::train, table.of[0]);
  d.change(side::test, table.of[1]);
  CHECK(d.value_with(side::train, table.of[3]) ==
        Approx(1 - std::pow(8.0 / 11, 0.1) * std::pow(0.25, 0.9) - std::pow(3.0 / 11, 0.1) * std::pow(0.25, 0.9)));
  d.change(side::train, table.of[3]);
  CHECK(d.value() == Approx(divergence_of(table, {0, 3}, {1}, 0.1)));
  CHECK(d.value_with(side::test, table.of[2]) == Approx(divergence_of(table, {0, 3}, {1, 2}, 0.1)));
  d.change(side::train, table.of[3], -1);
  CHECK(d.value() == Approx(divergence_of(table, {0}, {1}, 0.1)));
  d.change(side::train, table.of[0], -1);
  CHECK(d.value() == 1);
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

  // The figures again, by the definition and nothing else.
  std::vector<rule_tree> trees;
  for (auto const& q : c.questions) trees.push_back(q.rules);
  auto const compounds = compounds_of(trees, 4), atoms = atoms_of(trees, c.names.size());
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
  CHECK(d.atoms_apart == Approx(by_definition(atoms, 0.5)));
  CHECK(d.compounds_apart == Approx(by_definition(compounds, 0.1)));
  CHECK(d.atoms_apart <= 0.02);
  CHECK(d.compounds_by_chance < 0.2);
  CHECK(d.compounds_apart > d.compounds_by_chance + 0.25);

  std::set<std::string> known;
  auto const words = [&](int q) {
    auto const& one = c.questions[static_cast<std::size_t>(q)];
    return triad::examples::words(one.question + " " + one.query);
  };
  for (int const q : d.train)
    for (auto const& word : words(q)) known.insert(word);
  for (int const q : held_out)
    for (auto const& word : words(q)) REQUIRE(known.contains(word));
}

TEST_CASE("all questions may be used, and held-out words are given to training") {
  // Each word of x0 ... x29 is in two questions; atoms are the same everywhere, and compounds are of two kinds.
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
    for (auto const& word : triad::examples::words(c.questions[static_cast<std::size_t>(q)].question))
      known.insert(word);
  CHECK(known.size() == 32);
  CHECK(d.dev.size() + d.test.size() == 20);

  CHECK_THROWS_WITH(make_split(c, {.train = 55, .held_out = 6}, 3), contains("there are 60"));
  CHECK_THROWS_WITH(make_split(c, {.train = 10, .held_out = 50}, 3), contains("there must be more"));
  CHECK_THROWS_WITH(make_split(c, {.train = 10, .held_out = 0}, 3), contains("two others"));
}

}  // namespace
