// What programs share: the list of options, batches by their number, names and their numbers, and files of a data set.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "graphs/read.hpp"
#include "shared/cli/config.hpp"
#include "shared/cli/options.hpp"
#include "shared/cli/record.hpp"
#include "shared/data/data_folder.hpp"
#include "shared/data/json_lines.hpp"
#include "shared/data/new_data.hpp"
#include "shared/data/numbering.hpp"
#include "shared/run/epoch_batches.hpp"
#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"
#include "triad/core/errors.hpp"

namespace programs_apps_tests {

using namespace triad::programs;
using triad::test::contains;

struct small_options : stack_options {
  bool one_way = false, late = false;
  int near = 16;
  std::string kind = "none";

  small_options() { model = "plain", layers = 2; }
  void each(option_list& f) override {
    f("model", &model, "").one_of({"plain", "other"}).shapes();
    stack_options::each(f);
    f("one-way", &one_way, "").shapes_as("direction", "both", "one");
    f("late", &late, "").newer().shapes();
    f("near", &near, "").newer("16").shapes();
    f("kind", &kind, "").newer("none").shapes();
    f("sentence", &kind, "").only({"predict"});
  }
};

TEST_CASE("one list says what is kept in config.toml, what a resumed run must have, and what shapes a model") {
  small_options o;
  auto const toml = to_toml(o), settings = training_settings(o);
  CHECK_THAT(toml, contains("model = \"plain\"\n") && contains("threads = 0\n") && contains("late = false\n"));
  CHECK_THAT(toml, !contains("preset") && !contains("kind") && !contains("sentence") && !contains("\nout"));
  CHECK_THAT(settings, contains("layers = 2\n") && !contains("threads") && !contains("late") && !contains("near"));
  CHECK(configuration_of(o) == nlohmann::json{{"model", "plain"},
                                              {"direction", "both"},
                                              {"layers", 2},
                                              {"width", 64},
                                              {"heads", 4},
                                              {"hidden_factor", 4},
                                              {"tied", false}});
  o.late = o.one_way = true, o.kind = "new", o.near = 0;
  CHECK_THAT(training_settings(o), contains("late = true\n") && contains("kind = \"new\"\n"));
  CHECK(configuration_of(o)["direction"] == "one");
  CHECK(configuration_of(o)["kind"] == "new");
  CHECK(configuration_of(o)["near"] == 0);
}

TEST_CASE(
    "an epoch has every example once, in another order where that is asked for, and a batch follows from its number") {
  epoch_batches fixed(7, 3, false, 5), shuffled(7, 3, true, 5);
  CHECK(fixed.epoch_updates() == 3);
  auto const epoch = [](epoch_batches& b, std::int64_t e) {
    std::vector<std::size_t> all;
    for (auto u = 3 * e; u < 3 * e + 3; ++u) {
      auto const batch = b.batch(u);
      CHECK(batch.size() == (u % 3 == 2 ? 1u : 3u));
      all.insert(all.end(), batch.begin(), batch.end());
    }
    CHECK(std::set<std::size_t>(all.begin(), all.end()).size() == 7);
    return all;
  };
  auto const first = epoch(fixed, 0);
  CHECK(epoch(fixed, 1) == first);
  CHECK(epoch(shuffled, 0) == first);
  CHECK(epoch(shuffled, 1) != first);
  CHECK(epoch(shuffled, 0) == first);
}

TEST_CASE("names have numbers from the first on, and come back from a checkpoint") {
  numbering words(1);
  CHECK(words.add("b") == 1);
  CHECK(words.add("a") == 2);
  CHECK(words.add("b") == 1);
  CHECK((words.find("a") == 2 && words.find("c") == -1 && words.find("c", 0) == 0));
  CHECK((words.name(2) == "a" && words.name_or_none(0).empty() && words.end() == 3));
  CHECK(words.all() == "b, a");
  numbering again(1);
  read_names({{"words", words.names()}}, "file", {{"words", &again}});
  CHECK(again == words);
  CHECK_THROWS_WITH(read_names({{"words", 3}}, "file", {{"words", &again}}),
                    contains("file: its vocabulary is not one of this program's"));
}

TEST_CASE("a data set is train, maybe dev, and tests by name, numbers in their order") {
  triad::test::scratch_folder const folder;
  for (auto const* name : {"train.jsonl.gz", "dev.jsonl", "test_10.jsonl", "test_9.jsonl", "test.jsonl", "notes.txt"})
    std::ofstream(folder / name) << "{}\n";
  auto const found = find_data(folder / "", {".jsonl"}, true);
  CHECK_THAT(found.train, contains("train.jsonl.gz"));
  CHECK_THAT(found.dev, contains("dev.jsonl"));
  std::vector<std::string> names;
  for (auto const& [name, path] : found.tests) names.push_back(name);
  CHECK(names == std::vector<std::string>{"test", "9", "10"});
  std::ofstream(folder / "train.jsonl") << "{}\n";
  CHECK_THROWS_WITH(find_data(folder / "", {".jsonl"}, true), contains("are both there; keep one of them"));
  CHECK_THROWS_WITH(find_data(folder / "none", {".jsonl"}, true), contains("gzipped or not, is expected"));
  CHECK(find_data(folder / "test.jsonl", {".jsonl"}, false).tests.at(0).first == "test");
}

TEST_CASE("files of a data set are found by the names that treebanks and the hub give them") {
  triad::test::scratch_folder const folder;
  auto const file = [&](std::string const& name) { triad::test::saved(folder, "x", name); };
  for (auto const* name : {"en_ewt-ud-train.conllu", "en_ewt-ud-dev.conllu.gz", "en_ewt-ud-test.conllu"}) file(name);
  auto const found = find_data(folder / "", {".conllu", ".jsonl"}, true);
  CHECK(found.train == folder / "en_ewt-ud-train.conllu");
  CHECK(found.dev == folder / "en_ewt-ud-dev.conllu.gz");
  REQUIRE(found.tests.size() == 1);
  CHECK(found.tests[0] == std::pair<std::string, std::string>("test", folder / "en_ewt-ud-test.conllu"));
  file("de_gsd-ud-train.conllu");
  CHECK_THROWS_WITH(find_data(folder / "", {".conllu"}, true), contains("de_gsd-ud-train.conllu") &&
                                                                   contains("en_ewt-ud-train.conllu") &&
                                                                   contains("are both there"));
  for (auto const* name : {"train.conllu", "test_gsd-dev.conllu"}) file(name);
  auto const by_name = find_data(folder / "", {".conllu"}, true);
  CHECK(by_name.train == folder / "train.conllu");
  CHECK(by_name.tests.size() == 2);

  triad::test::scratch_folder const hub;
  for (auto const* name : {"train.jsonl", "validation.jsonl", "test.jsonl"}) triad::test::saved(hub, "x", name);
  CHECK(find_data(hub / "", {".jsonl"}, true).dev == hub / "validation.jsonl");
  CHECK(find_dev(hub / "", {".tsv", ".jsonl"}) == hub / "" + "/validation.jsonl");
  triad::test::saved(hub, "x", "dev.jsonl");
  CHECK_THROWS_WITH(find_data(hub / "", {".jsonl"}, true), contains("are both there; keep one of them"));
  CHECK_THROWS_WITH(find_dev(hub / "", {".jsonl"}), contains("are both there; keep one of them"));
}

TEST_CASE("where a part is missing, the files that are there are named") {
  triad::test::scratch_folder const folder;
  CHECK_THROWS_WITH(find_data(folder / "", {".jsonl"}, true),
                    contains("there is no train.jsonl, gzipped or not; the folder is empty"));
  triad::test::saved(folder, "x", "my-train.jsonl");
  CHECK_THROWS_WITH(find_data(folder / "", {".jsonl"}, true),
                    contains("; the folder has my-train.jsonl; docs/data.md"));
  for (int i = 0; i < 9; ++i) triad::test::saved(folder, "x", "a" + std::to_string(i));
  CHECK_THROWS_WITH(need_file(folder / "", {"train.tsv"}, "advice"),
                    contains("; the folder has a0, a1, a2, a3, a4, a5, a6, a7 and 2 more; advice"));
}

TEST_CASE("two tests of one name are refused") {
  triad::test::scratch_folder const folder;
  for (auto const* name : {"test.jsonl", "test_test.jsonl"}) std::ofstream(folder / name) << "{}\n";
  CHECK_THROWS_WITH(find_data(folder / "", {".jsonl"}, false), contains("are both there; keep one of them"));
}

TEST_CASE("a file is found plain or gzipped, by the first of its names, and not where it is there in both ways") {
  triad::test::scratch_folder const folder;
  auto const here = folder / "";
  CHECK(find_file(here, {"train.tsv", "train.txt"}).empty());
  CHECK_THROWS_WITH(need_file(here, {"train.tsv", "train.txt"}, "write one"),
                    contains("there is no train.tsv and no train.txt, gzipped or not; the folder is empty; write one"));
  CHECK_THROWS_WITH(need_file(folder / "none", {"train.tsv"}, "write one"),
                    contains("a folder is expected; write one"));
  auto const file = [&](char const* name) { std::ofstream(folder / name) << "a\tb\n"; };
  file("train.txt.gz");
  CHECK_THAT(need_file(here, {"train.tsv", "train.txt"}, ""), contains("train.txt.gz"));
  file("train.tsv");
  CHECK(find_file(here, {"train.tsv", "train.txt"}).ends_with("train.tsv"));
  file("train.tsv.gz");
  CHECK_THROWS_WITH(find_file(here, {"train.tsv", "train.txt"}),
                    contains("train.tsv.gz are both there; keep one of them"));
  std::filesystem::create_directory(folder / "dev.tsv");
  CHECK(find_file(here, {"dev.tsv"}).empty());
}

TEST_CASE("new data are written over nothing but themselves, and none of them where one is there") {
  triad::test::scratch_folder const folder;
  auto const made = folder / "made";
  auto const text_of = [](std::string const& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(in), {}};
  };
  write_data(made, {{"train.tsv", "a\tb\n", "1 pair"}, {"dev.tsv", "", {}}});
  CHECK(text_of(made + "/train.tsv") == "a\tb\n");
  write_data(made, {{"train.tsv", "a\tb\n", "1 pair"}, {"dev.tsv", "", {}}});  // the same
  auto const refused = [&](std::vector<new_file> const& files, char const* name) {
    CAPTURE(name);
    CHECK_THROWS_WITH(write_data(made, files),
                      contains(std::string(name) + " is there, with other data: give another"));
  };
  refused({{"new.tsv", "a\n", {}}, {"train.tsv", "a\tc\n", {}}}, "train.tsv");
  refused({{"new.tsv", "a\n", {}}, {"train.tsv", "a\tb\nc\td\n", {}}}, "train.tsv");
  refused({{"new.tsv", "a\n", {}}, {"train.tsv", "a\tb", {}}}, "train.tsv");
  refused({{"new.tsv", "a\n", {}}, {"dev.tsv", "a\tb\n", {}}}, "dev.tsv");
  std::ofstream(made + "/test.tsv.gz") << "of another";
  refused({{"new.tsv", "a\n", {}}, {"test.tsv", "a\tb\n", {}}}, "test.tsv.gz");
  CHECK_FALSE(std::filesystem::exists(made + "/new.tsv"));
  CHECK(text_of(made + "/train.tsv") == "a\tb\n");
}

