// Tests the published form of CFQ: its preprocessing, dataset.json as a stream, and split files. Also reads the
// published files if they are next to the checkout.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "sequences/cfq/data.hpp"
#include "shared/processes/first_writes.hpp"
#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"
#include "tests/published.hpp"

namespace programs_cfq_dataset_tests {

namespace sequences = triad::programs::sequences;

using namespace triad::programs::cfq;
using namespace triad::programs::cfq_sequences;
using triad::test::contains;

std::string stored(triad::test::scratch_folder const& folder, std::string const& name, std::string const& content) {
  std::filesystem::create_directories(std::filesystem::path(folder / name).parent_path());
  triad::programs::first_writes(folder / name, content);
  return folder / name;
}

std::string const three = R"([
  {"question": "x", "questionPatternModEntities": "Did M0's sibling, M1, direct M2", "ruleTree": {"questionPatternModEntities": ["no", {"a": "no"}]},
   "sparqlPatternModEntities": "SELECT count(*) WHERE {\nM0 ns:film.director.film ?x0 .\n?x0 ns:people.person.gender ns:m.05zppz\n}", "depth": 3, "none": null},
  {"sparqlPatternModEntities": "SELECT DISTINCT ?x0 WHERE {\n?x0 ns:a/ns:b M0 .\n?x0 a ns:c\n}", "questionPatternModEntities": "Who was M0"},
  {"questionPatternModEntities": "Was M0 M1", "sparqlPatternModEntities": "SELECT count(*) WHERE {\nM0 ^ns:p M1\n}"}
])";

TEST_CASE("questions and queries become what the authors' preprocessing makes of them") {
  CHECK(tokenised_question("Did M0's child-star, M1, marry\tM2?") == "Did M0 ' s child - star , M1 , marry M2 ?");
  CHECK(tokenised_query(
            "SELECT count(*) WHERE {\nM0 ns:a.b/ns:c ns:m.05 .\nFILTER ( M0 != ?x0 ) .\n?x0 ^ns:m.x m.y\n}") ==
        "SELECT count ( * ) WHERE { M0 a.b/ns:c m_05 . FILTER ( M0 != ?x0 ) . ?x0 ^ns:m.x m_y }");
}

TEST_CASE("dataset.json gives the questions that a split names, in its order") {
  triad::test::scratch_folder const folder;
  for (std::string const ending : {"", ".gz"}) {
    auto const data = stored(folder, "dataset.json" + ending, three);
    auto const split =
        stored(folder, "splits/mine.json" + ending, R"({"trainIdxs": [2, 0], "devIdxs": [], "testIdxs": [1]})");
    auto const d = read_dataset(data, split);
    REQUIRE(d.train.size() == 2);
    CHECK(d.train[0].source == "Was M0 M1");
    CHECK(d.train[0].target == "SELECT count ( * ) WHERE { M0 ^ns:p M1 }");
    CHECK(d.train[1].source == "Did M0 ' s sibling , M1 , direct M2");
    CHECK(d.train[1].target ==
          "SELECT count ( * ) WHERE { M0 film.director.film ?x0 . ?x0 people.person.gender m_05zppz }");
    CHECK(d.dev.empty());
    REQUIRE(d.tests.size() == 1);
    CHECK(d.tests[0].name == "test");
    CHECK(d.tests[0].pairs[0].target == "SELECT DISTINCT ?x0 WHERE { ?x0 a/ns:b M0 . ?x0 a c }");

    options o;
    o.data = folder / "", o.split = "mine";
    CHECK(data_of(o, true).train == d.train);
    o.data = data, o.split = split, o.sort_conjuncts = true;
    CHECK(data_of(o, true).tests[0].pairs[0].target == "SELECT DISTINCT ?x0 WHERE { ?x0 a c . ?x0 a/ns:b M0 }");
    std::filesystem::remove(data), std::filesystem::remove(split);
  }
}

