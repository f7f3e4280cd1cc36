// Tests files of sentences and graphs in every format, data sets in folders, and the summary of a file.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "meanings/data.hpp"
#include "meanings/inspect.hpp"
#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"
#include "tests/io/text/gzipped.hpp"
#include "tests/published.hpp"

namespace programs_meanings_data_tests {

using namespace triad::programs::meanings;
using triad::test::contains;
using triad::test::saved;
using triad::test::scratch_folder;

std::string const lines =
    R"({"tokens": ["Ada", "saw", "the", "cup"], "nodes": [0, 1, [2, 3]], "edges": [[1, "agent", 0], [1, "sees", 2],)"
    R"( [1, "theme", 2], [0, "owns", 2]], "label": "told", "kind": "past"})"
    "\n\n"
    R"({"tokens": ["Ada", "saw"], "nodes": [0, 1, "slot 0"], "edges": [[1, "agent", 0], [1, "theme", 2]],)"
    R"( "node_labels": [[], [], ["hidden"]], "label": "told", "kind": "past"})"
    "\n";
std::string const queries =
    "Did M0 sing\tASK WHERE { M0 a singer }\n"
    "Did M0 marry M0\tASK WHERE { M0 b M0 }\n"
    "Who saw M0 ' s cat\tSELECT DISTINCT ?x0 WHERE { ?x0 saw ?x1 . M0 owns ?x1 }\n";
std::string const words = "1\tGo\t_\t_\t_\t_\t0\troot\t0:root\t_\n2\thome\t_\t_\t_\t_\t1\tobl\t1:obl\t_\n\n";
std::string const semantic = "#SDP 2015\n#1\n1\tGo\tgo\tVB\t+\t+\t_\t_\n2\thome\thome\tRB\t-\t-\t_\tARG1\n\n";

TEST_CASE("a file of each format is read and written again") {
  scratch_folder const folder;
  auto const whole = [&](std::string const& path) {
    std::string text;
    auto const format = format_of(path);
    for (auto const& row : read_rows(path)) text += written_as(format, row, row.graph);
    return text;
  };
  CHECK(whole(saved(folder, words, "a.conllu")) == words);
  CHECK("#SDP 2015\n" + whole(saved(folder, semantic, "a.sdp")) == semantic);
  auto const again = saved(folder, whole(saved(folder, lines, "a.jsonl")), "b.jsonl");
  CHECK(read_rows(again).size() == 2);
  CHECK(whole(again) == whole(folder / "a.jsonl"));
  triad::test::write_gzipped(folder / "a.tsv.gz", queries);
  auto const rows = read_rows(folder / "a.tsv.gz");
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].graph.kind == "Did");
  CHECK(rows[1].left_out == "an entity is twice in the question");
  CHECK(rows[2].written == "SELECT DISTINCT ?x0 WHERE { ?x0 saw ?x1 . M0 owns ?x1 }");
  CHECK(written_as(data_format::queries, rows[2], rows[2].graph) == rows[2].written + "\n");
  CHECK(read_rows(saved(folder, "Did M0 sing\tASK WHERE { M0 a singer }\tshort\n", "kind.tsv"))[0].graph.kind ==
        "short");
}

TEST_CASE("an answer is right if its graph is that of the row, or its query has the same conjuncts") {
  scratch_folder const folder;
  auto const rows = read_rows(saved(folder, queries, "a.tsv"));
  CHECK(is_right(data_format::queries, rows[2], rows[2].graph));
  CHECK_FALSE(is_right(data_format::queries, rows[2], rows[0].graph));
  CHECK_FALSE(is_right(data_format::queries, rows[1], rows[1].graph));
  auto const own = read_rows(saved(folder, lines, "a.jsonl"));
  CHECK(is_right(data_format::json_lines, own[0], own[0].graph));
  CHECK_FALSE(is_right(data_format::json_lines, own[0], own[1].graph));
  auto left_out = own[0];
  left_out.left_out = "a reason";
  CHECK_FALSE(is_right(data_format::json_lines, left_out, own[0].graph));
}

