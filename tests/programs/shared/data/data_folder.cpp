// Tests that the files of a data set are found by their names.
// SPDX-License-Identifier: Apache-2.0
#include "shared/data/data_folder.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"

namespace programs_data_folder_tests {

using namespace triad::programs;
using triad::test::contains;

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

}  // namespace programs_data_folder_tests
