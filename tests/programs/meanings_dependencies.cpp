// Tests the graphs of enhanced dependencies in CoNLL-U, and of semantic dependencies in SDP.
// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <string>
#include <vector>

#include "meanings/enhanced.hpp"
#include "meanings/sdp.hpp"
#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"

namespace programs_meanings_dependencies_tests {

using namespace triad::programs::meanings;
using triad::test::contains;
using triad::test::saved;
using triad::test::scratch_folder;
using texts = std::vector<std::string>;

std::string replaced(std::string text, std::string const& from, std::string const& to) {
  auto const at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

// "Ada and Bo want to come, and Cy (wants) pears." Bo has two parents, and the second "wants" has no word.
std::string const wanted =
    "# sent_id = 1\n"
    "# text = Ada and Bo want to come and Cy pears\n"
    "1-2\tAdaand\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tAda\tAda\tPROPN\t_\t_\t4\tnsubj\t4:nsubj|6:nsubj:xsubj\t_\n"
    "2\tand\tand\tCCONJ\t_\t_\t3\tcc\t3:cc\t_\n"
    "3\tBo\tBo\tPROPN\t_\t_\t1\tconj\t1:conj:and|4:nsubj|6:nsubj:xsubj\t_\n"
    "4\twant\twant\tVERB\t_\t_\t0\troot\t0:root\t_\n"
    "5\tto\tto\tPART\t_\t_\t6\tmark\t6:mark\t_\n"
    "6\tcome\tcome\tVERB\t_\t_\t4\txcomp\t4:xcomp\t_\n"
    "7\tand\tand\tCCONJ\t_\t_\t8\tcc\t8.1:cc\t_\n"
    "8\tCy\tCy\tPROPN\t_\t_\t4\tconj\t8.1:nsubj\tSpaceAfter=No\n"
    "8.1\t_\twant\tVERB\t_\t_\t_\t_\t4:conj:and\tCopyOf=4\n"
    "9\tpears\tpear\tNOUN\t_\t_\t8\torphan\t8.1:obj\t_\n\n";

TEST_CASE("enhanced dependencies become a graph, and the graph the file again") {
  scratch_folder const folder;
  auto const rows = read_enhanced(saved(folder, wanted, "a.conllu"));
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].left_out.empty());
  CHECK(rows[0].written == wanted);
  auto const& m = rows[0].graph;
  CHECK(m.tokens == texts{"Ada", "and", "Bo", "want", "to", "come", "and", "Cy", "pears"});
  REQUIRE(m.nodes.size() == 10);
  CHECK(m.nodes[9] == node::slot(0));
  CHECK(m.node_labels[3] == texts{"root"});
  CHECK(m.edges == std::vector<edge>{{0, "conj:and", 2},
                                     {2, "cc", 1},
                                     {3, "nsubj", 0},
                                     {3, "nsubj", 2},
                                     {3, "xcomp", 5},
                                     {3, "conj:and", 9},
                                     {5, "nsubj:xsubj", 0},
                                     {5, "nsubj:xsubj", 2},
                                     {5, "mark", 4},
                                     {9, "cc", 6},
                                     {9, "nsubj", 7},
                                     {9, "obj", 8}});
  CHECK(conllu_with(wanted, m) == wanted);
}

TEST_CASE("another graph changes DEPS, and no other column") {
  scratch_folder const folder;
  auto m = read_enhanced(saved(folder, wanted, "a.conllu"))[0].graph;
  m.edges = {{7, "b", 8}, {7, "a", 8}, {m.add(node::slot(1)), "x", 9}, {9, "obj", 8}, {0, "y", m.add(node::slot(3))}};
  m.node_labels[3] = {"root", "also"};
  auto expected = wanted;
  for (auto const& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"4:nsubj|6:nsubj:xsubj", "_"},
           {"3:cc\t", "_\t"},
           {"1:conj:and|4:nsubj|6:nsubj:xsubj", "_"},
           {"0:root", "0:also|0:root"},
           {"6:mark", "_"},
           {"4:xcomp", "_"},
           {"8.1:cc", "_"},
           {"8.1:nsubj", "_"},
           {"4:conj:and", "9.1:x"},
           {"8.1:obj\t_\n\n",
            "8:a|8:b|8.1:obj\t_\n9.1\t_\t_\t_\t_\t_\t_\t_\t_\t_\n9.2\t_\t_\t_\t_\t_\t_\t_\t1:y\t_\n\n"}})
    expected = replaced(expected, from, to);
  CHECK(conllu_with(wanted, m) == expected);

  auto const again = read_enhanced(saved(folder, expected, "b.conllu"))[0].graph;  // slot 3 is the third empty node
  CHECK(again.nodes.back() == node::slot(2));
  CHECK(conllu_with(expected, again) == expected);
  m.nodes[0] = node::span(0, 1);
  CHECK_THROWS_WITH(conllu_with(wanted, m), contains("a node is the span 'Ada and', expected single tokens"));
}

TEST_CASE("a sentence without DEPS is left out, and its words are read") {
  scratch_folder const folder;
  auto const rows = read_enhanced(saved(folder, "1\tGo\t_\t_\t_\t_\t0\troot\t_\t_\n\n\n" + wanted, "a.conllu"));
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].left_out == "it has no enhanced dependencies");
  CHECK(rows[0].graph.tokens == texts{"Go"});
  CHECK(rows[0].graph.nodes.empty());
  CHECK(rows[1].left_out.empty());
}