TEST_CASE("a wrong line is refused with file and line") {
  scratch_folder const folder;
  CHECK_THROWS_WITH(read_rows(saved(folder, lines + "{\"tokens\": [\"a\"]}", "a.jsonl")),
                    contains("a.jsonl:4: expected \"edges\""));
  CHECK_THROWS_WITH(read_rows(saved(folder, queries + "Did M0 sing\tyes\n", "a.tsv")),
                    contains("a.tsv:4: the query is \"yes\""));
  CHECK_THROWS_WITH(read_rows(saved(folder, "\n\n", "a.conllu")), contains("there is no sentence in it"));
  CHECK_THROWS_WITH(read_rows(saved(folder, lines, "a.txt")), contains("a.txt: expected a name that ends in .jsonl"));
}

std::string const forms =
    "A fox saw Ada .\tfox ( x _ 1 ) AND see . agent ( x _ 2 , x _ 1 ) AND see . theme ( x _ 2 , Ada )\tplain\n"
    "The fox wanted to sing .\t* fox ( x _ 1 ) ; want . agent ( x _ 2 , x _ 1 ) AND want . xcomp ( x _ 2 , x _ 4 ) AND "
    "sing . agent ( x _ 4 , x _ 1 )\tcontrol\n"
    "A cup on the roof fell .\t* roof ( x _ 4 ) ; cup ( x _ 1 ) AND cup . nmod . on ( x _ 1 , x _ 4 ) AND fall . theme "
    "( x _ 5 , x _ 1 )\tpp\n"
    "fox\tLAMBDA a . fox ( a )\tprimitive\n";

TEST_CASE("logical forms and tags of COGS become graphs, and the graphs the forms again") {
  scratch_folder const folder;
  auto const rows = read_rows(saved(folder, forms, "a.tsv"));
  REQUIRE(rows.size() == 4);
  auto const& m = rows[2].graph;
  CHECK(m.kind == "pp");
  CHECK(m.nodes == std::vector{node::token(1), node::token(2), node::token(4), node::token(5)});
  CHECK(m.node_labels ==
        std::vector<std::vector<std::string>>{{"CNOUN", "INDEF"}, {}, {"CNOUN", "DEF"}, {"VERB", "verb fall"}});
  CHECK(m.edges == std::vector<edge>{{0, "PREP", 1}, {1, "PP_NOUN", 2}, {3, "theme", 0}});
  std::string tagged;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto const s = tags_of(rows[i].graph);
    REQUIRE(s);
    tagged += triad::programs::cogs::to_json_line(*s) + "\n";
    if (i < 3) CHECK(written_as(data_format::tags, rows[i], rows[i].graph) == rows[i].written + "\n");
  }
  auto const again = read_rows(saved(folder, tagged, "a.jsonl"));
  REQUIRE(again.size() == 4);
  for (std::size_t i = 0; i < rows.size(); ++i) CHECK(again[i].graph == rows[i].graph);

  auto const without = [&](auto const& change) {
    auto other = m;
    change(other);
    return tags_of(other);
  };
  CHECK_FALSE(without([](meaning& o) { o.edges.push_back({2, "agent", 0}); }));
  CHECK_FALSE(without([](meaning& o) { o.node_labels[0].push_back("DEF"); }));
  CHECK_FALSE(without([](meaning& o) { o.node_labels[0].push_back("red"); }));
  CHECK_FALSE(without([](meaning& o) { o.nodes[3] = node::slot(0); }));
  CHECK_FALSE(without([](meaning& o) { o.nodes[3] = node::span(4, 5); }));
  auto broken = m;
  broken.edges = {{0, "theme", 3}};  // a noun has no verb
  CHECK(form_of_graph(broken).empty());
}

TEST_CASE("a data set is read from a folder whose files have one format") {
  scratch_folder const folder;
  saved(folder, lines, "train.jsonl");
  saved(folder, lines, "dev.jsonl");
  saved(folder, lines, "test_long.jsonl");
  auto const d = read_data(folder / "", true);
  CHECK(d.train.size() == 2);
  CHECK(d.dev.size() == 2);
  REQUIRE(d.tests.size() == 1);
  CHECK(d.tests[0].name == "long");
  CHECK(read_data(folder / "", false).train.empty());
  CHECK(read_data(folder / "dev.jsonl", false).tests.size() == 1);
  saved(folder, words, "test_words.conllu");
  CHECK_THROWS_WITH(read_data(folder / "", true), contains("give files of one format"));
}

