// Tests that the output of a command does not overwrite the user's files.
// SPDX-License-Identifier: Apache-2.0
#include "shared/cli/outputs.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "triad/core/errors.hpp"

namespace programs_outputs_tests {

namespace fs = std::filesystem;
using triad::programs::expect_free, triad::programs::expect_free_in_folder, triad::programs::expect_own_folder;
using triad::test::contains;

/// A run, its data, a file with questions, and an unrelated file.
struct some_files {
  std::string path = (fs::temp_directory_path() / ("triad-outputs-" + std::to_string(::getpid()))).string();

  some_files() {
    fs::remove_all(path);
    for (auto const* folder : {"run", "data", "weights"}) fs::create_directories(path + "/" + folder);
    for (auto const* file : {"run/model.safetensors", "run/config.toml", "run/metrics.csv", "data/test.jsonl",
                             "asked.jsonl", "mine.txt", "weights/model.safetensors"})
      std::ofstream(path + "/" + file) << file;
  }
  some_files(some_files const&) = delete;
  some_files& operator=(some_files const&) = delete;
  ~some_files() { fs::remove_all(path); }
  std::string operator()(std::string const& name) const { return path + "/" + name; }
};

struct some_options : triad::programs::run_options {
  std::string asked, weights;
  std::vector<std::string> more;

  explicit some_options(some_files const& files) : asked(files("asked.jsonl")), weights(files("weights")) {
    run = files("run"), data = files("data");
  }
  void each(triad::programs::option_list& f) override {
    run_options::each(f);
    f("data", &data, "").path();
    f("file", &asked, "").existing_file();
    f("weights", &weights, "").path().existing_folder();
    f("runs", &more, "").positional();
  }
};

TEST_CASE("what is read is never replaced, by whatever path it is named") {
  some_files const files;
  some_options o(files);
  fs::create_symlink(files("run/model.safetensors"), files("link"));
  fs::create_hard_link(files("asked.jsonl"), files("hard"));
  fs::create_directory_symlink(files("run"), files("linked"));
  for (bool const force : {false, true}) {
    o.force = force;
    for (auto const* name : {"run/model.safetensors", "run/config.toml", "run/../run/model.safetensors", "link", "hard",
                             "linked/model.safetensors", "asked.jsonl"})
      CHECK_THROWS_WITH(expect_free(o, {{"--json", files(name)}}),
                        contains(std::string("--json: ")) && contains(std::string(name) + " is what is read (") &&
                            contains("and would be replaced; give another name"));
    CHECK_THROWS_WITH(expect_free(o, {{"--json", files("data/test.jsonl")}}),
                      contains("data/test.jsonl lies among what is read (--data "));
    CHECK_THROWS_WITH(expect_free(o, {{"--json", files("weights/model.safetensors")}}), contains("lies among"));
    CHECK_NOTHROW(expect_free(o, {{"--json", files("data/new.json")}}));
  }
  o.force = true;
  CHECK_THROWS_WITH(expect_free(o, {{"--svg", files("linked/metrics.csv")}}, {{"the log", files("run/metrics.csv")}}),
                    contains("linked/metrics.csv is what is read (the log), and would be replaced"));
  o.more = {files("weights")};
  o.weights.clear();
  CHECK_THROWS_WITH(expect_free(o, {{"--json", files("weights/model.safetensors")}}), contains("is what is read"));
}

TEST_CASE("other files that are there are replaced where that is forced") {
  some_files const files;
  some_options o(files);
  for (auto const* name : {"mine.txt", "run/metrics.csv"}) {
    o.force = false;
    CHECK_THROWS_WITH(expect_free(o, {{"--json", files(name)}}), contains("is there already") && contains("--force"));
    o.force = true;
    CHECK_NOTHROW(expect_free(o, {{"--json", files(name)}}));
  }
  fs::create_symlink(files("nowhere"), files("dangling"));
  o.force = false;
  CHECK_THROWS_WITH(expect_free(o, {{"--json", files("dangling")}}), contains("is there already"));
  CHECK_NOTHROW(expect_free(o, {{"--json", files("new.json")}, {"--dot", files("new/new.dot")}, {"--svg", ""}}));
}

TEST_CASE("what is no file is never replaced") {
  some_files const files;
  some_options o(files);
  o.force = true;
  fs::create_directories(files("folder"));
  for (auto const& path : {files("folder"), std::string("/dev/null")})
    CHECK_THROWS_WITH(expect_free(o, {{"--json", path}}), contains("is there and is no file; give the name of a file"));
}

TEST_CASE("two outputs are two files") {
  some_files const files;
  some_options o(files);
  fs::create_directory_symlink(files("run"), files("linked"));
  for (bool const force : {false, true}) {
    o.force = force;
    for (auto const& [one, other] :
         {std::pair("x", "x"), {"x", "run/../x"}, {"run/x", "linked/x"}, {"new/x", "new/./x"}})
      CHECK_THROWS_WITH(expect_free(o, {{"--svg", files(one)}, {"--json", files(other)}}),
                        contains("--json: ") && contains("is what --svg writes too"));
  }
}

TEST_CASE("files in a folder are looked at one by one, and --force without any is refused") {
  some_files const files;
  some_options o(files);
  CHECK_NOTHROW(expect_free_in_folder(o, {"metrics.csv"}));  // --out is not given
  o.out = files("run");
  CHECK_NOTHROW(expect_free_in_folder(o, {"scores.csv", "one.conllu"}));
  CHECK_THROWS_WITH(expect_free_in_folder(o, {"scores.csv", "metrics.csv"}),
                    contains("--out: ") && contains("run/metrics.csv is there already"));
  o.force = true;
  CHECK_NOTHROW(expect_free_in_folder(o, {"scores.csv", "metrics.csv"}));
  o.out.clear();
  CHECK_THROWS_WITH(expect_free_in_folder(o, {"scores.csv"}), contains("--force is about files that are written"));
}

TEST_CASE("a run begins in no folder whose config.toml or metrics.csv is the user's, nor in that of its weights") {
  some_files const files;
  some_options o(files);
  CHECK_NOTHROW(expect_own_folder(o));
  o.out = files("run");
  CHECK_NOTHROW(expect_own_folder(o));  // it has a checkpoint, so all three files will be renamed
  o.out = files("weights");
  CHECK_THROWS_WITH(expect_own_folder(o), contains("is what --weights is read from"));
  o.out = files("own");
  CHECK_NOTHROW(expect_own_folder(o));
  fs::create_directories(o.out);
  std::ofstream(o.out + "/config.toml") << "width = 3\n";
  CHECK_THROWS_WITH(expect_own_folder(o), contains("own/config.toml is there, no run wrote it"));
  std::ofstream(o.out + "/config.toml") << "[server\n";
  CHECK_THROWS_WITH(expect_own_folder(o), contains("own/config.toml is there, no run wrote it"));
  std::ofstream(o.out + "/config.toml") << to_toml(o);  // as left by a run that was killed before its first checkpoint
  CHECK_NOTHROW(expect_own_folder(o));
  std::ofstream(o.out + "/metrics.csv") << "epoch,step,loss\n";
  CHECK_NOTHROW(expect_own_folder(o));
  std::ofstream(o.out + "/metrics.csv") << "day,weight\n";
  CHECK_THROWS_WITH(expect_own_folder(o), contains("own/metrics.csv is there, no run wrote it"));
  o.seeds = 2;  // each seed has a folder of its own
  CHECK_NOTHROW(expect_own_folder(o));
}

}  // namespace programs_outputs_tests
