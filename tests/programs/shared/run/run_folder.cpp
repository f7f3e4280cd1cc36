// Tests the folder of a run: the paths of its files, messages about the folder, and which files of an earlier run are
// renamed.
// SPDX-License-Identifier: Apache-2.0
#include "shared/run/run_folder.hpp"

#include <unistd.h>

#include <exception>
#include <filesystem>
#include <fstream>
#include <string>

#include "shared/run/training_run.hpp"
#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"
#include "tests/programs/shared/scratch_file.hpp"

namespace programs_run_folder_tests {

using triad::test::scratch_file;

TEST_CASE("an earlier run that cannot be set aside is reported with its file and what to do") {
  triad::test::scratch_folder const folder;
  std::ofstream(folder / "model.safetensors") << "x";
  using std::filesystem::perms;
  std::filesystem::permissions(folder / "", perms::owner_exec | perms::group_exec | perms::others_exec);
  auto const user = geteuid();
  if (user == 0) REQUIRE(seteuid(65534) == 0);  // permissions have no effect for root
  std::string message;
  try {
    triad::programs::set_aside(folder / "");
  } catch (std::exception const& e) {
    message = e.what();
  }
  if (user == 0) REQUIRE(seteuid(0) == 0);
  std::filesystem::permissions(folder / "", perms::owner_all);
  CHECK(message.starts_with(folder / ""));
  CHECK(message.find("model.safetensors: an earlier run's file cannot be renamed to ") != std::string::npos);
}

TEST_CASE("the end of training says what is there, and not that metrics are that were removed") {
  using triad::programs::where_it_lies;
  scratch_file const taken;
  auto const& run = taken.path;
  std::filesystem::remove(run);
  auto const save = [&](std::string const& name) {
    std::filesystem::create_directories(std::filesystem::path(run + name).parent_path());
    std::ofstream(run + name) << "x";
  };
  save("/config.toml");
  CHECK(where_it_lies(run, 1, 1) ==
        "no epoch came to its end, so there is no checkpoint; the options are in " + run + "\n");
  save("/model.safetensors");
  CHECK(where_it_lies(run, 1, 1) == "checkpoint and plots are in " + run + "\n");
  CHECK(where_it_lies(run, 1, 1, "scores") == "checkpoint, scores and plots are in " + run + "\n");
  save("/metrics.csv");
  CHECK(where_it_lies(run, 1, 1) == "metrics, checkpoint and plots are in " + run + "\n");
  CHECK(where_it_lies(run, 1, 1, "scores") == "metrics, checkpoint, scores and plots are in " + run + "\n");
  save("/seed-2/model.safetensors");
  CHECK(where_it_lies(run, 1, 2) == "plots are in " + run + ", checkpoints in " + run + "/seed-*\n");
  save("/seed-2/metrics.csv");
  CHECK(where_it_lies(run, 1, 2) == "plots are in " + run + ", metrics and checkpoints in " + run + "/seed-*\n");
  std::filesystem::remove_all(run);
}

TEST_CASE("a run's checkpoint and options are found by its folder and by the checkpoint") {
  using triad::programs::checkpoint_of, triad::programs::config_of;
  scratch_file const taken;
  std::filesystem::remove(taken.path);
  triad::programs::make_folder(taken.path);
  CHECK(checkpoint_of(taken.path) == taken.path + "/model.safetensors");
  for (auto const& run : {taken.path, taken.path + "/model.safetensors"})
    CHECK(config_of(run) == taken.path + "/config.toml");
  CHECK(config_of(taken.path + "/model.safetensors.old2") == taken.path + "/config.toml.old2");
  CHECK(config_of("Did M0 marry M1").empty());
  std::filesystem::remove_all(taken.path);
}

TEST_CASE(
    "a seed's run has the folder itself where there is one seed, one below it where there are several, and none "
    "without a folder") {
  scratch_file const taken;
  std::filesystem::remove(taken.path);
  using triad::programs::seed_folder;
  CHECK(seed_folder(taken.path, 1, 7) == taken.path);
  CHECK(std::filesystem::is_directory(taken.path));
  CHECK(seed_folder(taken.path, 2, 8) == taken.path + "/seed-8");
  CHECK(std::filesystem::is_directory(taken.path + "/seed-8"));
  CHECK(seed_folder("", 2, 8).empty());
  std::filesystem::remove_all(taken.path);
}

}  // namespace programs_run_folder_tests
