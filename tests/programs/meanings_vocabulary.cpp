// Tests the numbers of a graph: words, patterns, queried tokens, spans and nodes without edges, and the way back.  Also
// converts every published training row of CFQ's MCD1 if it is next to the checkout.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "meanings/json_meaning.hpp"
#include "meanings/numbered.hpp"
#include "meanings/query.hpp"
#include "meanings/vocabulary.hpp"
#include "shared/data/text_pairs.hpp"
#include "tests/catch.hpp"
#include "tests/published.hpp"

namespace programs_meanings_vocabulary_tests {

using namespace triad::programs::meanings;
using triad::index_t;
using triad::programs::read_json_line;
using triad::test::contains;
using texts = std::vector<std::string>;
using numbers = std::vector<index_t>;

meaning read(std::string const& line) { return meaning_of(read_json_line(line)); }
std::vector<given_row> rows(std::vector<std::string> const& lines) {
  std::vector<given_row> all;
  for (auto const& line : lines) all.push_back({read(line), {}, {}});
  return all;
}
/// Returns why a graph has no numbers; "" if it has them.
std::string reason(meaning const& m, vocabulary const& v, int slots = 4) {
  std::string left_out;
  bool const has_numbers = numbered(m, v, slots, left_out).has_value();
  CHECK(has_numbers == left_out.empty());
  return left_out;
}
/// Returns whether the way to numbers and back gives the same graph.
bool comes_back(meaning const& m, vocabulary const& v, int slots = 4) {
  std::string left_out;
  auto const e = numbered(m, v, slots, left_out);
  CAPTURE(left_out);
  REQUIRE(e);
  auto const again = graph_of(m.tokens, *e, v);
  return again.tokens == m.tokens && same_graph(again, m) && again == canonical(again);
}

auto const verbs = std::vector<std::string>{
    R"({"tokens": ["Ada", "saw", "Bo"], "nodes": [0, 1, 2], "edges": [[1, "agent", 0], [1, "theme", 2]],)"
    R"( "label": "told"})",
    R"({"tokens": ["Bo", "saw", "the", "cup"], "nodes": [0, 1, 3], "edges": [[1, "agent", 0], [1, "theme", 2]],)"
    R"( "node_labels": [[], [], ["thing"]], "label": "told"})",
    R"({"tokens": ["did", "Bo", "see", "Ada"], "nodes": [1, 2, 3, "slot 0"], "edges": [[1, "agent", 0],)"
    R"( [1, "theme", 3], [0, "agent", 3]], "label": "queried"})"};

TEST_CASE("if each word always is a node or never is one, only nodes are queried") {
  auto const train = rows(verbs);
  auto const v = vocabulary::of(train);
  CHECK(v.by_word());
  CHECK(v.relations() == texts{"agent", "theme"});
  CHECK(v.labels() == texts{"thing"});
  CHECK(v.graph_labels() == texts{"queried", "told"});
  CHECK(v.label_count() == 1);
  auto const e = question_of({"did", "Bo", "see", "the", "dodo"}, v);
  CHECK(e.queried == numbers{1, 2, 4});  // a new word may be a node
  CHECK(e.tokens[4] == dictionary::unknown);
  CHECK(e.graph_label == -1);
  for (auto const& row : train) CHECK(comes_back(row.graph, v));

  std::string left_out;
  auto const third = numbered(train[2].graph, v, 1, left_out);
  REQUIRE(third);
  CHECK(third->queried == numbers{1, 2, 3});
  CHECK(third->edges == std::vector<triad::sentence_edge>{{0, 0, 3}, {1, 0, 0}, {1, 1, 3}});
  CHECK(third->labels.empty());
  CHECK(third->graph_label == 0);
  CHECK(third->spans().edges.data() == third->edges.data());
  CHECK(third->spans().label == 0);
  CHECK(graph_of({"did", "Bo", "see", "Ada"}, *third, v).find(node::token(3)) == 2);  // Ada has neither edge nor label
}

TEST_CASE("if a word is a node in one sentence only, every token is queried") {
  auto lines = verbs;
  lines.push_back(R"({"tokens": ["the", "cup"], "nodes": [0], "edges": [], "label": "told"})");
  auto const train = rows(lines);
  auto const v = vocabulary::of(train);
  CHECK_FALSE(v.by_word());
  CHECK(v.label_count() == 2);
  CHECK(v.label_of_isolated() == 0);
  CHECK(v.label_name(0) == "(node)");
  CHECK(v.label_name(1) == "thing");
  CHECK(question_of({"the", "cup"}, v).queried == numbers{0, 1});
  for (auto const& row : train) CHECK(comes_back(row.graph, v));
}

TEST_CASE("a span is queried at its last token, and its length is a label") {
  auto const train = rows({R"({"tokens": ["the", "red", "cup"], "nodes": [[0, 2], "slot 1"], "edges": [[0, "at", 1]]})",
                           R"({"tokens": ["the", "cup"], "nodes": [[0, 1]], "edges": []})",
                           R"({"tokens": ["cup"], "nodes": [0], "edges": [[0, "at", 0]]})"});
  auto const v = vocabulary::of(train);
  CHECK(v.by_word());
  CHECK(v.graph_labels().empty());
  CHECK(v.label_of_span(2) == 0);
  CHECK(v.label_of_span(3) == 1);
  CHECK(v.label_of_span(4) == -1);
  CHECK(v.label_name(1) == "(3 tokens)");
  std::string left_out;
  auto const first = numbered(train[0].graph, v, 2, left_out);
  REQUIRE(first);
  CHECK(first->queried == numbers{2});
  CHECK(first->edges == std::vector<triad::sentence_edge>{{0, 0, 2}});
  CHECK(first->labels == std::vector<triad::labelled_node>{{0, 1}});
  CHECK(first->graph_label == -1);
  for (auto const& row : train) CHECK(comes_back(row.graph, v));

  auto wrong = *first;  // a predicted span that is longer than the sentence, and a span of a slot
  wrong.tokens.erase(wrong.tokens.begin(), wrong.tokens.begin() + 1);
  wrong.queried = {1};
  wrong.edges.clear();
  wrong.labels = {{0, 1}, {1, 0}};
  CHECK(graph_of({"red", "cup"}, wrong, v).nodes == std::vector{node::token(1)});
}

TEST_CASE("a slot without edges and labels comes back if the training set has such slots") {
  auto const lines = std::vector<std::string>{R"({"tokens": ["go"], "nodes": [0, "slot 0"], "edges": []})"};
  auto const v = vocabulary::of(rows(lines));
  CHECK(v.by_word());
  CHECK(v.label_of_isolated() == 0);
  CHECK(comes_back(read(lines[0]), v));
}

/// "thing" and "see" are decided by words; "definite" depends on the sentence, and "odd" is also on a slot.
auto const labelled = std::vector<std::string>{
    R"({"tokens": ["the", "cup", "fell"], "nodes": [1, 2], "edges": [[1, "theme", 0]],)"
    R"( "node_labels": [["definite", "thing"], ["fall"]]})",
    R"({"tokens": ["a", "cup", "saw", "Ada"], "nodes": [1, 2, 3, "slot 0"], "edges": [[1, "agent", 0],)"
    R"( [1, "theme", 2]], "node_labels": [["thing"], ["see", "odd"], [], ["odd"]]})"};

TEST_CASE("labels that words decide are looked up, and are not learned") {
  auto const train = rows(labelled);
  auto const v = vocabulary::of(train, 1, {}, true);
  CHECK(v.looked_up() == std::set<std::string>{"fall", "see", "thing"});
  CHECK(v.labels() == texts{"definite", "odd"});
  CHECK(v.label_count() == 2);
  CHECK(v.label("thing") == -1);
  CHECK(v.labels_of_word(v.word("cup")) == texts{"thing"});
  CHECK(v.labels_of_word(v.word("Ada")).empty());
  CHECK(v.labels_of_word(dictionary::unknown).empty());
  for (auto const& row : train) CHECK(comes_back(row.graph, v));

  std::string left_out;
  auto const first = numbered(train[0].graph, v, 1, left_out);
  REQUIRE(first);
  CHECK(first->labels == std::vector<triad::labelled_node>{{0, 0}});  // definite
  auto const told = graph_of({"Ada", "saw", "a", "cup"}, question_of({"Ada", "saw", "a", "cup"}, v), v);
  CHECK(told.node_labels == std::vector<texts>{{}, {"see"}, {"thing"}});

  auto const again = vocabulary::from(to_json(v), "a file");
  CHECK(again.looked_up() == v.looked_up());
  CHECK(again.labels_of_word(v.word("fell")) == texts{"fall"});
  CHECK(to_json(again) == to_json(v));
  auto twice = to_json(v);
  twice["labels"].push_back("thing");
  CHECK_THROWS_WITH(vocabulary::from(twice, "a file"), contains("the model also learns the label thing"));
  CHECK(vocabulary::of(train).looked_up().empty());
  CHECK(vocabulary::of(train).labels().size() == 5);
}

TEST_CASE("a graph in which a word has not the labels that it decides cannot be learned") {
  auto const v = vocabulary::of(rows(labelled), 1, {}, true);
  auto const* const wrong = "a word has other labels than in the training set";
  auto const line = [](std::string const& labels) {
    return read(R"({"tokens": ["Ada", "fell"], "nodes": [0, 1], "edges": [[1, "theme", 0]], "node_labels": )" + labels +
                "}");
  };
  CHECK(reason(line(R"([[], ["fall"]])"), v).empty());
  CHECK(reason(line("[[], []]"), v) == wrong);
  CHECK(reason(line(R"([["fall"], ["fall"]])"), v) == wrong);
  CHECK(reason(read(R"({"tokens": ["fell"], "nodes": [0, "slot 0"], "edges": [[0, "theme", 1]],)"
                    R"( "node_labels": [["fall"], ["thing"]]})"),
               v) == wrong);
}

TEST_CASE("a label that words decide makes no token a node") {
  // "cup" is a node in some sentences only.  In the fourth it is a node with neither an edge nor a learned label.
  auto lines = labelled;
  lines.push_back(R"({"tokens": ["the", "cup"], "nodes": [], "edges": []})");
  lines.push_back(R"({"tokens": ["cup"], "nodes": [0], "edges": [], "node_labels": [["thing"]]})");
  auto const train = rows(lines);
  auto const v = vocabulary::of(train, 1, {}, true);
  CHECK_FALSE(v.by_word());
  CHECK(v.looked_up().contains("thing"));
  CHECK(v.label_of_isolated() == 0);
  for (auto const& row : train) CHECK(comes_back(row.graph, v));
}

TEST_CASE("unknown words decide a label only if every unknown word does") {
  auto const train = rows(labelled);
  auto const v = vocabulary::of(train, 2, {}, true);  // "cup" alone is known
  CHECK(v.looked_up() == std::set<std::string>{"thing"});
  CHECK(v.labels_of_word(dictionary::unknown).empty());

  auto const rare =
      rows({R"({"tokens": ["jar", "fell"], "nodes": [0], "edges": [[0, "x", 0]], "node_labels": [["thing"]]})",
            R"({"tokens": ["pot", "fell"], "nodes": [0], "edges": [[0, "x", 0]], "node_labels": [["thing"]]})"});
  auto const w = vocabulary::of(rare, 2, {}, true);
  CHECK(w.labels_of_word(dictionary::unknown) == texts{"thing"});
  CHECK(w.labels_of_word(w.word("vase")) == texts{"thing"});
}

TEST_CASE("a damaged list of labels that words decide is refused") {
  auto const json = to_json(vocabulary::of(rows(labelled), 1, {}, true));
  auto const refuses = [&](auto const& change, char const* message) {
    auto damaged = json;
    change(damaged["word_labels"]);
    CHECK_THROWS_WITH(vocabulary::from(damaged, "a file"), contains(message));
  };
  refuses([](auto& l) { l[0]["word"] = -5; }, "found the word -5, expected");
  refuses([](auto& l) { l[1]["word"] = l[0]["word"]; }, "ascending");
  refuses([](auto& l) { l[0]["word"] = 1000; }, "found the word 1000, expected");
  refuses([](auto& l) { l[0]["word"] = 5.7; }, "word_labels, word");
  refuses([](auto& l) { l[0]["word"] = 1e300; }, "word_labels, word");
  refuses([](auto& l) { l[0]["labels"] = {"b", "a"}; }, "are not sorted");
  refuses([](auto& l) { l[0]["labels"] = {"a", "a"}; }, "are not sorted");
  refuses([](auto& l) { l[0]["labels"] = {""}; }, "is empty");
  refuses([](auto& l) { l[0]["labels"] = nlohmann::json::array(); }, "expected one or more");
  // A run with the option whose words decide nothing has an empty list, so that a missing one is another vocabulary.
  CHECK(to_json(vocabulary::of(rows({verbs[0]}), 1, {}, true)).at("word_labels").empty());
  CHECK_FALSE(to_json(vocabulary::of(rows(verbs))).contains("word_labels"));
}

TEST_CASE("tokens of the form of a pattern are one word") {
  CHECK(matches("M#", "M0"));
  CHECK(matches("M#", "M12"));
  CHECK(matches("<#>", "<7>"));
  CHECK(matches("it", "it"));
  for (auto const* token : {"M", "M1a", "aM1", "M-1", "m1", ""}) CHECK_FALSE(matches("M#", token));
  auto const train = rows({R"({"tokens": ["M0", "saw", "M1"], "nodes": [0, 2], "edges": [[0, "saw", 1]]})"});
  auto const v = vocabulary::of(train, 1, {"M#"});
  CHECK(v.words().size() == dictionary::specials + 2);
  CHECK(v.word("M0") == v.word("M77"));
  CHECK(v.word("M") == dictionary::unknown);
  CHECK(question_of({"M77", "saw", "M3"}, v).queried == numbers{0, 2});
  CHECK(comes_back(train[0].graph, v));
}

TEST_CASE("a rare word is unknown, and is queried if unknown words of the training set are nodes") {
  auto const train = rows({R"({"tokens": ["a", "cup"], "nodes": [1], "edges": []})",
                           R"({"tokens": ["a", "pot"], "nodes": [1], "edges": [[0, "is", 0]]})"});
  auto const v = vocabulary::of(train, 2);
  CHECK(v.words().size() == dictionary::specials + 1);
  CHECK(v.by_word());
  CHECK(v.label_of_isolated() == 0);
  for (auto const& row : train) CHECK(comes_back(row.graph, v));
  CHECK(question_of({"a", "dodo"}, v).queried == numbers{1});
  auto const never =
      vocabulary::of(rows({R"({"tokens": ["a", "a", "o", "o", "x", "y"], "nodes": [2, 3], "edges": []})"}), 2);
  CHECK(question_of({"a", "o", "z"}, never).queried == numbers{1});
}

TEST_CASE("a new word is a node if all words of the training set are nodes") {
  auto const all = vocabulary::of(rows({R"({"tokens": ["the", "cat"], "edges": [[1, "det", 0]]})"}), 1, {});
  auto const some = vocabulary::of(
      rows({R"({"tokens": ["the", "cat", "saw", "Bo"], "nodes": [1, 2, 3], "edges": [[1, "agent", 0]]})"}), 1, {});
  CHECK(all.always_node(all.word("new")));
  CHECK(some.queries(some.word("new")));
  CHECK(!some.always_node(some.word("new")));
  // So a graph whose new word has no edge comes back with this word.
  CHECK(comes_back(read(R"({"tokens": ["new", "cat"], "edges": []})"), all));
}

TEST_CASE("a row that is left out is not counted") {
  auto train = rows(verbs);
  train.push_back({read(R"({"tokens": ["zebra"], "edges": []})"), "a reason", ""});
  auto const v = vocabulary::of(train);
  CHECK(v.word("zebra") == dictionary::unknown);
  CHECK(v.by_word());
}

TEST_CASE("a graph that a model cannot answer has no numbers, for a reason") {
  auto const v = vocabulary::of(rows(verbs));
  auto const of = [&](char const* line, int slots = 4) { return reason(read(line), v, slots); };
  CHECK(of(verbs[2].c_str()).empty());
  CHECK(of(verbs[2].c_str(), 0) == "it has more than 0 slots");
  CHECK(of(R"({"tokens": ["the"], "edges": [], "label": "told"})") ==
        "a word of it is never a node in the training set");
  CHECK(of(R"({"tokens": ["Bo"], "nodes": [], "edges": [], "label": "told"})") ==
        "a word of it is not a node, but always is one in the training set");
  CHECK(of(R"({"tokens": ["dodo"], "edges": [], "label": "told"})") ==
        "a node has neither an edge nor a label, unlike all in the training set");
  CHECK(of(R"({"tokens": ["dodo"], "edges": [], "node_labels": [["thing"]], "label": "told"})").empty());
  CHECK(of(R"({"tokens": ["Bo"], "edges": [], "node_labels": [["x"]], "label": "told"})") ==
        "a label of a node is not in the training set");
  CHECK(of(R"({"tokens": ["Bo"], "edges": [[0, "x", 0]], "label": "told"})") ==
        "the label of an edge is not in the training set");
  CHECK(of(R"({"tokens": ["Bo"], "edges": [], "label": "x"})") == "the label of the graph is not in the training set");
  CHECK(of(R"({"tokens": ["Bo"], "edges": []})") == "the label of the graph is not in the training set");
  CHECK(of(R"({"tokens": ["the", "Bo"], "nodes": [[0, 1]], "edges": [], "label": "told"})") ==
        "a span has a length that no span of the training set has");
  CHECK(of(R"({"tokens": ["the", "Bo"], "nodes": [[0, 1], 1], "edges": [], "label": "told"})").starts_with("a span"));
  auto const spans = vocabulary::of(rows({R"({"tokens": ["a", "b"], "nodes": [[0, 1], 0], "edges": []})"}));
  CHECK(reason(read(R"({"tokens": ["a", "b"], "nodes": [[0, 1], 1, 0], "edges": []})"), spans) ==
        "two nodes end with the same token");
}

TEST_CASE("a vocabulary is read from JSON as it was written") {
  auto lines = verbs;
  lines.push_back(R"({"tokens": ["the", "old", "cup"], "nodes": [[1, 2], "slot 3"], "edges": [], "label": "told"})");
  auto const train = rows(lines);
  auto const v = vocabulary::of(train, 1, {"M#"}), again = vocabulary::from(to_json(v), "run");
  CHECK(to_json(again) == to_json(v));
  CHECK(again.by_word());
  for (auto const& row : train) {
    std::string a, b;
    CHECK(numbered(row.graph, v, 4, a) == numbered(row.graph, again, 4, b));
    CHECK(comes_back(row.graph, again));
  }
  lines.push_back(R"({"tokens": ["the"], "edges": [], "label": "told"})");
  auto const every = vocabulary::of(rows(lines));
  CHECK_FALSE(vocabulary::from(to_json(every), "run").by_word());
  for (auto const* part : {"tokens", "relations", "labels", "graph_labels", "patterns", "spans", "isolated"}) {
    auto broken = to_json(v);
    broken.erase(part);
    CHECK_THROWS_WITH(vocabulary::from(broken, "run"), contains("run: its vocabulary is not one of this program's"));
  }
  for (auto const& spans : {std::vector<int>{0}, {-1, 2}, {1}, {3, 2}, {2, 2}}) {
    auto broken = to_json(v);
    broken["spans"] = spans;
    CHECK_THROWS_WITH(vocabulary::from(broken, "run"), contains("run: ") && contains("spans: found "));
  }
}

/// Returns a random graph: any tokens may be nodes, spans end with different tokens, edges may have several labels.
meaning random_graph(std::mt19937& random) {
  auto const below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  meaning m;
  int const n = 1 + below(7);
  for (int i = 0; i < n; ++i) m.tokens.push_back("w" + std::to_string(below(9)));
  for (int i = 0; i < n; ++i)
    if (below(2) == 0) m.add(node::span(std::max(0, i - std::max(0, below(5) - 2)), i));
  for (int k = 0; k < 3; ++k)
    if (below(4) == 0) m.add(node::slot(k));
  int const nodes = static_cast<int>(m.nodes.size());
  std::set<edge> edges;
  for (int i = 0; nodes > 0 && i < below(8); ++i)
    edges.insert({below(nodes), "r" + std::to_string(below(3)), below(nodes)});
  m.edges.assign(edges.begin(), edges.end());
  for (auto& labels : m.node_labels)
    for (int u = 0; u < 3; ++u)
      if (below(6) == 0) labels.push_back("u" + std::to_string(u));
  m.label = below(3) == 0 ? "" : "g" + std::to_string(below(2));
  return checked(m);
}

TEST_CASE("every graph of a training set comes back from its numbers") {
  std::mt19937 random(5);
  for (int round = 0; round < 40; ++round) {
    std::vector<given_row> train;
    int const size = 1 + static_cast<int>(random() % 6U);
    for (int i = 0; i < size; ++i) train.push_back({random_graph(random), {}, {}});
    auto const v = vocabulary::of(train, 1 + round % 2);
    for (auto const& row : train) {
      CAPTURE(json_line(row.graph));
      CHECK(comes_back(row.graph, v, 3));
    }
  }
}

TEST_CASE("every published training row of MCD1 with up to four variables comes back from its numbers") {
  auto const path = triad::test::published("cfq/mcd1/train.tsv.gz");
  if (triad::test::is_missing(path, "questions of CFQ")) return;
  std::vector<given_row> train;
  for (auto const& pair : triad::programs::read_pairs(path.string()))
    train.push_back(graph_of_query(pair.source, pair.target));
  auto const v = vocabulary::of(train, 1, {"M#"});
  CHECK(v.by_word());
  CHECK(v.words().size() - dictionary::specials == 86);
  CHECK(v.relations().size() == 38);
  CHECK(v.label_count() == 28);
  CHECK(v.graph_labels().size() == 2);
  long long right = 0, too_many = 0, repeated = 0;
  for (auto const& row : train) {
    if (!row.left_out.empty()) {
      ++repeated;
      continue;
    }
    std::string left_out;
    auto const e = numbered(row.graph, v, 4, left_out);
    if (!e) {
      CHECK(left_out == "it has more than 4 slots");
      ++too_many;
      continue;
    }
    right += query_of(graph_of(row.graph.tokens, *e, v)) == row.written ? 1 : 0;
  }
  CHECK(repeated == 35);
  CHECK(too_many == 177);
  CHECK(right == 95743 - 35 - 177);
}

}  // namespace programs_meanings_vocabulary_tests