TEST_CASE("what is no dataset.json, and a split of another one, are refused with what is wrong") {
  triad::test::scratch_folder const folder;
  auto const refused = [&](std::string const& data, std::string const& split, char const* reason) {
    CAPTURE(data, split);
    CHECK_THROWS_WITH(read_dataset(stored(folder, "data", data), stored(folder, "split", split)), contains(reason));
  };
  std::string const good = R"({"trainIdxs": [0], "devIdxs": [1], "testIdxs": [2]})";
  refused("", good, "expected JSON, found none from byte");
  refused(three.substr(0, three.size() / 2), good, "was the file copied whole?");
  refused(R"({"a": "b"})", good, "a list of objects is expected");
  refused("[1]", good, "a list of objects is expected");
  refused("\"text\"", good, "a list of objects is expected");
  refused("[[{}]]", good, "a list of objects is expected");
  refused("[{}]", good, "object 0 lacks questionPatternModEntities");
  refused(R"([{"questionPatternModEntities": "a", "sparqlPatternModEntities": 3}])", good,
          "object 0 lacks sparqlPatternModEntities");
  refused(three, "[", "expected JSON, found none");
  refused(three, "[]", "there is no list trainIdxs");
  refused(three, R"({"trainIdxs": [0], "devIdxs": [1]})", "there is no list testIdxs");
  refused(three, R"({"trainIdxs": [0], "devIdxs": [-1], "testIdxs": [2]})",
          "devIdxs: expected places from 0 on, found -1");
  refused(three, R"({"trainIdxs": [0], "devIdxs": [1], "testIdxs": [0]})", "0 is there twice");
  refused(three, R"({"trainIdxs": [0], "devIdxs": [1], "testIdxs": [3]})", "question 3 is asked for, but ");
  refused(three, R"({"trainIdxs": [], "devIdxs": [1], "testIdxs": [2]})", "trainIdxs is empty");
  std::string const deep(200'000, '['), closed = deep + std::string(deep.size(), ']');
  refused(three, R"({"trainIdxs": [)" + closed + R"(], "devIdxs": [1], "testIdxs": [2]})",
          "split: expected JSON of at most 64 levels, found more");
  refused(three, R"({"trainIdxs": [0.5], "devIdxs": [1], "testIdxs": [2]})",
          "trainIdxs: expected places from 0 on, found 0.5");
  refused(three, R"({"trainIdxs": [18446744073709551616], "devIdxs": [1], "testIdxs": [2]})",
          "trainIdxs: expected places from 0 on, found 1.844");
  refused(three, R"({"trainIdxs": [1e999], "devIdxs": [1], "testIdxs": [2]})", "split: expected JSON, found none");
  refused("[{\"x\": " + closed + "}]", good,
          "expected at most 100000 levels of lists and objects, found more from object 0 on");
  refused("[{\"x\": 1e999}]", good, "expected JSON, found none from byte");
  auto const cut = stored(folder, "cut.json.gz", three);
  std::filesystem::resize_file(cut, std::filesystem::file_size(cut) / 2);
  CHECK_THROWS_WITH(read_dataset(cut, stored(folder, "split", good)), contains("damaged"));
  CHECK_THROWS_WITH(read_dataset(folder / "none.json", folder / "split"), contains("cannot be opened"));

  options o;
  o.data = stored(folder, "dataset.json", three);
  CHECK_THROWS_WITH(data_of(o, true), contains("give its split, too"));
  o.split = "mcd7";
  CHECK_THROWS_WITH(data_of(o, true), contains("there is no splits/mcd7.json"));
  o.data = stored(folder, "columns/train.tsv", "a\tb\n");
  o.data = folder / "columns";
  o.given = {"split"};
  CHECK_THROWS_WITH(data_of(o, true), contains("--split is about CFQ's dataset.json"));
}

TEST_CASE("a folder of columns may have a part of the training set alone, as MCWQ") {
  triad::test::scratch_folder const folder;
  options o;
  o.data = folder / "";
  CHECK_THROWS_WITH(data_of(o, true), contains("there is no train.tsv") && contains("dataset.json"));
  stored(folder, "train_partial.tsv.gz", "Did M0 found M1\tASK WHERE { M0 wdt:P112 M1 }\n");
  stored(folder, "dev.tsv", "Who was M0\tSELECT ?x0 WHERE { ?x0 wdt:P31 M0 }\n");
  auto d = data_of(o, true);
  CHECK(d.train.size() == 1);
  CHECK(d.tests.size() == 1);
  stored(folder, "train.tsv", "a\tb\nc\td\n");
  d = data_of(o, true);
  CHECK(d.train.size() == 2);
}

TEST_CASE("raw queries are no training set, and are asked of no model that was trained on preprocessed ones") {
  triad::test::scratch_folder const folder;
  options o;
  o.data = folder / "";
  for (auto const* query : {"SELECT count(*) WHERE { M0 a M1 }", "SELECT ?x0 WHERE { M0 ns:film.director.film ?x0 }"}) {
    CAPTURE(query);
    stored(folder, "train.tsv", "a\tb\nDid M0\t" + std::string(query) + "\n");
    CHECK_THROWS_WITH(data_of(o, true), contains("train.tsv:2: the query has \"") &&
                                            contains("expected one that is preprocessed, without ns: and with count"));
  }
  stored(folder, "train.tsv", "a\tb\n");
  stored(folder, "test.tsv", "a\tb\nc\tM0 ns:a M1\n");
  CHECK_THROWS_WITH(data_of(o, true), contains("test.tsv:2: the query has \"ns:a\""));
  auto const raw = raw_token(data_of(o, false));
  CHECK(raw == "ns:a");

  triad::text::token_counts plain_words, raw_words;
  plain_words.add_line("count ( * ) a"), raw_words.add_line("M0 ns:a M1");
  auto const plain_model = sequences::dictionary::build(plain_words),
             raw_model = sequences::dictionary::build(raw_words);
  CHECK_NOTHROW(expect_same_form("", plain_model));
  CHECK_NOTHROW(expect_same_form(raw, raw_model));
  CHECK_THROWS_WITH(expect_same_form(raw, plain_model), contains("the data's queries are raw, with \"ns:a\""));
  CHECK_THROWS_WITH(expect_same_form("", raw_model), contains("the run was trained on raw queries, with \"ns:a\""));
  CHECK(raw_token("SELECT count ( * ) WHERE { ?x0 a/ns:b M0 }").empty());
}

TEST_CASE("conjuncts are sorted, and what is no query stays as it is") {
  CHECK(sorted_conjuncts("S WHERE { b c . FILTER ( a ) . ?x0 y . b c }") ==
        "S WHERE { ?x0 y . FILTER ( a ) . b c . b c }");
  CHECK(sorted_conjuncts("b . a") == "b . a");
}

/// Replaces each entity `m_...` of a query by the word at the same position in the other query. Returns an empty text
/// if the queries have different numbers of words.
std::string renamed(std::string const& query, std::string const& other) {
  auto const mine = triad::text::words(query), theirs = triad::text::words(other);
  std::map<std::string, std::string> names;
  if (mine.size() != theirs.size()) return {};
  auto found = mine;
  for (std::size_t i = 0; i < mine.size(); ++i)
    if (mine[i].starts_with("m_")) found[i] = names.try_emplace(mine[i], theirs[i]).first->second;
  return triad::text::joined(found);
}

TEST_CASE("preprocessing gives the real files") {
  auto const folder = triad::test::published("cfq");
  if (triad::test::is_missing(folder / "mcd1", "CFQ")) return;
  std::map<std::string, std::string> known;
  for (auto const* part : {"train", "dev", "test"})
    for (auto const& pair : triad::programs::read_pairs(folder / "mcd1" / (std::string(part) + ".tsv.gz"))) {
      known[pair.source] = pair.target;
      if (tokenised_question(pair.source) != pair.source || tokenised_query(pair.target) != pair.target)
        FAIL("not a fixed point: " << pair.source);
    }
  CHECK(known.size() == 119679);

  // In these rows of dataset.json, entities have names of Freebase. In mcd1, they are M0, M1 ...
  int same = 0, one_conjunct = 0;
  for (auto const* part : {"train", "dev", "test"})
    for (auto const& row : read_json(folder / ("multicfq_" + std::string(part) + ".json.gz"))) {
      auto const at = known.find(tokenised_question(row.at("questionPatternModEntities").get<std::string>()));
      if (at == known.end()) continue;
      auto const query = tokenised_query(row.at("sparql").get<std::string>());
      if (query.find(" . ") != std::string::npos) continue;  // the order of conjuncts depends on the names
      ++one_conjunct;
      same += renamed(query, at->second) == at->second ? 1 : 0;
    }
  CHECK(one_conjunct > 5);
  CHECK(same == one_conjunct);
}

TEST_CASE("the real lists of splits and MCWQ are read") {
  auto const folder = triad::test::published("cfq");
  if (triad::test::is_missing(folder / "splits", "lists of CFQ's splits")) return;
  auto const lists = read_json((folder / "splits" / "mcd1.json.gz").string());
  CHECK(lists.at("trainIdxs").size() == 95743);
  options o;
  o.data = (folder / "mcwq" / "mcd1").string();
  auto const d = data_of(o, true);
  CHECK(d.train.size() == 8940);
  CHECK(d.tests.size() == 2);
}

}  // namespace programs_cfq_dataset_tests
