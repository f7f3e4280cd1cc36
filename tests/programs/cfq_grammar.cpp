// Tests generated questions: equal texts have equal queries, and dependencies form trees. One question is compared with
// a result that was found by hand.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cfq/conjuncts.hpp"
#include "cfq/corpus.hpp"
#include "cfq/generate.hpp"
#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"

namespace programs_cfq_grammar_tests {

using namespace triad::programs::cfq;
using triad::test::contains;

TEST_CASE("the same seed gives the same questions, and none twice") {
  auto const a = generate_questions(3000, 5), b = generate_questions(3000, 5), c = generate_questions(3000, 6);
  std::set<std::string> texts;
  int other = 0;
  for (std::size_t i = 0; i < a.questions.size(); ++i) {
    REQUIRE(to_line(a.questions[i], a.names) == to_line(b.questions[i], b.names));
    other += a.questions[i].question == c.questions[i].question ? 0 : 1;
    texts.insert(a.questions[i].question);
  }
  CHECK(texts.size() == 3000);
  CHECK(other > 2500);
  CHECK_THROWS_WITH(generate_questions(100000, 1, 0, 4), contains("ask for fewer"));
}

TEST_CASE("whatever way a text is derived, it has the same query") {
  std::map<std::string, std::string> queries;
  rule_names names;
  triad::counter_random random(11);
  for (int i = 0; i < 100000; ++i) {
    question_writer writer(names);
    bool const counts = question_grammar(writer, random).question(i % 4);
    auto const q = writer.finish(counts);
    auto const at = queries.try_emplace(q.question, q.query).first;
    if (at->second != q.query) FAIL(q.question << "\n" << q.query << "\n" << at->second);
  }
  CHECK(queries.size() > 20000);
}

TEST_CASE("every question has one root that all its tokens come to, and a query whose variables hang together") {
  for (auto const& q : generate_questions(5000, 2).questions) {
    auto const n = q.heads.size();
    CAPTURE(q.question, q.query);
    REQUIRE(triad::text::words(q.question).size() == n);
    REQUIRE(std::count(q.heads.begin(), q.heads.end(), 0) == 1);
    for (std::size_t i = 0; i < n; ++i) {
      REQUIRE((q.labels[i] == "root") == (q.heads[i] == 0));
      std::size_t at = i, steps = 0;
      while (q.heads[at] != 0 && steps++ <= n) at = static_cast<std::size_t>(q.heads[at]) - 1;
      REQUIRE(steps <= n);
    }
    auto const parts = parts_of(q.query);
    REQUIRE(parts);
    REQUIRE(sorted_conjuncts(q.query) == q.query);
    std::set<std::string> unique(parts->conjuncts.begin(), parts->conjuncts.end());
    REQUIRE(unique.size() == parts->conjuncts.size());
    // A question and its query must have the same entities.
    std::set<std::string> asked, found;
    for (auto const& word : triad::text::words(q.question))
      if (word[0] == 'M' && word.size() == 2) asked.insert(word);
    for (auto const& word : triad::text::words(q.query))
      if (word[0] == 'M' && word.size() == 2) found.insert(word);
    REQUIRE(asked == found);
    REQUIRE((parts->head == "SELECT count ( * ) WHERE") ==
            (q.question.starts_with("Did ") || q.question.starts_with("Was ") || q.question.starts_with("Were ")));
    for (auto const& conjunct : parts->conjuncts) {
      auto const words = triad::text::words(conjunct);
      bool const filter = words[0] == "FILTER";
      REQUIRE(words.size() == (filter ? 6U : 3U));
      REQUIRE(words[filter ? 2 : 0] != words[filter ? 4 : 2]);
    }
  }
}

TEST_CASE("a question by hand") {
  rule_names names;
  question_writer w(names);
  {
    question_writer::applied const question(w, "question:did");
    int const did = w.put("Did");
    w.leaf("np:entity");
    auto const m = w.entity();
    int const subject = w.put(m);
    question_writer::applied const vp(w, "vp:verb");
    w.leaf("verb:edit");
    int const edit = w.put("edit"), article = w.put("a"), noun = w.put("Italian");
    w.inflect_article(article);
    w.attach(did, edit, "aux"), w.attach(subject, edit, "nsubj"), w.attach(article, noun, "det"),
        w.attach(noun, edit, "obj");
    w.require(m, "film.editor.film", w.variable());
    w.require(m, "spouse", "?x0", true);
    w.require(m, "spouse", "?x0", true);
  }
  auto const q = w.finish(true);
  CHECK(q.question == "Did M0 edit an Italian");
  CHECK(q.query == "SELECT count ( * ) WHERE { FILTER ( M0 != ?x0 ) . M0 film.editor.film ?x0 . M0 spouse ?x0 }");
  CHECK(q.rules.parent == std::vector<int>{-1, 0, 0, 2});
  CHECK(q.rules.slot == std::vector<int>{0, 0, 1, 0});
  CHECK(q.heads == std::vector<int>{3, 3, 0, 5, 3});
  CHECK(
      to_line(q, names) ==
      R"({"question":"Did M0 edit an Italian","query":"SELECT count ( * ) WHERE { FILTER ( M0 != ?x0 ) . M0 film.editor.film ?x0 . )"
      R"(M0 spouse ?x0 }","rules":["question:did",["np:entity"],["vp:verb",["verb:edit"]]],"heads":[3,3,0,5,3],)"
      R"("labels":["aux","nsubj","root","det","obj"]})");
  CHECK(to_conllu(q).starts_with("# text = Did M0 edit an Italian\n1\tDid\t_\t_\t_\t_\t3\taux\t_\t_\n"));
}

