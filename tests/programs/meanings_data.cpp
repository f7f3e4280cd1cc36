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
                              "each word always is a node or never is one: only nodes are asked\n"
                              "2 of 2 graphs come back from the numbers of a model\n");
  auto const asked = saved(folder, queries, "a.tsv");
  CHECK_THAT(inspected(asked), contains("2 of 2 graphs come back from the numbers of a model, 2 of them as they are "
                                        "written in the file\n1 left out: an entity is twice in the question\n"));
  auto const tree = saved(folder, words, "a.conllu");
  CHECK_THAT(inspected(tree), contains("1 of 1 graphs come back from the numbers of a model, 1 of them as"));
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
