// Tests cfq --task parse: which task a command line names, how words are numbered, batches, the files of a folder,
// scores, and the drawing of a tree.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cfq/task_of.hpp"
#include "dependencies/program.hpp"
#include "shared/report/svg_arcs.hpp"
#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"

namespace programs_cfq_parse_tests {

namespace cfq = triad::programs::cfq;

using namespace triad::programs::dependencies;
using triad::test::contains;
using triad::test::WithinAbs;
using triad::text::conllu_of;

void save(std::string const& path, std::string const& content) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << content;
}

conllu_sentence sentence(std::vector<triad::text::conllu_word> const& words) {
  std::vector<std::string> forms;
  for (auto const& w : words) forms.push_back(w.form);
  auto s = conllu_of(forms);
  s.words = words;
  return s;
}
conllu_sentence question() {
  return sentence({{"Did", 3, "aux"}, {"M0", 3, "nsubj"}, {"marry", 0, "root"}, {"M0", 3, "obj"}});
}

TEST_CASE("a command line is about the task that it names, or its config file, its run, or its preset") {
  triad::test::scratch_folder const folder;
  save(folder / "run/config.toml", "task = \"parse\"\nwords = 500\n");
  save(folder / "other/config.toml", "task = \"semantic\"\n");
  save(folder / "broken/config.toml", "[task\nno\n");
  auto const run = folder / "run", config = run + "/config.toml";
  CHECK(cfq::task_of({}) == "semantic");
  CHECK(cfq::task_of({"train", "--help"}) == "semantic");
  CHECK(cfq::task_of({"train", "--task", "parse", "--help"}) == "parse");
  CHECK(cfq::task_of({"train", "--task=parse"}) == "parse");
  CHECK(cfq::task_of({"train", "--preset", "paper-dependency"}) == "parse");
  CHECK(cfq::task_of({"train", "--preset=small"}) == "semantic");
  CHECK(cfq::task_of({"train", "--config", config}) == "parse");
  CHECK(cfq::task_of({"train", "--config", config, "--task", "semantic"}) == "semantic");
  for (auto const* verb : {"evaluate", "predict", "explain"}) {
    CHECK(cfq::task_of({verb, run}) == "parse");
    CHECK(cfq::task_of({verb, "--backend", "cpu", run + "/model.safetensors"}) == "parse");
    CHECK(cfq::task_of({verb, folder / "other", "--out", run}) == "semantic");
    CHECK(cfq::task_of({verb, folder / "broken"}) == "semantic");
  }
  CHECK(cfq::task_of({"train", run}) == "semantic");
}

TEST_CASE("words and relations of the training set have numbers, the rest is unknown") {
  auto const v = vocabulary::of({question()}, 1);
  CHECK(v.relations() == std::vector<std::string>{"aux", "nsubj", "obj", "root"});
  auto const coded = numbered(sentence({{"M0", 2, "obj"}, {"go", 0, "dep"}, {"Did", -1, ""}}), v);
  REQUIRE(coded.size() == 3);
  CHECK(coded[0].token == dictionary::specials);  // the most frequent word
  CHECK(coded[0].parent == 1);
  CHECK(coded[0].relation == 2);
  CHECK(coded[1].token == dictionary::unknown);
  CHECK(coded[1].parent == 1);  // a root is its own parent
  CHECK(coded[1].relation == -1);
  CHECK(coded[2].parent == -1);
  CHECK(unknown_in({sentence({{"go", 0, "dep"}, {"M0", 1, "dep"}})}, v) ==
        "; 1 unknown word, such as 'go', read as <unk>; 2 unknown relations, such as 'dep'");
  CHECK(unknown_in({question()}, v).empty());
  CHECK_THROWS_WITH(expect_known(conllu_of({"Did", "bee"}), v),
                    contains("\"bee\" is not one of the 3 words that the model knows"));
  for (auto const* mark : {"<s>", "<pad>", "</s>", "<unk>"}) {
    CAPTURE(mark);
    CHECK_THROWS_WITH(expect_known(conllu_of({"Did", mark}), v),
                      contains(std::string(mark) + "\" is not one of the 3"));
    CHECK(numbered(sentence({{mark, 0, "root"}}), v)[0].token == dictionary::unknown);
    CHECK_THAT(unknown_in({sentence({{mark, 0, "root"}})}, v), contains("; 1 unknown word"));
  }
  CHECK_THROWS_WITH(expect_known(conllu_of({std::string(1000, 'x')}), v),
                    contains("\"" + std::string(60, 'x') + "...\""));
  CHECK(vocabulary::of({question()}, 2).words().size() == dictionary::specials + 1);

  auto const again = vocabulary::from(to_json(v), "file");
  CHECK(to_json(again) == to_json(v));
  CHECK_THROWS_WITH(vocabulary::from(nlohmann::json{{"tokens", {"a"}}}, "file"),
                    contains("file: its vocabulary is not one of this task's"));
  auto broken = to_json(v);
  broken["counts"][0] = 0.5;
  CHECK_THROWS_WITH(
      vocabulary::from(broken, "file"),
      contains("its vocabulary is not one of this task's: counts: expected an integer") && contains("found 0.5"));
}

