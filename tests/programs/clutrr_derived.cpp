// Tests chains that are made from rules: the rules derive the answer and no other answer, and no other rules are
// needed.
// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>
#include <vector>

#include "graphs/clutrr/derived.hpp"
#include "tests/catch.hpp"

namespace programs_clutrr_derived_tests {

namespace graphs = triad::programs::graphs;

using namespace triad::programs::clutrr;
using triad::test::contains;

vocabulary const words({"aunt", "brother", "daughter", "mother", "sister"}, {"aunt", "brother", "niece", "sister"});

/// Returns the rules of rows with two facts.
graphs::composition_rules rules_of(std::vector<std::vector<std::string>> const& rows) {
  graphs::composition_rules rules;
  for (auto const& r : rows) {
    kinship_graph g{.nodes = 3, .edges = {}, .query = {0, 2}, .target = words.target(r[2])};
    g.edges = {{0, 1, words.edge_label(r[0])}, {1, 2, words.edge_label(r[1])}};
    rules.learn(g);
  }
  return rules;
}

std::vector<int> facts_of(kinship_graph const& g) {
  std::vector<int> labels;
  for (auto const& e : g.edges) labels.push_back(e.label);
  return labels;
}

TEST_CASE("chains by rules are as long as asked for, and the rules derive their answer alone") {
  derived_chains chains(rules_of({{"mother", "sister", "aunt"},
                                  {"sister", "sister", "sister"},
                                  {"aunt", "sister", "aunt"},
                                  {"sister", "daughter", "niece"},
                                  {"daughter", "aunt", "sister"}}),
                        words, 1),
      again(chains);
  std::set<int> answers;
  for (int i = 0; i < 60; ++i) {
    int const k = 2 + i % 9;
    auto const g = chains.next(k);
    CHECK(
        (g.k == k && g.nodes == k + 1 && g.query == node_pair{0, k} && g.edges.size() == static_cast<std::size_t>(k)));
    for (int e = 0; e < k; ++e) {
      auto const& fact = g.edges[static_cast<std::size_t>(e)];
      CHECK((fact.from == e && fact.to == e + 1 && fact.label != words.edge_label("brother")));
    }
    CHECK(chains.derived(facts_of(g)) == std::set{g.target});
    CHECK(again.next(k) == g);
    answers.insert(g.target);
  }
  CHECK(answers == std::set{words.target("aunt"), words.target("niece"), words.target("sister")});
}

TEST_CASE("what rules derive of facts is the same whichever are composed first, or several answers") {
  auto const label = [](char const* word) { return words.edge_label(word); };
  derived_chains const chains(rules_of({{"mother", "sister", "aunt"},
                                        {"aunt", "sister", "aunt"},
                                        {"sister", "sister", "brother"},
                                        {"mother", "brother", "sister"}}),
                              words, 1);
  CHECK(chains.derived({label("mother"), label("sister")}) == std::set{words.target("aunt")});
  CHECK(chains.derived({label("sister"), label("mother")}).empty());
  // Composed as (mother sister) sister, the answer is aunt. Composed as mother (sister sister), the answer is sister.
  CHECK(chains.derived({label("mother"), label("sister"), label("sister")}) ==
        std::set{words.target("aunt"), words.target("sister")});
}

TEST_CASE("without rules, and where none makes a longer chain, that is said") {
  CHECK_THROWS_WITH(derived_chains(rules_of({}), words, 1), contains("no training row of two facts says"));
  CHECK_THROWS_WITH(derived_chains(rules_of({{"mother", "sister", "aunt"}, {"mother", "sister", "sister"}}), words, 1),
                    contains("no training row of two facts says"));
  derived_chains chains(rules_of({{"mother", "brother", "niece"}}), words, 1);
  CHECK(chains.next(2).target == words.target("niece"));
  CHECK_THROWS_WITH(chains.next(3), contains("give no chain of 3 facts with one answer"));
}

}  // namespace programs_clutrr_derived_tests
