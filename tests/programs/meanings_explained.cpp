// Tests the explanation of a predicted graph: the words that make each edge and each label, and the data of the page.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "meanings/explained.hpp"
#include "meanings/explained_page.hpp"
#include "meanings/json_meaning.hpp"
#include "shared/report/page.hpp"
#include "tests/catch.hpp"

namespace programs_meanings_explained_tests {

using namespace triad::programs::meanings;
using triad::index_t;
using json = nlohmann::ordered_json;

meaning read(std::string const& line) { return meaning_of(triad::programs::read_json_line(line)); }

/// A sentence with a span, a slot, a node without edges, and names that would be markup.  Every token is queried.
struct sentence {
  meaning graph = read(
      R"({"tokens": ["wash", "the", "<cup>", "now"], "nodes": [0, [1, 2], 3, "slot 0"],)"
      R"( "edges": [[0, "theme", 1], [3, "<agent>", 0]], "node_labels": [["order"], [], [], []], "label": "told"})");
  vocabulary words = vocabulary::of(
      {{graph, {}, {}},
       {read(R"({"tokens": ["the", "now"], "nodes": [0], "edges": [], "label": "told"})"), {}, {}},
       {read(R"({"tokens": ["wash", "<cup>", "now"], "nodes": [2], "edges": [], "label": "told"})"), {}, {}}});
  found_graph found;

  sentence() {
    std::string left_out;
    auto const e = numbered(graph, words, 1, left_out);
    REQUIRE(e);
    for (auto const& one : e->edges) {
      found.edges.insert(found.edges.end(), {one.from, one.label, one.to});
      found.edge_probabilities.push_back(0.75f);
    }
    for (auto const& one : e->labels) {
      found.labels.insert(found.labels.end(), {one.node, one.label});
      found.label_probabilities.push_back(0.5f);
    }
    found.graph_label = e->graph_label;
    found.graph_probability = 0.875f;
  }
  index_t columns() const { return static_cast<index_t>(question_of(graph.tokens, words).queried.size()) + 1; }

