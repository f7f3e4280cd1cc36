// Tests how labelled graphs are joined, and which joined graphs are kept. Also uses CLUTRR's published rows if they are
// next to the checkout.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graphs/clutrr/data.hpp"
#include "graphs/clutrr/generate.hpp"
#include "graphs/glue.hpp"
#include "tests/catch.hpp"
#include "tests/published.hpp"
#include "triad/batches/augmentation.hpp"

namespace programs_graphs_glue_tests {

namespace clutrr = triad::programs::clutrr;

using namespace triad::programs::graphs;
using graph_list = std::vector<labelled_graph>;
using edges = std::vector<edge>;
triad::augmentation const every{.seed = 1};

/// Returns a chain with these labels between nodes 0, 1, ... The question is about its two ends.
labelled_graph chain(vocabulary const& words, std::vector<std::string> const& labels, std::string const& target) {
  int const k = static_cast<int>(labels.size());
  labelled_graph g{.nodes = k + 1, .edges = {}, .query = {0, k}, .target = words.target(target), .k = k};
  for (int i = 0; i < k; ++i) g.edges.push_back({i, i + 1, words.edge_label(labels[static_cast<std::size_t>(i)])});
  return g;
}
composition_rules rules_of(graph_list const& all) {
  composition_rules rules;
  for (auto const& g : all) rules.learn(g);
  return rules;
}

vocabulary const words({"a", "b", "c", "d", "x"}, {"b", "y"});

TEST_CASE("a detour takes an edge's place, and a branch shares an edge; the question stays") {
  auto const base = chain(words, {"a", "b"}, "y"), other = chain(words, {"c", "d"}, "b");
  auto const detour = with_detour(base, 1, other);
  CHECK(detour == labelled_graph{.nodes = 4,
                                 .edges = {{0, 1, 1}, {1, 3, 3}, {3, 2, 4}},
                                 .query = {0, 2},
                                 .target = words.target("y"),
                                 .k = 3});
  auto const branch = with_branch(base, 1, chain(words, {"x", "b", "a"}, "y"), 1);
  CHECK(branch == labelled_graph{.nodes = 5,
                                 .edges = {{0, 1, 1}, {1, 2, 2}, {3, 1, 5}, {2, 4, 1}},
                                 .query = {0, 2},
                                 .target = words.target("y"),
                                 .k = 2});
}

TEST_CASE(
    "a glued graph is kept where the rules give its question its answer alone, and labels and kinds go together") {
  graph_list const all{chain(words, {"a", "b"}, "y"), chain(words, {"c", "d"}, "b"),
                       chain(words, {"a", "c", "d"}, "y")};
  auto const rules = rules_of(all);
  glued_graphs const glue(all, words, rules, gluing::both);
  CHECK(glue.is_kept(with_detour(all[0], 1, all[1])));
  auto wrong = with_detour(all[0], 1, all[1]);
  wrong.target = words.target("b");
  CHECK_FALSE(glue.is_kept(wrong));
  auto unknown = all[0];
  unknown.edges[1].label = words.edge_label("x");
  CHECK_FALSE(glue.is_kept(unknown));  // no rule applies
  auto two = all[0];
  two.edges.push_back({0, 2, words.edge_label("b")});  // its label is b, but the rule gives y
  CHECK_FALSE(glue.is_kept(two));
  auto strange = all[0];
  strange.nodes = 4;
  strange.edges.push_back({2, 3, words.edge_label("x")});  // no row has x after b
  CHECK_FALSE(glue.is_kept(strange));
  // b, d and y describe nodes of the same kind. a and c describe nodes of other kinds. No node may have two kinds.
  CHECK(glue.kind_of_name(words.edge_label("b")) == glue.kind_of_name(words.edge_label("d")));
  CHECK(glue.kind_of_name(words.edge_label("b")) == glue.kind_of_name(glue.name_of_target(words.target("y"))));
  CHECK(glue.kind_of_name(words.edge_label("a")) != glue.kind_of_name(words.edge_label("b")));
  auto both = all[0];
  both.nodes = 4;
  both.edges.push_back({3, 1, words.edge_label("c")});  // node 1 would have the kinds of a and of c
  CHECK_FALSE(glue.is_kept(both));
}

TEST_CASE("rules that contradict each other keep nothing that needs them") {
  graph_list const all{chain(words, {"a", "b"}, "y"), chain(words, {"a", "b"}, "b"), chain(words, {"c", "d"}, "b")};
  auto const rules = rules_of(all);
  glued_graphs const glue(all, words, rules, gluing::both);
  CHECK_FALSE(glue.is_kept(all[0]));
  CHECK(glue.is_kept(all[2]));
}

/// The counts of joined graphs that were drawn and checked.
struct drawn {
  std::size_t glued = 0, nodes = 0, edges = 0, new_labels = 0;
};
drawn draw(graph_list const& all, vocabulary const& names, gluing how, std::size_t step) {
  auto const rules = rules_of(all);
  glued_graphs const glue(all, names, rules, how);
  std::set<std::vector<int>> known;
  std::size_t longest = 0;
  auto const labels = [](labelled_graph const& g) {
    std::vector<int> list;
    for (auto const& e : g.edges) list.push_back(e.label);
    return list;
  };
  for (auto const& g : all) known.insert(labels(g)), longest = std::max(longest, g.edges.size());
  drawn found;
  for (std::size_t i = 0; i < all.size(); i += step) {
    auto const g = glue(all[i], *every.of(i, 0));
    if (!g) continue;
    CHECK(glue(all[i], *every.of(i, 0)) == g);
    CHECK((g->query == all[i].query && g->target == all[i].target));
    CHECK(g->edges.size() > all[i].edges.size());
    CHECK(g->nodes <= glue.most_nodes());
    CHECK(glue.is_kept(*g));
    std::set<std::pair<int, int>> pairs;
    for (auto const& e : g->edges) {
      CHECK((e.from >= 0 && e.from < g->nodes && e.to >= 0 && e.to < g->nodes && e.from != e.to));
      pairs.insert({e.from, e.to});
    }
    CHECK(pairs.size() == g->edges.size());
    if (how == gluing::detours) {
      CHECK(g->edges.size() <= longest);
      CHECK(g->k == static_cast<int>(g->edges.size()));
    } else if (how == gluing::branches) {
      CHECK(g->k == all[i].k);
    }
    ++found.glued;
    found.nodes = std::max(found.nodes, static_cast<std::size_t>(g->nodes));
    found.edges = std::max(found.edges, g->edges.size());
    found.new_labels += known.contains(labels(*g)) ? 0 : 1;
  }
  return found;
}

TEST_CASE("chains that are glued have the only answer that a family can give, where all their people are different") {
  clutrr::chain_generator chains(5);
  graph_list all;
  for (int i = 0; i < 3000; ++i) all.push_back(chains.next(2 + i % 3));
  auto const& names = clutrr::generated_vocabulary();
  auto const detours = draw(all, names, gluing::detours, 2), branches = draw(all, names, gluing::branches, 2);
  CHECK((detours.edges == 4 && detours.nodes == 5));
  CHECK((branches.edges == 7 && branches.nodes == 8));
  CHECK(branches.glued > 1200);
  // Compares the answers with the genealogy that made the chains. The rules do not use the genealogy.
  auto const rules = rules_of(all);
  glued_graphs const glue(all, names, rules, gluing::detours);
  std::size_t asked = 0, same = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto const g = glue(all[i], *every.of(i, 0));
    if (!g) continue;
    std::map<int, edge> from;
    for (auto const& e : g->edges) from.emplace(e.from, e);
    std::vector<clutrr::relation> way;
    for (int node = g->query.from; node != g->query.to; node = from.at(node).to)
      for (std::size_t r = 0; r < clutrr::relations; ++r)
        if (clutrr::relation_words[r].name == names.edge_name(from.at(node).label))
          way.push_back(static_cast<clutrr::relation>(r));
    auto const right = clutrr::answers(way);
    ++asked;
    if (right.empty()) {  // the husband of a son's mother is his father, so two people are the same
      ++same;
      continue;
    }
    REQUIRE(right.unique());
    CHECK(clutrr::name_of(right.only()) == names.target_name(g->target));
  }
  CHECK(asked > 1500);
  CHECK(same < asked / 8);
}