TEST_CASE("DEPS with an error are refused with the line") {
  scratch_folder const folder;
  auto const refused = [&](char const* from, char const* to, char const* message) {
    auto const path = saved(folder, "\n" + wanted + replaced(wanted, from, to), "a.conllu");
    CHECK_THROWS_WITH(read_enhanced(path), contains(message));
  };
  refused("4:nsubj|6", "10:nsubj|6", "a.conllu:19: DEPS is '10:nsubj|6:nsubj:xsubj', expected HEAD:RELATION");
  refused("8.1:obj", "8.2:obj", "a.conllu:28: DEPS is '8.2:obj'");
  refused("8.1:obj", "8.1", "a.conllu:28: DEPS is '8.1'");
  refused("8.1:obj", "8.1:", "a.conllu:28: DEPS is '8.1:'");
  refused("8.1:obj", "obj", "a.conllu:28: DEPS is 'obj'");
  refused("9\tpears", "8.1\t_\t_\t_\t_\t_\t_\t_\t_\t_\n9\tpears",
          "a.conllu:28: the empty node 8.1 is there twice, expected once");
  refused("4:nsubj|6", "4:nsubj|4:nsubj|6", "a.conllu:16: the edge \"nsubj\" from want to Ada is there twice");
}

std::string const came =
    "#SDP 2015\n"
    "#22000001\n"
    "1\tAda\tAda\tNNP\t-\t-\t_\tARG1\tARG1\t_\n"
    "2\ttried\ttry\tVBD\t+\t+\tv:e-i-h\t_\t_\t_\n"
    "3\tto\tto\tTO\t-\t-\t_\t_\t_\t_\n"
    "4\tcome\tcome\tVB\t-\t+\tv:e-i\tARG2\t_\t_\n"
    "5\ttoday\ttoday\tRB\t+\t+\ta:e\t_\t_\t_\n\n"
    "#22000002\n"
    "1\tGo\tgo\tVB\t-\t-\t_\n\n";

TEST_CASE("semantic dependencies become graphs, and the graphs the file again") {
  scratch_folder const folder;
  auto const rows = read_sdp(saved(folder, came, "a.sdp"));
  REQUIRE(rows.size() == 2);
  auto const& m = rows[0].graph;
  CHECK(m.tokens == texts{"Ada", "tried", "to", "come", "today"});
  CHECK(m.nodes == std::vector{node::token(0), node::token(1), node::token(3), node::token(4)});
  CHECK(m.node_labels == std::vector<texts>{{}, {"top"}, {}, {"predicate", "top"}});
  CHECK(m.edges == std::vector<edge>{{1, "ARG1", 0}, {1, "ARG2", 2}, {2, "ARG1", 0}});
  CHECK(rows[1].graph.nodes.empty());
  std::string again = std::string(sdp_header) + "\n";
  for (auto const& row : rows) again += sdp_with(row.written, row.graph);
  CHECK(again == came);
}

TEST_CASE("another graph changes tops, predicates and arguments, and drops the frames of other tokens") {
  scratch_folder const folder;
  auto const row = read_sdp(saved(folder, came, "a.sdp"))[0];
  meaning m;
  m.tokens = row.graph.tokens;
  m.nodes = {node::token(2), node::token(0), node::token(3)};
  m.node_labels = {{"top"}, {}, {}};
  m.edges = {{0, "B", 1}, {0, "A", 1}, {2, "C", 0}, {2, "C", 2}};
  auto const text = sdp_with(row.written, m);
  CHECK(text ==
        "#22000001\n"
        "1\tAda\tAda\tNNP\t-\t-\t_\tA\t_\n"
        "2\ttried\ttry\tVBD\t-\t-\t_\t_\t_\n"
        "3\tto\tto\tTO\t+\t+\t_\t_\tC\n"
        "4\tcome\tcome\tVB\t-\t+\tv:e-i\t_\tC\n"
        "5\ttoday\ttoday\tRB\t-\t-\t_\t_\t_\n\n");
  // A comment is no row, also if it has as many columns as a row.
  CHECK(sdp_with("#\t1\t2\t3\t4\t5\t6\t7\n" + row.written, m) == "#\t1\t2\t3\t4\t5\t6\t7\n" + text);
  m.nodes[0] = node::slot(0);
  CHECK_THROWS_WITH(sdp_with(row.written, m), contains("a node is 'slot 0', expected single tokens"));
}

TEST_CASE("a file of SDP with an error is refused with the line") {
  scratch_folder const folder;
  auto const refused = [&](std::string const& text, char const* message) {
    CHECK_THROWS_WITH(read_sdp(saved(folder, text, "a.sdp")), contains(message));
  };
  auto const change = [&](char const* from, char const* to) { return replaced(came, from, to); };
  refused("#22000001\n", "a.sdp:1: found \"#22000001\", expected #SDP 2015");
  refused(change("1\tGo\tgo\tVB\t-\t-\t_", "1\tGo\tgo\tVB\t-\t-"), "a.sdp:10: 6 columns, expected 7 or more");
  refused(change("2\ttried", "3\ttried"), "a.sdp:4: the id is '3', expected 2");
  refused(change("1\tGo", "1\t"), "a.sdp:10: the form is empty");
  refused(change("VBD\t+", "VBD\t*"), "a.sdp:4: top is '*', expected + or -");
  refused(change("VBD\t+\t+", "VBD\t+\t"), "a.sdp:4: pred is '', expected + or -");
  refused(change("VBD\t+\t+", "VBD\t+\t-"), "a.sdp:3: 3 columns of arguments, expected 2");
  refused(change("ARG1\tARG1", "\tARG1"), "a.sdp:3: an edge has an empty label");
}

}  // namespace programs_meanings_dependencies_tests
