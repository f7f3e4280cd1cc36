// Tests the graphs of SLOG's logical forms: where the words of a form are in the sentence, and the way back.  Also
// converts every published row if it is next to the checkout.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include "meanings/data.hpp"
#include "meanings/numbered.hpp"
#include "meanings/variable_free.hpp"
#include "shared/data/text_pairs.hpp"
#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"
#include "tests/published.hpp"

namespace programs_meanings_variable_free_tests {

using namespace triad::programs::meanings;
using triad::test::contains;
using texts = std::vector<std::string>;

TEST_CASE("a relative clause gives a noun a second parent, and a cycle") {
  auto const form = "like ( agent = * fox , theme = cup ( nmod = clean ( agent = Ada , theme = cup ) ) )";
  auto const m = graph_of_form("The fox liked a cup that Ada cleaned .", form, "clause");
  CHECK(m.kind == "clause");
  CHECK(m.nodes == std::vector{node::token(1), node::token(2), node::token(4), node::token(6), node::token(7)});
  CHECK(m.node_labels == std::vector<texts>{{"definite"}, {"verb like"}, {}, {}, {"verb clean"}});
  CHECK(m.edges ==
        std::vector<edge>{{1, "agent", 0}, {1, "theme", 2}, {2, "nmod", 4}, {4, "theme", 2}, {4, "agent", 3}});
  CHECK(variable_free_form(m) == form);
  CHECK(
      form_with_variables(m) ==
      "* fox ( x _ 1 ) ; like . agent ( x _ 2 , x _ 1 ) AND like . theme ( x _ 2 , x _ 4 ) AND cup ( x _ 4 ) AND cup . "
      "nmod ( x _ 4 , x _ 7 ) AND clean . agent ( x _ 7 , Ada ) AND clean . theme ( x _ 7 , x _ 4 )");
}

TEST_CASE("the words of a form are found in the sentence, and the form is written again") {
  struct example {
    char const *sentence, *form;
    std::vector<int> from, to;  // tokens
  };
  for (auto const& e : {
           example{"A fox was given the cup by Ada .",
                   "give ( recipient = fox , theme = * cup , agent = Ada )",
                   {3, 3, 3},
                   {1, 5, 7}},
           example{"The cup was given to a fox .", "give ( theme = * cup , recipient = fox )", {3, 3}, {1, 6}},
           example{
               "Ada gave Bo the cup .", "give ( agent = Ada , recipient = Bo , theme = * cup )", {1, 1, 1}, {0, 2, 4}},
           example{"Ada gave the cup to Bo .",
                   "give ( agent = Ada , theme = * cup , recipient = Bo )",
                   {1, 1, 1},
                   {0, 3, 5}},
           example{"Who did Ada give the cup to ?",
                   "give ( agent = Ada , theme = * cup , recipient = ? )",
                   {3, 3, 3},
                   {0, 2, 5}},
           example{"What did Ada give Bo ?", "give ( agent = Ada , theme = ? , recipient = Bo )", {3, 3, 3}, {0, 2, 4}},
           example{"Who saw a fox ?", "see ( agent = ? , theme = fox )", {1, 1}, {0, 3}},
           example{
               "A fox in a cup beside the fox wanted to sing .",
               "want ( agent = fox ( nmod . in = cup ( nmod . beside = * fox ) ) , xcomp = sing ( agent = fox ( nmod "
               ". in = cup ( nmod . beside = * fox ) ) ) )",
               {1, 4, 8, 8, 10},
               {4, 7, 1, 10, 1}},
           example{"Bo said that Ada knew that a fox fell .",
                   "say ( agent = Bo , ccomp = know ( agent = Ada , ccomp = fall ( theme = fox ) ) )",
                   {1, 1, 4, 4, 8},
                   {0, 4, 3, 8, 7}},
           example{
               "The fox that a cat that a fox saw liked fell .",
               "fall ( theme = * fox ( nmod = like ( agent = cat ( nmod = see ( agent = fox , theme = cat ) ) , theme "
               "= * fox ) ) )",
               {1, 4, 8, 8, 9, 9, 10},
               {9, 8, 4, 7, 1, 4, 1}},
           example{"a fox that wanted to sing",
                   "fox ( nmod = want ( agent = fox , xcomp = sing ( agent = fox ) ) )",
                   {1, 3, 3, 5},
                   {3, 1, 5, 1}},
           example{"The fox on the roof", "* fox ( nmod . on = * roof )", {1}, {4}},
           example{"sing", "sing", {}, {}},
       }) {
    CAPTURE(e.sentence);
    auto const m = graph_of_form(e.sentence, e.form, "test");
    std::vector<int> from, to;
    for (auto const& one : m.edges) {
      from.push_back(m.nodes[static_cast<std::size_t>(one.from)].first);
      to.push_back(m.nodes[static_cast<std::size_t>(one.to)].first);
    }
    CHECK(from == e.from);
    CHECK(to == e.to);
    CHECK(variable_free_form(m) == e.form);
  }
}

TEST_CASE("a form that is none, or that is about another sentence, is refused") {
  auto const refused = [](char const* sentence, char const* form, char const* message) {
    CAPTURE(form);
    CHECK_THROWS_WITH(graph_of_form(sentence, form, ""), contains(message));
  };
  refused("Ada sang .", "sing ( agent = Ada", "the form is no WORD ( ROLE = ..., ... ) from its word 6 on, \"\"");
  refused("Ada sang .", "sing ( agent Ada )", "from its word 5 on, \")\"");
  refused("Ada sang .", "sing ( agent = ) )", "from its word 5 on, \")\"");
  refused("Ada sang .", "sing ( agent = Ada ) )", "from its word 7 on, \")\"");
  refused("Ada sang .", "", "from its word 1 on");
  refused("Ada sang .", "sing ( agent = Bo )", "the word \"Bo\" of the form is \"Ada\" in the sentence");
  refused("Ada sang .", "sing ( agent = Ada , theme = Bo )", "the sentence has no word for \"Bo\"");
  refused("Ada sang Bo .", "sing ( agent = Ada )", "the form does not name the word \"Bo\"");
  refused("Ada sang .", "sing ( agent = ? )", "no Who or What");
  refused("Ada said .", "say ( agent = Ada , ccomp = sing )", "the verb \"sing\" of the form has no arguments");
  std::string deep = "x", end;
  for (int i = 0; i < 300; ++i) deep += " ( nmod . in = x", end += " )";
  refused("x", (deep + end).c_str(), "more than 200 levels");
}

TEST_CASE("a graph that has no form gives none") {
  auto const m = graph_of_form("Ada saw Bo .", "see ( agent = Ada , theme = Bo )", "");
  auto const form = [&](auto const& change) {
    auto other = m;
    change(other);
    return variable_free_form(other);
  };
  CHECK(form([](meaning&) {}) == "see ( agent = Ada , theme = Bo )");
  CHECK(form([](meaning& o) { o.edges.clear(); }).empty());
  CHECK(form([](meaning& o) { o.edges.pop_back(); }).empty());  // two roots
  CHECK(form([](meaning& o) { o.edges.push_back({1, "ccomp", 1}); }).empty());
  CHECK(form([](meaning& o) { o.node_labels[0] = {"verb be"}; }).empty());
  CHECK(form([](meaning& o) { o = {}; }).empty());
  CHECK(form([](meaning& o) { o.nodes[2] = node::slot(0); }).empty());
  CHECK(form([](meaning& o) { o.nodes[2] = node::slot(255); }).empty());
  CHECK(form([](meaning& o) { o.nodes[2] = node::span(2, 3); }).empty());
  meaning dense;  // each noun has all later nouns as modifiers: the form would have 2^30 parts
  for (int i = 0; i < 31; ++i) {
    dense.tokens.push_back("x");
    dense.add(node::token(i));
    for (int k = 0; k < i; ++k) dense.edges.push_back({k, "nmod . in", i});
  }
  CHECK(variable_free_form(dense).empty());
}

TEST_CASE("a file of forms is read, and its graphs are numbered by word") {
  triad::test::scratch_folder const folder;
  auto const path =
      triad::test::saved(folder,
                         "fox\tfox\tprimitive\n"
                         "The fox sang .\tsing ( agent = * fox )\tplain\n"
                         "Ada saw a fox that sang .\tsee ( agent = Ada , theme = fox ( nmod = sing ( agent "
                         "= fox ) ) )\tclause\n",
                         "a.tsv");
  auto const rows = read_rows(path);
  REQUIRE(rows.size() == 3);
  CHECK(rows[2].graph.kind == "clause");
  auto const v = vocabulary::of(rows);
  CHECK(v.by_word());
  for (auto const& row : rows) {
    std::string left_out;
    auto const e = numbered(row.graph, v, 0, left_out);
    REQUIRE(e);
    CHECK(written_as(data_format::variable_free, row, graph_of(row.graph.tokens, *e, v)) == row.written + "\n");
  }
  CHECK_THROWS_WITH(read_rows(triad::test::saved(folder, "Ada sang .\tsing ( agent = Bo )\tplain\n", "b.tsv")),
                    contains("b.tsv:1: the word \"Bo\" of the form is \"Ada\""));
}

TEST_CASE("every published form of SLOG comes back, with the places of the published variables") {
  auto const folder = triad::test::published("slog");
  if (triad::test::is_missing(folder / "varfree_train.tsv.gz", "sentences of SLOG")) return;
  for (auto const& [name, count] : {std::pair("train", 32755), {"dev", 4046}, {"test", 4046}}) {
    CAPTURE(name);
    auto const rows = read_rows((folder / ("varfree_" + std::string(name) + ".tsv.gz")).string());
    CHECK(rows.size() == static_cast<std::size_t>(count));
    std::vector<triad::programs::text_pair> variables;
    if (name != std::string("train"))
      variables = triad::programs::read_pairs((folder / ("cogs_" + std::string(name) + ".tsv.gz")).string());
    long long back = 0, places = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      back += variable_free_form(rows[i].graph) == rows[i].written ? 1 : 0;
      if (i < variables.size()) places += form_with_variables(rows[i].graph) == variables[i].target ? 1 : 0;
    }
    CHECK(back == count);
    CHECK(places == static_cast<long long>(variables.size()));
    if (variables.empty()) CHECK(vocabulary::of(rows).by_word());
  }
}

}  // namespace programs_meanings_variable_free_tests
