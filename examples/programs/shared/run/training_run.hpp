// One training run: updates, an evaluation and a checkpoint after every epoch, and its folder.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "learner.hpp"

namespace triad::programs {

struct run_plan {
  std::string model;            // for people
  std::string out{}, config{};  // the run's folder, or none; the text of its config.toml
  std::uint64_t seed = 1;
  bool resume = false;
  std::int64_t updates = 0, epoch_updates = 1;  // the last epoch may be shorter
  std::int64_t batch = 1;                       // examples of an update
  int attempts = 1;                  // `updates` are of one; where it does not fit its examples, another begins
  double average = 0;                // the decay of moving averages of the weights; 0: none are kept
  double dropout_until = 1;          // the part of an attempt's updates that have dropout; later ones have none
  bool ends_early = false;           // an attempt ends with the first epoch whose weights fit
  bool follows = false;              // another training, whose weights may fit at once: then no update is made
  std::string leads_to{};            // the folder of the training that begins with these weights: what lies there is
                                     // set aside before the first update, since it began with others
  std::string example = "examples";  // what a batch is made of
  std::string within{};              // of the memory: what it was to fit, and what follows
  run_record record{};
  std::string data{};  // a line of its settings: the examples, as example_digest tells them

  std::string length = "updates";  // the option that says how long it is
  std::string fixed{};             // why a longer run does not begin as this one; empty: it does
  std::string before{};            // settings of a shorter run that this one may go on from
  std::string measured = "score";  // what a validation measures, as the tag of an event file
  bool lower_is_better = false;    // of that
  int patience = 0;                // checkpoints that are no better than the best, which end the run; 0: none do
  std::string events{};            // folder for TensorBoard's event files; empty: none are written
  std::string shorter{};           // what would take less time, for people
};

struct run_log {
  std::vector<double> losses, validations;  // mean loss of every epoch, and what its weights were worth
  double seconds = 0;                       // of all processes that ran it
  int attempts = 1;                         // that were begun
  std::int64_t updates = 0;                 // that this process made
  double validation = 0;                    // of the weights at the end; of a failed run, of its last checkpoint, or 0
  bool interrupted = false;
  bool diverged = false;  // a loss, or a weight, was no longer finite
  bool failed = false;    // that, or what a program says of what was learned
};

/// Beside model.safetensors, the best, where a run keeps that: the last, from which it goes on.
inline constexpr char const* last_checkpoint = "last.safetensors";
/// The checkpoint that a run in this folder goes on from.
std::string newest_checkpoint(std::string const& folder);

/// What an update and a validation take, in seconds.
struct speed {
  double update = 0, validation = 0;
};

/// An earlier run's files in a folder where another begins get names that no file has.
void set_aside(std::string const& folder);

/// What a line about a run ends with; unlearned: where its loss was finite and the program calls it failed all the
/// same.
inline char const* failure_of(run_log const& r, char const* unlearned) {
  return r.diverged ? "  failed" : r.failed ? unlearned : "";
}

class training;

/// Measured by the first updates of a training, which is of no use afterwards.  budget: seconds of the run; a twentieth
/// of it is enough, or three seconds.
speed speed_of(training& t, std::uint64_t seed, double budget);

/// Trains by this plan; nothing is written where there is no folder.
run_log train(training& t, run_plan const& plan);

}  // namespace triad::programs
