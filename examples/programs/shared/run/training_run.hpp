// One training run in its folder: its updates, with a validation and a checkpoint after every epoch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "learner.hpp"

namespace triad::programs {

struct run_plan {
  std::string model;            // its name, for messages
  std::string out{}, config{};  // the run's folder, or empty; the text of its config.toml
  std::uint64_t seed = 1;
  bool resume = false;
  std::int64_t updates = 0, epoch_updates = 1;  // the last epoch may be shorter
  std::int64_t batch = 1;                       // number of examples in an update
  int attempts = 1;          // each has `updates` updates; the next begins if the weights do not fit the examples
  double average = 0;        // the decay of moving averages of the weights; 0: no averages
  double dropout_until = 1;  // the fraction of an attempt's updates that have dropout, from its beginning
  bool ends_early = false;   // an attempt ends after the first epoch whose weights fit the examples
  bool follows = false;      // this is the second training of a run; if its initial weights fit, it makes no update
  std::string leads_to{};    // the folder of a second training, which begins with these weights.  An earlier run in it
                             // began with other weights, and is renamed before the first update
  std::string example = "examples";  // the name of the items in a batch
  std::string within{};              // a text to print after the planned memory: its limit, and what follows from it
  run_record record{};
  std::string data{};  // a line of settings: the digest of the examples (example_digest)

  std::string length = "updates";  // the name of the option that determines the length
  std::string fixed{};             // the reason why a longer run cannot continue this run; empty: it can
  std::string before{};            // settings of a shorter run that this run may continue
  std::string measured = "score";  // the validation's measure, which is its tag in event files
  bool lower_is_better = false;    // a lower validation result is better
  int patience = 0;                // the run ends after this number of checkpoints without a better one; 0: never
  std::string events{};            // folder for TensorBoard's event files; empty: no event files
  std::string shorter{};           // options for a shorter run, as a text for people
  bool tells_products = true;      // whether the run prints which library computes the products
};

struct run_log {
  std::vector<double> losses, validations;  // for each epoch: the mean loss, the validation result
  double seconds = 0;                       // sum over all processes of this run, one after another
  int attempts = 1;                         // number of attempts that have begun
  std::int64_t updates = 0;                 // number of updates that this process made
  double validation = 0;                    // of the final weights; if the run failed: of its last checkpoint, or 0
  bool interrupted = false;
  bool diverged = false;  // a loss or a weight was not finite
  bool failed = false;    // it diverged, or has not learned its task
};

/// The latest checkpoint, from which a run is resumed.  This file exists only if model.safetensors is the best
/// checkpoint and not the latest.
inline constexpr char const* last_checkpoint = "last.safetensors";
/// Returns the path of the checkpoint from which the run in this folder is resumed.
std::string newest_checkpoint(std::string const& folder);

/// The duration of an update and of a validation, in seconds.
struct speed {
  double update = 0, validation = 0;
};

/// Renames the files of an earlier run in the folder, so that another run can begin there.  No file is overwritten.
void set_aside(std::string const& folder);

/// Returns the end of a printed line about a run.  `unlearned` is the text for a run that failed although its loss was
/// finite.
inline char const* failure_of(run_log const& r, char const* unlearned) {
  return r.diverged ? "  failed" : r.failed ? unlearned : "";
}

class training;

/// Measures how long the first updates of a training take, and how long a validation with its checkpoint takes.  The
/// training cannot be used afterwards.  `budget` is the duration of the run in seconds.  The updates are timed for a
/// twentieth of `budget`, but at most for three seconds.  The checkpoint is written to `folder` and removed.  If
/// `folder` is empty, no checkpoint is written.
speed speed_of(training& t, std::uint64_t seed, double budget, std::string const& folder);

/// Trains according to this plan.  If the plan has no folder, writes no files.
run_log train(training& t, run_plan const& plan);

}  // namespace triad::programs
