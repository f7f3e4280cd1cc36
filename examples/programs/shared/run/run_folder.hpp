// Creates the folder of a run before any computation, and finds the files of an existing run.
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

/// Creates the folder `out`.  If `inside` is not empty, creates the folder `inside` in it.
inline void make_folder(std::string const& out, std::string const& inside = {}) {
  std::error_code failure;
  std::filesystem::create_directories(inside.empty() ? out : out + "/" + inside, failure);
  if (failure)
    throw data_error("cannot make the folder " + out + ": " + failure.message() + "; give another with --out");
}

/// Throws data_error if `out` is the folder of the data, because the output has the same file names.  `data` is a
/// folder or a file.
inline void expect_other_folder(std::string const& out, std::string const& data, std::string const& what) {
  namespace fs = std::filesystem;
  std::error_code none;
  auto folder = fs::is_directory(data, none) ? fs::path(data) : fs::path(data).parent_path();
  if (folder.empty()) folder = ".";
  if (!out.empty() && !data.empty() && fs::equivalent(out, folder, none))
    throw data_error("--out " + out + " is where the data lie, and " + what +
                     " would take their place: give another folder");
}

/// Creates the folder of a training run and the folder plots/ in it.  Locks the folder until the object is destroyed,
/// so that no other run can use the folder.  Does nothing if `out` is empty.
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

/// Creates the folder of one seed's run and returns its path.  If there are several seeds, it is a folder in `out`;
/// otherwise it is `out`.  Returns an empty text if `out` is empty.
inline std::string seed_folder(std::string const& out, int seeds, std::uint64_t seed) {
  auto const folder = out.empty() || seeds == 1 ? out : out + "/seed-" + std::to_string(seed);
  if (!folder.empty()) make_folder(folder);
  return folder;
}

/// Returns the text for the end of training, which says which files were written, and where.  A resumed run that was
/// already complete may have no metrics.csv.  A run that diverges in its first epoch has no checkpoint, but may have
/// the checkpoint of an earlier stage of training, on shorter rows.  `more` names other files to mention before the
/// plots, such as "scores".
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

/// Prints that Ctrl-C or SIGTERM has ended the run in the folder `out`.  Returns the program's exit status.
inline int report_interrupted(std::string const& out) {
  if (out.empty())
    std::printf("interrupted; there was no --out, so nothing of this run is kept\n");
  else
    std::printf("interrupted; the checkpoint is in %s: the same command with --resume goes on from it\n",
                printable(out).c_str());
  return interrupted_status();
}

/// Throws data_error if `run` is not the folder of a run, but has the folders of several seeds' runs.
inline void expect_one_run(std::string const& run) {
  std::error_code none;
  if (!std::filesystem::is_directory(run, none) || std::filesystem::exists(run + "/model.safetensors", none)) return;
  for (auto const& inside : std::filesystem::directory_iterator(run, none))
    if (auto const name = inside.path().filename().string();
        name.starts_with("seed-") && std::filesystem::exists(inside.path() / "model.safetensors", none))
      throw data_error(run + " has the runs of several seeds: name one of them, such as " + run + "/" + name);
}

/// Returns the path of a run's checkpoint.  `run` is the run's folder, or the checkpoint itself.
inline std::string checkpoint_of(std::string const& run) {
  std::error_code none;
  return std::filesystem::is_directory(run, none) ? run + "/model.safetensors" : run;
}
/// Returns the path of the config.toml next to the checkpoint, which has the options of the training.  For a checkpoint
/// that was renamed to model.safetensors.old, returns the path of config.toml.old.  For any other name of a checkpoint,
/// returns an empty text.
inline std::string config_of(std::string const& run) {
  std::filesystem::path const checkpoint(checkpoint_of(run));
  std::string const usual = "model.safetensors", name = checkpoint.filename().string();
  return name.starts_with(usual) ? (checkpoint.parent_path() / ("config.toml" + name.substr(usual.size()))).string()
                                 : std::string();
}

}  // namespace triad::programs