TEST_CASE("a corpus is read as it was written, and what is none is refused with its line") {
  triad::test::scratch_folder const folder;
  auto const path = folder / "rules.jsonl";
  auto const write = [&](std::string const& text) { std::ofstream(path, std::ios::binary) << text; };
  auto const made = generate_questions(200, 3);
  std::string text;
  for (auto const& q : made.questions) text += to_line(q, made.names) + "\n";
  write(text + to_line(made.questions[7], made.names) + "\n");
  int repeated = 0;
  auto const read = read_corpus(path, repeated);
  CHECK(repeated == 1);
  REQUIRE(read.questions.size() == 200);
  for (std::size_t i = 0; i < 200; ++i)
    REQUIRE(to_line(read.questions[i], read.names) == to_line(made.questions[i], made.names));

  write(R"({"question": " a  b ", "query": "c", "rules": ["S", "x", ["y", "z"]], "more": 1})");
  auto const own = read_corpus(path, repeated);
  CHECK(own.questions[0].question == "a b");
  CHECK(own.questions[0].rules.parent == std::vector<int>{-1, 0, 0, 2});
  CHECK(own.questions[0].heads.empty());

  auto const refused = [&](std::string const& line, char const* reason) {
    CAPTURE(line);
    write("\n" + line + "\n");
    CHECK_THROWS_WITH(read_corpus(path, repeated), contains(path + ":2:") && contains(reason));
  };
  refused("[", ":2:2: this is not JSON");
  refused("[]", "expected an object in braces, found []");
  refused(R"({"question": "a", "query": "c"})",
          R"(expected "rules", a rule's name, or a list that begins with one, found none)");
  refused(R"({"question": 3, "query": "c", "rules": "S"})", R"(expected "question" to be a text, found 3)");
  refused(R"({"question": "a", "query": "c", "rules": "S", "labels": [3]})",
          R"(expected "labels" to be a list of texts, found [3])");
  refused(R"({"question": "a", "query": "c", "rules": []})", "expected a rule's name");
  refused(R"({"question": "a", "query": "c", "rules": ["S", 3]})", "expected a rule's name");
  refused(R"({"question": " ", "query": "c", "rules": "S"})", "without words");
  refused(R"({"question": "a b", "query": "c", "rules": "S", "heads": [0], "labels": ["root"]})", "for the 2 tokens");
  refused(R"({"question": "a b", "query": "c", "rules": "S", "heads": [0, 3], "labels": ["root", "x"]})",
          "head 3 is no token of 2");
  refused(R"({"question": "a b", "query": "c", "rules": "S", "heads": [0, 1], "labels": ["root", ""]})",
          "a label is one word");
  for (char const* head : {"4294967296", "-4294967296", "0.5", "1e300", "true"})
    refused(R"({"question": "a b", "query": "c", "rules": "S", "heads": [0, )" + std::string(head) +
                R"(], "labels": ["root", "x"]})",
            "heads: expected an integer from -2147483648 to 2147483647, found ");
  refused(R"({"question": "a", "query": "c", "rules": "S", "heads": [1e999], "labels": ["root"]})",
          "there is a value that cannot be read: number overflow");
  auto const with_rules = [](int levels, std::string const& begin, std::string const& end) {
    std::string all;
    for (int i = 0; i < levels; ++i) all += begin;
    return R"({"question": "a", "query": "c", "rules": )" + all + "\"S\"" +
           std::string(static_cast<std::size_t>(levels), ']') + end;
  };
  write(with_rules(999, "[\"S\",", "}"));
  CHECK(read_corpus(path, repeated).questions[0].rules.rule.size() == 1000);
  refused(with_rules(1000, "[\"S\",", "}"), "deeper than 1000");
  refused(with_rules(2000, "[\"S\",", "}"), "expected JSON of at most 1002 levels, found more");
  refused(with_rules(200'000, "[", "}"), "expected JSON of at most 1002 levels, found more");
  write("\n");
  CHECK_THROWS_WITH(read_corpus(path, repeated), contains("there is no question"));
}

}  // namespace programs_cfq_grammar_tests