  /// Returns causes in which each factor has a different value.
  found_causes causes() const {
    found_causes c;
    c.tokens = static_cast<index_t>(graph.tokens.size());
    c.columns = columns();
    c.relations = static_cast<index_t>(words.relations().size());
    c.labels = words.label_count();
    auto const fill = [](std::vector<float>& all, index_t count, float least) {
      for (index_t i = 0; i < count; ++i)
        all.push_back(least + 0.5f * static_cast<float>(i) / static_cast<float>(count));
    };
    fill(c.predicate, c.tokens * c.relations, 0.5f);
    fill(c.label, c.tokens * c.labels, 0.25f);
    fill(c.role, c.tokens * c.columns * 3, 0.125f);
    return c;
  }
};

TEST_CASE("the words of an edge have the factors of its probability, the largest product first") {
  sentence const s;
  auto const causes = s.causes();
  auto const e = explained(s.graph, s.found, causes, s.words, 0.5);
  REQUIRE(e.edges.size() == 2);
  CHECK(e.has_predicates);
  CHECK(e.graph_probability == 0.875);
  for (std::size_t k = 0; k < e.edges.size(); ++k) {
    auto const& one = e.edges[k];
    CHECK(one.probability == 0.75);
    index_t const a = s.found.edges[3 * k], r = s.found.edges[3 * k + 1], b = s.found.edges[3 * k + 2];
    REQUIRE(one.by.size() == 4);
    for (std::size_t i = 0; i < one.by.size(); ++i) {
      auto const& by = one.by[i];
      REQUIRE(by.roles.size() == 2);
      auto const at = [&](std::vector<float> const& all, index_t place) {
        return static_cast<double>(all[static_cast<std::size_t>(place)]);
      };
      CHECK(by.predicate == at(causes.predicate, by.token * causes.relations + r));
      CHECK(by.roles[0] == at(causes.role, (by.token * causes.columns + a) * 3));
      CHECK(by.roles[1] == at(causes.role, (by.token * causes.columns + b) * 3 + 1));
      if (i > 0) CHECK(one.by[i - 1].product() >= by.product());
    }
  }
  CHECK(e.edges[0].label == "theme");
  CHECK(name_of(e.graph, e.edges[0].from) == "wash");
  CHECK(name_of(e.graph, e.edges[0].to) == "the <cup>");
  CHECK(name_of(e.graph, e.edges[1].from) == "slot 0");
}

TEST_CASE("small contributions are left out, but not the largest") {
  sentence const s;
  auto causes = s.causes();
  for (auto& p : causes.predicate) p = 0.001f;
  causes.predicate.back() = 1;  // of the last token and the last label
  auto const e = explained(s.graph, s.found, causes, s.words, 0.5);
  for (auto const& one : e.edges) CHECK(one.by.size() == 1);
}

TEST_CASE("a label of a node, a span, and a node without an edge are explained by their words") {
  sentence const s;
  auto const e = explained(s.graph, s.found, s.causes(), s.words, 0.5);
  std::vector<std::string> all;
  for (auto const& one : e.labels) all.push_back(name_of(e.graph, one.node) + ": " + one.label);
  CHECK(all == std::vector<std::string>{"wash: order", "the <cup>: ", "now: "});
  for (auto const& one : e.labels) CHECK(one.by.front().roles.size() == 1);
}

TEST_CASE("a label that a word decides comes from this word, and stands with the other labels of its node") {
  auto const graph = read(R"({"tokens": ["big", "dog", "ran"], "nodes": [1, 2, "slot 0"], "edges": [[1, "agent", 0]],)"
                          R"( "node_labels": [["animal", "odd"], ["run"], ["odd"]]})");
  auto const words = vocabulary::of({{graph, {}, {}}}, 1, {}, true);
  REQUIRE(words.labels() == std::vector<std::string>{"odd"});
  found_graph found;
  std::string left_out;
  auto const numbers = numbered(graph, words, 1, left_out);
  REQUIRE(numbers);
  for (auto const& one : numbers->labels) {
    found.labels.insert(found.labels.end(), {one.node, one.label});
    found.label_probabilities.push_back(0.5f);
  }
  auto const e = explained(graph, found, {}, words, 0.5);
  REQUIRE(e.labels.size() == 4);
  auto const is = [&](std::size_t k, int node, char const* label) {
    return e.labels[k].node == node && e.labels[k].label == label;
  };
  CHECK(is(0, 0, "odd"));
  CHECK(is(1, 0, "animal"));
  CHECK(is(2, 1, "run"));
  CHECK(is(3, 2, "odd"));
  CHECK(e.labels[1].probability == 1);
  REQUIRE(e.labels[1].by.size() == 1);
  CHECK(e.labels[1].by[0].token == 1);
  CHECK(e.labels[1].by[0].product() == 1);
  CHECK(e.labels[0].by.empty());
}

TEST_CASE("an internal label that does not shape the graph is not shown") {
  sentence s;
  auto const before = explained(s.graph, s.found, s.causes(), s.words, 0.5).labels.size();
  // The model says of "wash", which has edges, that it is a node, and of the slot that it is a span.
  index_t const slot = s.columns() - 1;
  s.found.labels.insert(s.found.labels.end(), {0, s.words.label_of_isolated(), slot, s.words.label_of_span(2)});
  s.found.label_probabilities.insert(s.found.label_probabilities.end(), 2, 0.5f);
  CHECK(explained(s.graph, s.found, s.causes(), s.words, 0.5).labels.size() == before);
  // A slot that is no node of the graph may have such a label, too.
  auto graph = s.graph;
  graph.nodes.pop_back();
  graph.node_labels.pop_back();
  graph.edges.erase(graph.edges.begin() + 1);
  s.found.edges.resize(3);
  CHECK(explained(graph, s.found, s.causes(), s.words, 0.5).labels.size() == before);
}

TEST_CASE("a word that is in the sentence more than once is shown with its place") {
  meaning m;
  m.tokens = {"a", "and", "b", "and", "c", "d"};
  std::vector<contribution> const by{{3, 1, {0.5, 0.5}}, {2, 1, {0.125}}, {1, 0.1, {1, 1}}, {0, 0.05, {1, 1}}};
  CHECK(text_of(by, m) == "and (3) 0.25  b 0.12  and (1) 0.10");
  CHECK(text_of({}, m).empty());
}

/// Returns the causes of a sentence in which columns take over the roles of other columns: (column, of, probability).
found_causes with_lists(sentence const& s, std::vector<std::tuple<index_t, index_t, float>> const& taken) {
  auto causes = s.causes();
  auto const n = s.columns();
  causes.heads.assign(static_cast<std::size_t>(n * n), 0.0f);
  for (auto const& [a, b, p] : taken) causes.heads[static_cast<std::size_t>(a * n + b)] = p;
  return causes;
}

TEST_CASE("roles are taken over from words with a probability of at least 0.5") {
  sentence const s;
  // Column 1, "the", is no node of its own.
  auto const causes = with_lists(s, {{2, 0, 0.75f}, {3, 2, 0.5f}, {3, 0, 0.49f}, {1, 0, 1.0f}});
  auto const e = explained(s.graph, s.found, causes, s.words, 0.5);
  REQUIRE(e.taken.size() == 2);
  CHECK(name_of(e.graph, e.taken[0].node) == "the <cup>");
  CHECK(name_at(e.graph, e.taken[0].token) == "wash");
  CHECK(e.taken[0].probability == 0.75);
  CHECK(name_of(e.graph, e.taken[1].node) == "now");
  CHECK(name_at(e.graph, e.taken[1].token) == "the <cup>");
  CHECK(name_at(e.graph, 1) == "the");
}

TEST_CASE("labels that edges remove are shown with these edges") {
  sentence const s;
  auto causes = s.causes();
  auto const at = [](index_t i) { return static_cast<std::size_t>(i); };
  index_t const order = s.words.internal_labels();
  REQUIRE(s.words.label_name(order) == "order");
  causes.implied.assign(at(causes.relations * causes.labels), 0.0f);
  causes.leaving.assign(at(causes.columns * causes.relations), 0.0f);
  // Words say that "wash", column 0, and "now", the last word, are orders, and nothing of other nodes.
  for (auto& p : causes.role) p = 0;
  for (index_t const a : {index_t{0}, index_t{3}}) causes.role[at(a * 3 + 2)] = 1;
  for (index_t u = 0; u < causes.labels; ++u) causes.label[at(u)] = 0.75f;
  auto found = s.found;
  found.labels = {0, order, 3, order};
  found.label_probabilities = {0.75f, 0.75f};
  CHECK(explained(s.graph, found, causes, s.words, 0.5).removed.empty());
  for (index_t r = 0; r < causes.relations; ++r) {
    causes.implied[at(r * causes.labels + order)] = r == 0 ? 0.5f : 0.25f;
    causes.leaving[at(r)] = 1;                             // both edges leave "wash"
    causes.leaving[at(3 * causes.relations + r)] = 0.25f;  // no edge is likely to leave "now"
  }
  CHECK(explained(s.graph, found, causes, s.words, 0.5).removed.empty());  // both labels are in the graph
  found.labels = {3, order};
  found.label_probabilities = {0.65f};
  auto const e = explained(s.graph, found, causes, s.words, 0.5);
  REQUIRE(e.removed.size() == 1);
  auto const& one = e.removed[0];
  CHECK(name_of(e.graph, one.node) == "wash");
  CHECK(one.label == "order");
  CHECK(std::abs(one.before - 0.75) < 1e-5);
  double kept = 0.5;
  for (index_t r = 1; r < causes.relations; ++r) kept *= 0.75;
  CHECK(std::abs(one.after - 0.75 * kept) < 1e-4);
  REQUIRE(std::ssize(one.by) == causes.relations);
  CHECK(one.by[0].label == s.words.relations()[0]);
  CHECK(one.by[0].probability == 0.5);
  CHECK(text_of(one.by).starts_with(s.words.relations()[0] + " 0.50"));
  CHECK(explained(s.graph, found, causes, s.words, 0.8).removed.empty());  // not even the words make it likely
  auto const page = page_of(e, 0.5);
  auto const& removed = page["views"][0]["nodes"][0]["removed"];
  REQUIRE(removed.size() == 1);
  CHECK(removed[0]["name"].get<std::string>().starts_with("order (0.75 without edges, 0.28 with them), by "));
  CHECK(removed[0]["weight"] == 0.5);
  for (auto& p : causes.implied) p *= 0.001f;  // too small to be shown, but for the largest
  auto const shown = detail::removing(causes, 0, order, s.words.relations());
  CHECK(shown.size() == 1);
}

TEST_CASE("a slot has the roles of its anchor") {
  sentence const s;
  auto causes = s.causes();
  causes.anchor = {0.125f, 0.0f, 0.75f, 0.0f};
  causes.absent = {0.125f};
  auto const e = explained(s.graph, s.found, causes, s.words, 0.5);
  REQUIRE(e.taken.size() == 1);
  CHECK(name_of(e.graph, e.taken[0].node) == "slot 0");
  CHECK(e.taken[0].token == 2);
  CHECK(e.taken[0].probability == 0.75);
  CHECK(text_of(anchors_of(causes, 0), s.graph) == "<cup> 0.75  wash 0.12");
}

TEST_CASE("a model without predicates has probabilities without words") {
  sentence const s;
  auto const e = explained(s.graph, s.found, {}, s.words, 0.5);
  CHECK(!e.has_predicates);
  CHECK(e.edges.size() == 2);
  for (auto const& one : e.edges) CHECK(one.by.empty());
  CHECK(page_of(e, 0.5)["views"][0]["predicates"] == false);
}

TEST_CASE("the page has the words, nodes, edges and lists, and no text becomes markup") {
  sentence const s;
  auto const e = explained(s.graph, s.found, with_lists(s, {{2, 0, 0.75f}}), s.words, 0.5);
  auto const page = page_of(e, 0.3);
  CHECK(page["title"] == "wash the <cup> now");
  CHECK(page["lead"][0] == "The graph has the label told: 0.875.");
  CHECK(page["lead"][1].get<std::string>().find("at least 0.3") != std::string::npos);
  auto const& view = page["views"][0];
  CHECK(view["kind"] == "graph");
  CHECK(view["words"] == json::array({"wash", "the", "<cup>", "now"}));
  CHECK(view["predicates"] == true);
  auto const& nodes = view["nodes"];
  REQUIRE(nodes.size() == 4);
  CHECK(nodes[0]["labels"][0]["name"] == "order");
  CHECK(nodes[1]["name"] == "the <cup>");
  CHECK(nodes[1]["first"] == 1);
  CHECK(nodes[1]["last"] == 2);
  CHECK(nodes[1]["labels"][0]["name"] == "");
  CHECK(nodes[1]["takes"] == json::array({{{"word", 0}, {"name", "wash"}, {"weight", 0.75}}}));
  CHECK(nodes[3]["slot"] == true);
  auto const& edges = view["edges"];
  REQUIRE(edges.size() == 2);
  CHECK(edges[1]["from"] == 3);
  CHECK(edges[1]["to"] == 0);
  CHECK(edges[1]["label"] == "<agent>");
  CHECK(edges[1]["weight"] == 0.75);
  for (auto const& by : edges[1]["by"]) {
    REQUIRE(by["factors"].size() == 3);
    double product = 1;
    for (auto const& factor : by["factors"]) product *= factor.get<double>();
    constexpr double rounding = 2e-4;  // four numbers of four digits
    CHECK(std::abs(by["weight"].get<double>() - product) < rounding);
  }
  auto const text = triad::programs::to_page(page);
  CHECK(text.find("<cup>") == std::string::npos);
  CHECK(text.find("<agent>") == std::string::npos);
}

}  // namespace programs_meanings_explained_tests