TEST_CASE("of CLUTRR's published rows most can be glued, and kinds of nodes are men and women") {
  auto const path = triad::test::published("clutrr/data_db9b8f04");
  if (triad::test::is_missing(path, "CLUTRR")) return;
  auto const data = clutrr::read_data((path / "1.2,1.3,1.4_train.csv.gz").string());
  auto const rules = rules_of(data.train);
  CHECK(rules.size() == 62);
  glued_graphs const glue(data.train, data.words, rules, gluing::both);
  std::map<int, std::set<std::string>> kinds;
  for (auto const& label : data.words.edge_labels.names())
    kinds[glue.kind_of_name(data.words.edge_label(label))].insert(label);
  CHECK(kinds.size() == 2);
  for (auto const& [number, kind] : kinds) CHECK(kind.contains("mother") != kind.contains("father"));
  std::size_t kept = 0;
  for (auto const& g : data.train) kept += glue.is_kept(g) ? 1 : 0;
  CHECK(kept == 14799);  // of 15,083; rows with several answers, or with two names for a pair, are not kept
  auto const detours = draw(data.train, data.words, gluing::detours, 10),
             branches = draw(data.train, data.words, gluing::branches, 10);
  CHECK(detours.edges == 4);
  CHECK(detours.glued == 986);  // of 1509, a third of which already have four edges
  CHECK(detours.new_labels == 317);
  CHECK(branches.glued == 1482);
}

}  // namespace programs_graphs_glue_tests