TEST_CASE("a message that quotes a zero byte is whole") {
  CHECK(std::string(triad::data_error(std::string("a\0b", 3)).what()) == "a?b");
}

TEST_CASE("a seed that draws what a model is measured on trains none of the runs") {
  small_options o;
  o.seed = 5, o.seeds = 3;
  refuse_seed(o, 4, "tests"), refuse_seed(o, 8, "tests");
  for (std::uint64_t const seed : {5, 7})
    CHECK_THROWS_WITH(refuse_seed(o, seed, "tests"), contains("the tests are drawn by it, and would be trained on"));
  o.seed = 0, o.seeds = 1;
  refuse_seed(o, std::uint64_t(-1), "tests");
}

TEST_CASE("a member that is no whole number in range is refused, not cut") {
  for (auto const* line :
       {R"({"n": 2.7})", R"({"n": 4294967296})", R"({"n": true})", R"({"n": 1e300})", R"({"n": "2"})"})
    CHECK_THROWS_WITH(member<int>(read_json_line(line), "n", "a count"), contains("expected \"n\" to be a count"));
  CHECK(member<int>(read_json_line(R"({"n": -2})"), "n", "a count") == -2);
}

TEST_CASE("a number of 64 bits in a config file is read, with a comment behind it too, and a line of any length") {
  triad::test::scratch_folder const folder;
  auto const file = folder / "config.toml";
  std::ofstream(file) << "seed = 18446744073709551615  # the largest\nout = \"" << std::string(300'000, 'a')
                      << "\"\nwidth = 64\n";
  auto const found = read_config(file);
  REQUIRE(found.size() == 3);
  CHECK(found[0].text() == "18446744073709551615");
  CHECK(found[2].text() == "64");
}

TEST_CASE("a config file that toml++ does not expect is refused with its name") {
  triad::test::scratch_folder const folder;
  for (auto const* text : {"[!]\n", "[[[a]]]\n", "width = [\n", "= 1\n"}) {
    auto const file = triad::test::saved(folder, text);
    CHECK_THROWS_WITH(read_config(file), contains(file) && contains("expected lines as width = 64"));
  }
}

TEST_CASE("characters beyond ASCII are in texts and comments, and elsewhere are refused with their place") {
  triad::test::scratch_folder const folder;
  auto const read = [&](std::string const& text) { return read_config(triad::test::saved(folder, text)); };
  std::string const mark = "\xef\xbb\xbf";  // of byte order
  for (auto const& text :
       {mark + R"(a = "é"  # é)", std::string(R"(a = """"é"""""  # é)"), std::string(R"(a = 'é\' # 'é)"),
        std::string("a = '''\né'\n'''  # é"), std::string(R"(a = "\"é" # ")")})
    CHECK_THAT(read(text).at(0).text(), contains("é"));
  for (auto const* text : {"b = 1\na = é\n", "# é\na = é\n", "b = ''\na = é\n"})
    CHECK_THROWS_WITH(read(text), contains("file:2:5: ") && contains("expected lines as width = 64"));
  CHECK_THROWS_WITH(read(R"(a = "\é")"), contains("file:1:7: "));
  CHECK(read("a = \"\"\"x\\\n  y\"\"\"\n").at(0).text() == "xy");
}

TEST_CASE("what config.toml cannot keep is refused when it is written, not lost") {
  CHECK(toml_text("d\xc3\xa9\t\"") == R"("d\u00E9\t\"")");
  CHECK_THROWS_WITH(toml_text("d\xe9"), contains("is no UTF-8 at byte 2; convert it, or give another name"));
}

TEST_CASE("a graph that is made edge by edge has the labels of a pair as one word, and no node that it has not") {
  graphs::written_graph g{.nodes = 2, .node_labels = {}, .pairs = {}, .query = {0, 1}, .target = "x"};
  g.edge(0, "b", 1).edge(0, "a", 1);
  auto const data = graphs::data_of({g}, {}, {});
  CHECK(data.words.edge_labels.all() == "a + b");
  REQUIRE(data.train.size() == 1);
  CHECK(data.train[0].edges.size() == 1);
  auto beyond = g;
  beyond.edge(0, "a", 2);
  CHECK_THROWS_WITH(graphs::data_of({beyond}, {}, {}),
                    contains("an edge names node 2, expected a whole number from 0 to 1"));
  beyond = g;
  beyond.query = {0, -1};
  CHECK_THROWS_WITH(graphs::data_of({beyond}, {}, {}), contains("the query names node -1"));
  g.edge(1, "", 0);
  CHECK_THROWS_WITH(graphs::data_of({g}, {}, {}), contains("the label \"\" is empty"));
}

TEST_CASE("a line that is no object is told with file, line and column") {
  triad::test::scratch_folder const folder;
  auto const path = folder / "a.jsonl";
  auto const read = [&](std::string const& text) {
    std::ofstream(path) << text;
    read_json_lines(path, [](nlohmann::json const& line) { (void)member<int>(line, "n", "a number"); });
  };
  CHECK_NOTHROW(read("{\"n\": 1}\n\n{\"n\": 2}"));
  CHECK_THROWS_WITH(read("{\"n\": 1}\n{\"n\": "),
                    contains(path + ":2:7: expected JSON, found none: unexpected end of input"));
  CHECK_THROWS_WITH(
      read("{\"n\": 1} {}"),
      contains(path + ":1:10: expected JSON, found none: unexpected '{'; expected end of input; a line is one object"));
  CHECK_THROWS_WITH(read("{\"n\": 1}\n{\"\xff\": 1}"), contains(path + ":2:3: the byte 0xFF is no UTF-8"));
  CHECK_THROWS_WITH(read("{\"" + std::string(1000, 'a')),
                    contains("expected JSON, found none: invalid string: missing closing quote; a line is one object"));
  CHECK_THROWS_WITH(read("[]"), contains(path + ":1: expected an object in braces, found []"));
  CHECK_THROWS_WITH(read("{\"m\": 1}"), contains(path + ":1: expected \"n\", a number, found none"));
  CHECK_THROWS_WITH(read("{\"n\": \"x\"}"), contains("expected \"n\" to be a number, found \"x\""));
  CHECK_THROWS_WITH(read(""), contains("expected a line or more, found none"));
}

}  // namespace programs_apps_tests
