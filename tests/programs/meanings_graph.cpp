// Tests the graph of a sentence: its canonical order, what is no graph, drawings, and JSON lines.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "meanings/drawn.hpp"
#include "meanings/json_meaning.hpp"
#include "tests/catch.hpp"

namespace programs_meanings_graph_tests {

using namespace triad::programs::meanings;
using triad::programs::read_json_line;
using triad::test::contains;
using texts = std::vector<std::string>;

/// "Ada and Bo lift the red cup": two agents, two labels of one edge, a span, and a slot.
meaning lifted() {
  meaning m;
  m.tokens = {"Ada", "and", "Bo", "lift", "the", "red", "cup"};
  m.nodes = {node::token(0), node::token(2), node::token(3), node::span(4, 6), node::slot(0)};
  m.node_labels = {{}, {}, {"past", "verb"}, {}, {"place"}};
  m.edges = {{0, "helps", 1}, {2, "agent", 0}, {2, "agent", 1}, {2, "moves", 3}, {2, "theme", 3}, {3, "on", 4}};
  m.label = "report";
  m.kind = "two agents";
  return m;
}

constexpr auto lifted_line =
    R"({"tokens":["Ada","and","Bo","lift","the","red","cup"],"nodes":[0,2,3,[4,6],"slot 0"],)"
    R"("edges":[[0,"helps",1],[2,"agent",0],[2,"agent",1],[2,"moves",3],[2,"theme",3],[3,"on",4]],)"
    R"("node_labels":[[],[],["past","verb"],[],["place"]],"label":"report","kind":"two agents"})";

meaning read(std::string const& line) { return meaning_of(read_json_line(line)); }

TEST_CASE("the order in which a graph is written does not matter") {
  auto const m = lifted();
  meaning other;
  other.tokens = m.tokens;
  other.nodes = {node::slot(0), node::span(4, 6), node::token(3), node::token(2), node::token(0)};
  other.node_labels = {{"place"}, {}, {"verb", "past"}, {}, {}};
  other.edges = {{1, "on", 0}, {2, "theme", 1}, {2, "agent", 4}, {4, "helps", 3}, {2, "moves", 1}, {2, "agent", 3}};
  other.label = m.label;
  CHECK(other != m);
  CHECK(same_graph(other, m));
  other.kind = m.kind;
  CHECK(canonical(other) == m);
  CHECK(canonical(m) == m);
  CHECK(slots_of(m) == 1);
  CHECK(name_of(m, 3) == "the red cup");
  CHECK(name_of(m, 4) == "slot 0");
}

TEST_CASE("graphs that differ in one part are different") {
  auto const m = lifted();
  auto const differs = [&](auto const& change) {
    auto other = m;
    change(other);
    return !same_graph(m, other);
  };
  CHECK(differs([](meaning& o) { o.label = ""; }));
  CHECK(differs([](meaning& o) { o.edges.pop_back(); }));
  CHECK(differs([](meaning& o) { o.edges[0].label = "moves"; }));
  CHECK(differs([](meaning& o) { std::swap(o.edges[0].from, o.edges[0].to); }));
  CHECK(differs([](meaning& o) { o.node_labels[0] = {"verb"}; }));
  CHECK(differs([](meaning& o) { o.nodes[3] = node::span(5, 6); }));
  CHECK(differs([](meaning& o) { o.nodes[4] = node::slot(1); }));
  CHECK_FALSE(differs([](meaning& o) { o.kind = "other"; }));
}

TEST_CASE("what is no graph is refused") {
  auto const refused = [](auto const& change, char const* message) {
    auto m = lifted();
    change(m);
    CHECK_THROWS_WITH(checked(m), contains(message));
  };
  refused([](meaning& m) { m.tokens.clear(); }, "the sentence has 0 tokens, expected 1 to 4096");
  refused([](meaning& m) { m.nodes[0] = node::token(7); }, "a node has the tokens 7 to 7, expected tokens 0 to 6");
  refused([](meaning& m) { m.nodes[0] = node::span(2, 1); }, "a node has the tokens 2 to 1");
  refused([](meaning& m) { m.nodes[4] = node::slot(256); }, "a node is slot 256, expected slot 0 to slot 255");
  refused([](meaning& m) { m.nodes[1] = node::token(0); }, "the node Ada is there twice");
  refused([](meaning& m) { m.node_labels.pop_back(); }, "4 lists of labels for 5 nodes");
  refused([](meaning& m) { m.edges[0].to = 5; }, "an edge \"helps\" names node 5, expected node 0 to 4");
  refused([](meaning& m) { m.edges[0].from = -1; }, "an edge \"helps\" names node -1");
  refused([](meaning& m) { m.edges[0].label = ""; }, "an edge has an empty label");
  refused([](meaning& m) { m.edges.push_back(m.edges[1]); }, "the edge \"agent\" from lift to Ada is there twice");
  refused([](meaning& m) { m.node_labels[4] = {""}; }, "the node slot 0 has an empty label");
  refused([](meaning& m) { m.node_labels[4].push_back("place"); }, "the node slot 0 has the label \"place\" twice");
  CHECK(checked(lifted()) == lifted());
}

TEST_CASE("a line of JSON becomes a graph, and the graph the line again") {
  CHECK(read(lifted_line) == lifted());
  CHECK(json_line(lifted()) == lifted_line);
  CHECK(json_line(read(R"({"tokens": ["Go"], "nodes": [], "edges": []})")) ==
        R"({"tokens":["Go"],"nodes":[],"edges":[]})");
  auto line = read_json_line(lifted_line);
  line["slots"] = 1;
  CHECK(meaning_of(line) == lifted());
}

TEST_CASE("without a list of nodes, every token is a node, and slots come after the tokens") {
  auto const m = read(R"({"tokens": ["Ada", "sings"], "edges": [[1, "agent", 0], [1, "where", 3]], "slots": 4,)"
                      R"( "node_labels": [[], [], [], [], ["quiet"], []]})");
  CHECK(m.nodes == std::vector{node::token(0), node::token(1), node::slot(1), node::slot(2)});
  CHECK(m.edges == std::vector<edge>{{1, "agent", 0}, {1, "where", 2}});
  CHECK(m.node_labels == std::vector<texts>{{}, {}, {}, {"quiet"}});
  CHECK(read(json_line(m)) == m);
}

TEST_CASE("a line with an error is refused with the place of the error") {
  auto const refused = [](std::string const& line, char const* message) {
    CAPTURE(line);
    CHECK_THROWS_WITH(read(line), contains(message));
  };
  auto const of = [](std::string const& rest) { return R"({"tokens": ["Ada", "sings"], )" + rest + "}"; };
  refused(R"({"edges": []})", "expected \"tokens\", a list of words, found none");
  refused(R"({"tokens": [], "edges": []})", "\"tokens\" is empty");
  refused(R"({"tokens": ["Ada", ""], "edges": []})", "token 1 is \"\"");
  refused(of(R"("nodes": [])"), "expected \"edges\", a list of [node, \"label\", node], found none");
  refused(of(R"("nodes": 2, "edges": [])"), "expected \"nodes\" to be a list of nodes");
  refused(of(R"("nodes": ["slot"], "edges": [])"), "a node is \"slot\", expected the number of a token");
  refused(of(R"("nodes": ["slot 01"], "edges": [])"), "a node is \"slot 01\"");
  refused(of(R"("nodes": ["slot -1"], "edges": [])"), "a node is slot -1, expected slot 0");
  refused(of(R"("nodes": [[0, 1, 2]], "edges": [])"), "a node is [0,1,2]");
  refused(of(R"("nodes": [0.5], "edges": [])"), "a node is 0.5");
  refused(of(R"("nodes": [2], "edges": [])"), "a node has the tokens 2 to 2");
  refused(of(R"("nodes": ["slot 2"], "slots": 2, "edges": [])"), "a node is slot 2, expected a slot below 2");
  refused(of(R"("slots": 300, "edges": [])"), "\"slots\" is 300, expected 0 to 256");
  refused(of(R"("edges": [[0, "a"]])"), "an edge is [0,\"a\"], expected [node, \"label\", node]");
  refused(of(R"("edges": [[0, "a", "slot 0"]])"), "the nodes are whole numbers");
  refused(of(R"("edges": [[0, "a", 2]])"), "an edge \"a\" names node 2, expected node 0 to 1");
  refused(of(R"("edges": [[0, "a", 1], [0, "a", 1]])"), "the edge \"a\" from Ada to sings is there twice");
  refused(of(R"("edges": [], "node_labels": [["a"]])"), "1 lists of labels for 2 nodes");
  refused(of(R"("edges": [], "node_labels": ["a", "b"])"), "expected \"node_labels\" to be a list of lists of texts");
  refused(of(R"("edges": [], "label": 3)"), "expected \"label\" to be a text, found 3");
}

TEST_CASE("a graph is drawn as text and in DOT") {
  CHECK(text_of(lifted()) ==
        "Ada and Bo lift the red cup\nlabel: report\nAda (0)\n  --helps--> Bo (2)\nBo (2)\nlift (3): past, verb\n"
        "  --agent--> Ada (0)\n  --agent--> Bo (2)\n  --moves--> the red cup (4-6)\n  --theme--> the red cup (4-6)\n"
        "the red cup (4-6)\n  --on--> slot 0\nslot 0: place\n");
  auto m = read(R"({"tokens": ["a\"b", "c"], "nodes": [0, "slot 3"], "edges": [[0, "x\\y", 1]], "label": "q"})");
  m.node_labels = {{"one", "two"}, {}};
  CHECK(dot_of(m) ==
        "digraph meaning {\n  rankdir=LR;\n  node [shape=box];\n  label=\"q\";\n  n0 [label=\"a\\\"b\\none, two\"];\n"
        "  n1 [label=\"slot 3\", shape=ellipse];\n  n0 -> n1 [label=\"x\\\\y\"];\n}\n");
}

}  // namespace programs_meanings_graph_tests
