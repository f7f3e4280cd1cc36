// Tests the graphs of queries: CFQ's conjuncts, slots, filters, and what is left out.  Also converts every published
// query of CFQ and MCWQ if they are next to the checkout.
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cfq/conjuncts.hpp"
#include "meanings/query.hpp"
#include "shared/data/text_pairs.hpp"
#include "tests/catch.hpp"
#include "tests/published.hpp"

namespace programs_meanings_query_tests {

using namespace triad::programs::meanings;
using triad::test::contains;
using texts = std::vector<std::string>;

TEST_CASE("a query becomes a graph, and the graph the query again") {
  std::string const query =
      "SELECT DISTINCT ?x0 WHERE { ?x0 a film.director . ?x0 film.film.edited_by M1 . ?x0 film.film.edited_by M2 . ?x0 "
      "film.film.sequel ?x1 . ?x1 people.person.spouse_s M2 . FILTER ( ?x1 != M2 ) }";
  auto const [m, left_out, text] = graph_of_query("Which sequel did M1 and M2 ' s spouse edit", query);
  CHECK(left_out.empty());
  CHECK(text == query);
  CHECK(m.tokens == texts{"Which", "sequel", "did", "M1", "and", "M2", "'s", "spouse", "edit"});
  CHECK(m.nodes == std::vector{node::token(3), node::token(5), node::slot(0), node::slot(1)});
  CHECK(m.node_labels == std::vector<texts>{{}, {}, {"a film.director"}, {}});
  CHECK(m.edges == std::vector<edge>{{2, "film.film.edited_by", 0},
                                     {2, "film.film.edited_by", 1},
                                     {2, "film.film.sequel", 3},
                                     {3, "people.person.spouse_s", 1}});
  CHECK(m.label == "SELECT DISTINCT ?x0 WHERE");
  CHECK(m.kind == "Which");
  CHECK(query_of(m) == query);
  CHECK(question_of(m.tokens, true) == "Which sequel did M1 and M2 ' s spouse edit");
  CHECK(question_of(m.tokens, false) == "Which sequel did M1 and M2 's spouse edit");
}

TEST_CASE("conjuncts come back sorted, and the graph is that of the order in which they were written") {
  std::string const written =
                        "ASK WHERE { M1 wdt:P26 ?x0 . ?x0 wdt:P31 wd:Q5 . M0 wdt:P161 ?x0 . FILTER ( M1 != ?x0 ) }",
                    sorted =
                        "ASK WHERE { ?x0 wdt:P31 wd:Q5 . FILTER ( M1 != ?x0 ) . M0 wdt:P161 ?x0 . M1 wdt:P26 ?x0 }";
  auto const m = graph_of_query("Did M0 star M1 's spouse", written).graph;
  CHECK(query_of(m) == sorted);
  CHECK(graph_of_query("Did M0 star M1 's spouse", sorted).graph == m);
}

TEST_CASE("a question is left out, with the reason, if its query has no graph over its words") {
  auto const reason = [](char const* question, char const* query) {
    auto const [m, left_out, text] = graph_of_query(question, query);
    CHECK(m.nodes.empty());
    CHECK(m.edges.empty());
    CHECK(m.kind == "Did");
    return left_out;
  };
  CHECK(reason("Did M0 and M0 sing", "ASK WHERE { M0 a b }") == "an entity is twice in the question");
  CHECK(reason("Did M0 sing", "ASK WHERE { M0 a b . M1 c M0 }") == "an entity of the query is not in the question");
  CHECK(reason("Did M0 sing", "ASK WHERE { M0 a b . M0 a b }") == "a conjunct is twice in it");
  CHECK(reason("Did M0 sing", "ASK WHERE { M0 a ?x0 . M0 a ?x0 }") == "a conjunct is twice in it");
  auto const filters = "its FILTERs are not those of its siblings and spouses";
  CHECK(reason("Did M0 sing", "ASK WHERE { M0 a ?x0 . FILTER ( M0 != ?x0 ) }") == filters);
  CHECK(reason("Did M0 sing", "ASK WHERE { M0 spouse_s ?x0 }") == filters);
  CHECK(reason("Did M0 sing", "ASK WHERE { M0 spouse_s ?x0 . FILTER ( ?x0 != M0 ) }") == filters);
}

TEST_CASE("a query without conjuncts is a graph without edges") {
  auto const row = graph_of_query("Did M0 sing", "ASK WHERE { }");
  CHECK((row.left_out.empty() && row.graph.edges.empty() && row.graph.label == "ASK WHERE"));
  CHECK(query_of(row.graph) == "ASK WHERE { }");
}

TEST_CASE("a text that is no query is refused") {
  auto const refused = [](char const* query, char const* message) {
    CAPTURE(query);
    CHECK_THROWS_WITH(graph_of_query("Did M0 sing", query), contains(message));
  };
  refused("SELECT ?x0", "expected SELECT ... WHERE { conjuncts }");
  refused("ASK WHERE { M0 a }", "a conjunct is \"M0 a\"");
  refused("ASK WHERE { a film ?x0 }", "a conjunct is \"a film ?x0\"");
  refused("ASK WHERE { FILTER ( M0 < M1 ) }", "a conjunct is \"FILTER ( M0 < M1 )\"");
  refused("ASK WHERE { . }", "a conjunct is \"\"");
  CHECK_THROWS_WITH(graph_of_query(" ", "ASK WHERE { M0 a b }"), contains("the question has no words"));
}

TEST_CASE("words that only look like entities and variables are words") {
  CHECK(is_entity("M0"));
  CHECK(is_entity("M12"));
  for (auto const* word : {"M", "M01", "M1a", "m1", "M123456", "?x0", ""}) CHECK_FALSE(is_entity(word));
  CHECK(words_of_question("M0 ' s cat ' said s ' s") == texts{"M0", "'s", "cat", "'", "said", "s", "'s"});
}

/// What comes back of a file of questions and queries.
struct counts {
  long long rows = 0, strings = 0, sets = 0, questions = 0;
  std::map<std::string, long long> left_out{};
};
counts counts_of(std::string const& path) {
  counts c;
  for (auto const& pair : triad::programs::read_pairs(path)) {
    ++c.rows;
    auto const [m, left_out, text] = graph_of_query(pair.source, pair.target);
    c.questions += question_of(m.tokens, pair.source.find("' s") != std::string::npos) == pair.source ? 1 : 0;
    if (!left_out.empty()) {
      ++c.left_out[left_out];
      continue;
    }
    auto const query = query_of(m);
    c.strings += query == pair.target ? 1 : 0;
    c.sets += triad::programs::cfq::same_conjuncts(query, pair.target) ? 1 : 0;
  }
  return c;
}

TEST_CASE("every published query of MCD1 comes back as it was written, unless an entity is repeated") {
  auto const folder = triad::test::published("cfq/mcd1");
  if (triad::test::is_missing(folder / "train.tsv.gz", "questions of CFQ")) return;
  for (auto const& [name, rows, repeated] : {std::tuple("train", 95743, 35), {"dev", 11968, 0}, {"test", 11968, 0}}) {
    CAPTURE(name);
    auto const c = counts_of((folder / (std::string(name) + ".tsv.gz")).string());
    CHECK(c.rows == rows);
    CHECK(c.questions == rows);
    CHECK(c.strings == rows - repeated);
    std::map<std::string, long long> expected;
    if (repeated > 0) expected["an entity is twice in the question"] = repeated;
    CHECK(c.left_out == expected);
  }
}

TEST_CASE("every published query of MCWQ comes back as a set of conjuncts, unless an entity is repeated") {
  auto const folder = triad::test::published("cfq/mcwq");
  if (triad::test::is_missing(folder / "mcd1" / "dev.tsv.gz", "questions of MCWQ")) return;
  for (auto const& [split, repeated] : {std::pair("mcd1", 0), {"mcd2", 1}, {"mcd3", 1}, {"random_split", 2}}) {
    long long left_out = 0;
    for (auto const* part : {"train_partial", "dev", "test"}) {
      CAPTURE(split, part);
      auto const c = counts_of((folder / split / (std::string(part) + ".tsv.gz")).string());
      long long here = 0;
      for (auto const& [reason, count] : c.left_out) {
        CHECK(reason == "an entity is twice in the question");
        here += count;
      }
      left_out += here;
      CHECK(c.sets == c.rows - here);
      CHECK(c.questions == c.rows);
    }
    CHECK(left_out == repeated);
  }
}

}  // namespace programs_meanings_query_tests
