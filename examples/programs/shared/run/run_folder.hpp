// Creates the folder of a run before any computation, and finds the files of a named run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include "interrupts.hpp"
#include "run_lock.hpp"
#include "shared/report/printed.hpp"
#include "triad/core/errors.hpp"

namespace triad::programs {

/// `inside`: a folder of its own below `out`, or none.
inline void make_folder(std::string const& out, std::string const& inside = {}) {
  std::error_code failure;
  std::filesystem::create_directories(inside.empty() ? out : out + "/" + inside, failure);
  if (failure)
    throw data_error("cannot make the folder " + out + ": " + failure.message() + "; give another with --out");
}

/// Throws data_error where `out` is the folder of the data, a folder or a file: what is written has names of theirs.
inline void expect_other_folder(std::string const& out, std::string const& data, std::string const& what) {
  namespace fs = std::filesystem;
  std::error_code none;
  auto folder = fs::is_directory(data, none) ? fs::path(data) : fs::path(data).parent_path();
  if (folder.empty()) folder = ".";
  if (!out.empty() && !data.empty() && fs::equivalent(out, folder, none))
    throw data_error("--out " + out + " is where the data lie, and " + what +
                     " would take their place: give another folder");
}

/// A training run's folder, made, with plots/ in it, and no other run's until the end of this; none where `out` is
/// none.
class run_folder {
 public:
  explicit run_folder(std::string const& out) {
    if (out.empty()) return;
    make_folder(out, "plots");
    lock_.emplace(out);
    if (world().is_first()) remove_leftovers(out + "/plots");
  }

 private:
  std::optional<run_lock> lock_;
};

/// The folder of one seed's run, made: `out` itself, or one below it where there are several seeds; none where `out` is
/// none.
inline std::string seed_folder(std::string const& out, int seeds, std::uint64_t seed) {
  auto const folder = out.empty() || seeds == 1 ? out : out + "/seed-" + std::to_string(seed);
  if (!folder.empty()) make_folder(folder);
  return folder;
}

/// What is said at the end of training, of what is there: a run that had ended may have lost its metrics.csv.  more:
/// what lies there besides, "scores", before the plots.  A run that diverges in its first epoch leaves no checkpoint;
/// the training of short rows before one has its own.
inline std::string where_it_lies(std::string const& out, std::uint64_t first_seed, int seeds,
                                 std::string const& more = {}) {
  bool kept = false, measured = false;
  for (int i = 0; i < seeds; ++i) {
    auto const run = seeds == 1 ? out : out + "/seed-" + std::to_string(first_seed + static_cast<std::uint64_t>(i));
    std::error_code none;
    for (auto const* training : {"/model.safetensors", "/first/model.safetensors"})
      kept = kept || std::filesystem::exists(run + training, none);
    measured = measured || std::filesystem::exists(run + "/metrics.csv", none);
  }
  if (!kept) return "no epoch came to its end, so there is no checkpoint; the options are in " + out + "\n";
  return seeds == 1 || !more.empty()
             ? (measured ? "metrics, checkpoint" : "checkpoint") +
                   (more.empty() ? std::string(" and ") : ", " + more + " and ") + "plots are in " + out + "\n"
             : "plots are in " + out + (measured ? ", metrics and checkpoints in " : ", checkpoints in ") + out +
                   "/seed-*\n";
}

/// What is said where Ctrl-C or SIGTERM ended a run that wrote to `out`; the program's exit status.
inline int report_interrupted(std::string const& out) {
  if (out.empty())
    std::printf("interrupted; there was no --out, so nothing of this run is kept\n");
  else
    std::printf("interrupted; the checkpoint is in %s: the same command with --resume goes on from it\n",
                printable(out).c_str());
  return interrupted_status();
}

/// Throws data_error for a folder that holds the runs of several seeds, and none of its own.
inline void expect_one_run(std::string const& run) {
  std::error_code none;
  if (!std::filesystem::is_directory(run, none) || std::filesystem::exists(run + "/model.safetensors", none)) return;
  for (auto const& inside : std::filesystem::directory_iterator(run, none))
    if (auto const name = inside.path().filename().string();
        name.starts_with("seed-") && std::filesystem::exists(inside.path() / "model.safetensors", none))
      throw data_error(run + " has the runs of several seeds: name one of them, such as " + run + "/" + name);
}

/// The path of a run's checkpoint; the run is given by its folder or by the file itself.
inline std::string checkpoint_of(std::string const& run) {
  std::error_code none;
  return std::filesystem::is_directory(run, none) ? run + "/model.safetensors" : run;
}
/// The options that it was trained with, next to the checkpoint; of one that was set aside, model.safetensors.old,
/// those of that name. Nothing where a file has another name.
inline std::string config_of(std::string const& run) {
  std::filesystem::path const checkpoint(checkpoint_of(run));
  std::string const usual = "model.safetensors", name = checkpoint.filename().string();
  return name.starts_with(usual) ? (checkpoint.parent_path() / ("config.toml" + name.substr(usual.size()))).string()
                                 : std::string();
}

}  // namespace triad::programs