TEST_CASE("a run trains on every sentence once an epoch, in batches of no more words than were asked for") {
  data_set data;
  for (int i = 0; i < 40; ++i) {
    std::vector<triad::text::conllu_word> words{{"w" + std::to_string(i), 0, "root"}};
    for (int k = 0; k < i % 7; ++k) words.push_back({"x", 1, "dep"});
    data.train.push_back(sentence(words));
  }
  options o;
  o.tokens = 20;
  o.dev_size = 10;
  parser_training work(o, data);
  CHECK(work.measured_on_train());
  CHECK(work.dev().size() == 10);
  CHECK(work.longest() == 7);
  std::vector<int> seen(60, 0);
  for (std::int64_t u = 0; u < work.updates_of_a_pass(); ++u) {
    std::size_t words = 0;
    for (auto const i : work.batch(u)) {
      auto const& s = work.examples()[i];
      words += s.size(), ++seen[static_cast<std::size_t>(s[0].token)];
    }
    CHECK(words <= 20);
    CHECK(words > 0);
  }
  for (auto n = dictionary::specials; n < work.words().words().size(); ++n)
    if (work.words().words().token(n) != "x") CHECK(seen[static_cast<std::size_t>(n)] == 1);
  o.tokens = 6;
  CHECK_THROWS_WITH(parser_training(o, data), contains("7 words: give --tokens 7"));
}

TEST_CASE("a folder's parts are read, and what is missing is said") {
  triad::test::scratch_folder const folder;
  options o;
  CHECK_THROWS_WITH(read_data(o, true),
                    contains("give a folder with train, dev and test .conllu or .jsonl with --data"));
  o.data = folder / "none";
  CHECK_THROWS_WITH(read_data(o, true), contains("is expected"));
  auto text = question();
  save(folder / "d/dev.conllu", to_conllu(text));
  o.data = folder / "d";
  CHECK_THROWS_WITH(read_data(o, true), contains("there is no train.conllu or .jsonl, gzipped or not"));
  auto const d = read_data(o, false);
  REQUIRE(d.tests.size() == 1);
  CHECK(d.tests[0].name == "dev");
  CHECK(d.tests[0].all.at(0).words == text.words);
}

TEST_CASE("a tree becomes heads and relations, and runs become a table with means") {
  auto const v = vocabulary::of({question()}, 1);
  found_tree const tree{{2, 2, 2, 1}, {0, 1, 3, 2}, {1, 1, 1, 1}, {}};
  auto const s = with_tree(conllu_of({"Did", "M0", "marry", "M0"}), tree, v);
  CHECK(s.words == std::vector<triad::text::conllu_word>{
                       {"Did", 3, "aux"}, {"M0", 3, "nsubj"}, {"marry", 0, "root"}, {"M0", 2, "obj"}});
  triad::text::attachment_scores right, wrong;
  right.add(question().words, question().words);
  wrong.add(question().words, s.words);
  auto const one = scores_of("test", right), two = scores_of("test", wrong);
  CHECK(told(two, 4) == "test  exact match 0.00  UAS 75.00  LAS 75.00  (1 sentences, 4 words)");
  auto const percent = [](double part) { return fmt::format("{:.2f}", 100 * part); };
  triad::programs::scored_run first, second;
  first.seed = 1, first.parts = {one}, second.seed = 2, second.parts = {two};
  auto const table = triad::programs::table_of({first, second}, percent);
  CHECK_THAT(table, contains("2     test         0.00   75.00   75.00"));
  CHECK_THAT(table, contains("mean  test        50.00   87.50   87.50"));
  CHECK_THAT(triad::programs::scores_csv({second}, percent), contains("2,test,LAS,75.00\n"));
  second.diverged = true, second.parts.clear();  // it has no score and does not count in means
  CHECK_THAT(triad::programs::table_of({first, second}, percent), contains("mean  test       100.00  100.00  100.00"));
}

TEST_CASE("sentences are read from JSON lines as from CoNLL-U, and what is no tree is reported with its line") {
  triad::test::scratch_folder const folder;
  auto const good = "{\"tokens\": [\"Did\", \"M0\"], \"heads\": [2, 0], \"labels\": [\"aux\", \"root\"]}\n";
  options o;
  o.data = folder / "d";
  save(folder / "d/train.jsonl", good);
  save(folder / "d/test_long.jsonl", good);
  auto const d = read_data(o, true);
  CHECK(d.train.at(0).words == std::vector<triad::text::conllu_word>{{"Did", 2, "aux"}, {"M0", 0, "root"}});
  REQUIRE(d.tests.size() == 1);
  CHECK(d.tests[0].name == "long");
  for (auto const& [line, said] :
       {std::pair("{\"tokens\": [\"a\"", "train.jsonl:2:"),
        {"{\"tokens\": [\"a\"], \"heads\": [1], \"labels\": [\"x\"]}", "train.jsonl:2: the head of token 1 is 1"},
        {"{\"tokens\": [\"a\", \"b\", \"c\"], \"heads\": [0, 3, 2], \"labels\": [\"x\", \"x\", \"x\"]}", "no tree"},
        {"{\"tokens\": [\"a\"], \"heads\": [0]}", "expected \"labels\", a list of texts, found none"},
        {"[1]", "train.jsonl:2: expected an object in braces"}}) {
    save(folder / "d/train.jsonl", good + std::string(line) + "\n");
    CHECK_THROWS_WITH(read_data(o, true), contains(said));
  }
}

TEST_CASE("a picture has every word, an arc for each parent, and a line for a root") {
  auto const svg = triad::programs::to_svg({{"a<b", "1", 1, "obj 0.50"}, {"go", "2", 1, "root 1.00"}, {"x", "", -1}});
  CHECK_THAT(svg, contains(">a&lt;b</text>"));
  CHECK_THAT(svg, contains(">obj 0.50</text>"));
  CHECK_THAT(svg, contains(" C "));
  CHECK_THAT(svg, contains(" V 14\"/>"));
  std::size_t paths = 0;
  for (auto at = svg.find("<path"); at != std::string::npos; at = svg.find("<path", at + 1)) ++paths;
  CHECK(paths == 2);
}

}  // namespace programs_cfq_parse_tests