TEST_CASE("a file is summarised") {
  scratch_folder const folder;
  auto const own = saved(folder, lines, "a.jsonl");
  CHECK(inspected(own) == own +
                              ": 2 sentences of up to 4 tokens\n"
                              "words: 4\n"
                              "nodes: 6, of which spans of several tokens: 1\n"
                              "edges: 6, between 5 pairs of nodes, of which pairs with several edges: 1\n"
                              "nodes with several parents: 1, most parents of a node: 2\n"
                              "slots: 0 in 1, 1 in 1 sentences\n"
                              "relations (4): agent 2, theme 2, owns 1, sees 1\n"
                              "labels of nodes (1): hidden 1\n"
                              "labels of graphs (1): told 2\n"
                              "kinds (1): past 2\n"
                              "each word always is a node or never is one: only nodes are queried\n"
                              "2 of 2 graphs come back from the numbers of a model\n");
  auto const labelled = saved(
      folder, R"({"tokens": ["Go"], "nodes": [0], "edges": [[0, "self", 0]], "node_labels": [["verb"]]})", "b.jsonl");
  CHECK_THAT(inspected(labelled), contains("words decide 1 of the labels of nodes: train --word-labels"));
  auto const queried = saved(folder, queries, "a.tsv");
  CHECK_THAT(inspected(queried), contains("2 of 2 graphs come back from the numbers of a model, 2 of them as they are "
                                          "written in the file\n1 left out: an entity is twice in the question\n"));
  auto const unsorted = saved(folder, queries + "Did M0 sing\tASK WHERE { M0 b c . M0 a b }\n", "b.tsv");
  CHECK_THAT(inspected(unsorted),
             contains("2 of them as they are written in the file, 3 up to the order of conjuncts\n"));
  auto const tree = saved(folder, words, "a.conllu");
  CHECK_THAT(inspected(tree), contains("1 of 1 graphs come back from the numbers of a model, 1 of them as"));
}

TEST_CASE("every published sentence of COGS comes back as tags and as a logical form") {
  auto const folder = triad::test::published("cogs");
  if (triad::test::is_missing(folder / "train.tsv.gz", "sentences of COGS")) return;
  for (auto const& [name, count] : {std::pair("train", 24155), {"dev", 3000}, {"test", 3000}, {"gen", 21000}}) {
    CAPTURE(name);
    auto const tagged = read_rows((folder / (std::string(name) + "_seqtag.jsonl.gz")).string());
    auto const rows = read_rows((folder / (std::string(name) + ".tsv.gz")).string());
    REQUIRE(rows.size() == static_cast<std::size_t>(count));
    REQUIRE(tagged.size() == rows.size());
    long long graphs = 0, written = 0, primitives = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      auto const s = tags_of(rows[i].graph);
      graphs += s && graph_of_tags(*s) == rows[i].graph && rows[i].graph == tagged[i].graph ? 1 : 0;
      written += form_of_graph(rows[i].graph) == rows[i].written ? 1 : 0;
      primitives += rows[i].graph.kind == "primitive" ? 1 : 0;
    }
    CHECK(graphs == count);
    CHECK(written + primitives == count);  // the tags of a word alone do not determine its form
    auto const v = vocabulary::of(rows);
    CHECK(v.by_word());
    CHECK(v.label_of_isolated() == -1);
  }
}

TEST_CASE("the published dev set of MCD1 is summarised") {
  auto const path = triad::test::published("cfq/mcd1/dev.tsv.gz");
  if (triad::test::is_missing(path, "questions of CFQ")) return;
  auto const summary = inspected(path.string());
  CHECK_THAT(summary, contains(": 11968 sentences of up to 29 tokens\n"));
  CHECK_THAT(summary, contains("slots: 0 in 861, 1 in 8522, 2 in 2549, 3 in 36 sentences\n"));
  CHECK_THAT(summary, contains("11968 of 11968 graphs come back from the numbers of a model, 11968 of them as they"));
}

}  // namespace programs_meanings_data_tests
