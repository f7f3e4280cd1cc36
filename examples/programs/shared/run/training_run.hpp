// One training run: its updates, an evaluation and a checkpoint after every epoch, and its folder.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "learner.hpp"

namespace triad::programs {

struct run_plan {
  std::string model;            // its name in messages
  std::string out{}, config{};  // the run's folder, or empty; the text of its config.toml
  std::uint64_t seed = 1;
  bool resume = false;
  std::int64_t updates = 0, epoch_updates = 1;  // the last epoch may be shorter
  std::int64_t batch = 1;                       // examples of an update
  int attempts = 1;          // `updates` are of one attempt; if its weights do not fit the examples, another begins
  double average = 0;        // the decay of moving averages of the weights; 0: no averages
  double dropout_until = 1;  // the part of an attempt's updates with dropout; later updates have none
  bool ends_early = false;   // an attempt ends with the first epoch whose weights fit the examples
  bool follows = false;      // it follows another training; if its first weights fit already, no update is made
  std::string leads_to{};    // the folder of the training that begins with these weights.  A run in it began
                             // with other weights, and is renamed before the first update
  std::string example = "examples";  // what a batch consists of
  std::string within{};              // a text after the memory: its limit, and what follows from it
  run_record record{};
  std::string data{};  // a line of settings: the digest of the examples (example_digest)

  std::string length = "updates";  // the option that determines the length
  std::string fixed{};             // why a longer run cannot continue this one; empty: it can
  std::string before{};            // settings of a shorter run that this run may continue
  std::string measured = "score";  // what a validation measures, as the tag in event files
  bool lower_is_better = false;    // whether lower validation results are better
  int patience = 0;                // the run ends after this number of checkpoints without a better one; 0: never
  std::string events{};            // folder for TensorBoard's event files; empty: no event files
  std::string shorter{};           // options for a shorter run, as a text for people
};

struct run_log {
  std::vector<double> losses, validations;  // for each epoch: the mean loss, and the validation result
  double seconds = 0;                       // summed over all processes that ran it in turn
  int attempts = 1;                         // number of attempts that were begun
  std::int64_t updates = 0;                 // number of updates that this process made
  double validation = 0;                    // of the last weights; if the run failed, of its last checkpoint, or 0
  bool interrupted = false;
  bool diverged = false;  // a loss or a weight was not finite
  bool failed = false;    // it diverged, or the program judges that the task was not learned
};

/// The latest checkpoint, from which a run resumes.  It exists only if model.safetensors is the best checkpoint
/// instead.
inline constexpr char const* last_checkpoint = "last.safetensors";
/// Returns the path of the checkpoint from which a run in this folder resumes.
std::string newest_checkpoint(std::string const& folder);

/// The duration of an update and of a validation, in seconds.
struct speed {
  double update = 0, validation = 0;
};

/// Renames the files of an earlier run in the folder to names that are free, so that another run can begin there.
void set_aside(std::string const& folder);

/// Returns the end of a line about a run.  unlearned: the text for a failed run whose loss was finite.
inline char const* failure_of(run_log const& r, char const* unlearned) {
  return r.diverged ? "  failed" : r.failed ? unlearned : "";
}

class training;

/// Measures the first updates of a training, which cannot be used afterwards.  budget: the seconds of the run.  The
/// measurement takes a twentieth of the budget, at most three seconds.
speed speed_of(training& t, std::uint64_t seed, double budget);

/// Trains by this plan.  Writes nothing if the plan has no folder.
run_log train(training& t, run_plan const& plan);

}  // namespace triad::programs
