// The runs of one command.  Trains and scores one run for each seed, and reports about all runs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "batch_source.hpp"
#include "shared/cli/options.hpp"
#include "training_run.hpp"

namespace triad::programs {

/// A score, such as accuracy or BLEU, of all examples or of one kind of example.
struct figure {
  std::string name;
  double value;
  std::string kind{};  // empty: of all examples

  /// The name in scores.csv.
  std::string title() const { return kind.empty() ? name : name + " of " + kind; }
};
/// The exact match of one kind of example, in the unit of the figures of its part.
struct kind_score {
  std::string kind;
  double value;
  long long examples;
};
/// The scores on one part of the test data.
struct part_scores {
  std::string part;
  std::vector<figure> figures;
  long long examples = 0;
  std::vector<kind_score> kinds{};  // empty unless there are several kinds
};

/// The run of one seed.
struct scored_run : run_log {
  std::uint64_t seed = 0;
  std::string length{};            // name of the option that determines the length
  std::vector<part_scores> parts;  // empty if the run diverged
};

/// A training with one seed and its data.  Each program derives its own class.
class training : public batch_source {
 public:
  virtual learner& net() = 0;
  /// Returns a training that must run before this training, in a subfolder `first`.  Returns null if there is none.
  virtual training* first() { return nullptr; }
  /// Sets the initial values of the weights.
  virtual void initialize(std::uint64_t seed) { net().initialize(seed); }
  /// Returns a plan with the members that depend on the program: model, updates, epoch_updates, batch, example, record
  /// and data. train_one() sets all other members from the options.
  virtual run_plan plan() = 0;
  virtual double rate(std::int64_t update) = 0;
  /// Returns the validation score of the current weights, for a checkpoint.
  virtual double validate() = 0;
  /// Validates the current weights and discards the result, to measure the time.
  virtual void rehearse_validation() { (void)validate(); }
  /// Returns the scores of the final weights on the test data.
  virtual std::vector<part_scores> score() = 0;
  /// Returns true if the weights answer the training examples correctly. fits() is called after an attempt if another
  /// attempt may follow.  If it returns false, the next attempt begins.  If a run has two trainings, fits() is called
  /// in both after every epoch except the last.  In the second training, it is also called for the initial weights.
  virtual bool fits() { return true; }
  /// Returns true if a model with this validation score has learned its task.
  virtual bool learned(double validation) { return validation >= 0.5; }
};

/// Returns the learning rate of an update.  The rate rises to o.rate during o.warmup updates, and then falls to 0 at
/// the last update.  At each update in o.restarts, the rate starts at o.rate again, and falls to 0 at the next restart
/// or at the last update.
double linear_rate(width_options const& o, std::int64_t updates, std::int64_t update);

/// The inputs of a run that are not options.
struct run_extras {
  std::string before{};  // settings of a shorter run that this run continues; empty: none
  std::string events{};  // folder for event files
};

/// Trains and scores a run with seed o.seed in folder `out`.  If `out` is empty, writes nothing.  A run whose loss was
/// not finite has no scores.  If `says_warmup`, warns about a warm-up that is too long.  Only the run of the first seed
/// warns.
scored_run train_one(run_options const& o, training& t, std::string const& out, bool says_warmup = true,
                     run_extras const& extras = {});

/// Trains o.seeds runs, one after another:
///
///   for (seed_runs runs(o, o.out); runs.next();) {
///     my_training t(o, runs.out());
///     if (runs.fits_to_minutes(t)) continue;
///     auto const* const run = runs.train(t);
///     if (!run) return interrupted_status();
///   }
class seed_runs {
 public:
  /// `folder` is the folder of the runs, or empty.
  seed_runs(run_options& o, std::string folder);

  /// Sets o to the options of the next run.  After the last run, restores o and returns false.
  bool next();
  bool is_first() const { return all_.empty(); }
  std::string const& out() const { return out_; }  // the folder of the current run
  /// If --minutes was given, sets the options for length, warm-up and checkpoint interval so that the run takes this
  /// time, and returns true.  The caller must then call next(), which keeps the seed, and make the training again with
  /// these options.  A resumed run reads these options from its config.toml.
  bool fits_to_minutes(training& t);
  /// Trains and scores one run.  If the run was interrupted, prints a message and returns null.
  scored_run const* train(training& t);
  std::vector<scored_run> const& all() const { return all_; }

 private:
  /// If --minutes determined the length of a resumed run, reads the length from its config.toml.
  void take_fitted();

  run_options& options_;
  std::string folder_, out_;
  int seeds_;
  std::uint64_t first_;
  std::vector<scored_run> all_;
};

/// The axis titles of the plots of all runs.  There is a plot of the loss and a plot of the validation result.  If the
/// validation title is empty, there is no validation plot.
struct plot_texts {
  std::string loss, validation{};
  bool loss_validates = false;      // the validation result is a loss, not a fraction
  std::string file = "validation";  // name of the validation plot, without .svg
};
/// Writes the plots to o.out/plots.
void write_plots(run_options const& o, std::vector<scored_run> const& runs, plot_texts const& say);

/// Returns a table with a row for each seed and part.  If there are several seeds, the table also has a row of means
/// and a row of standard errors, over the runs that have a score.
using value_text = std::string (*)(double);
std::string table_of(std::vector<scored_run> const& runs, value_text text);
/// Returns CSV with the columns seed, part, figure, value.
std::string scores_csv(std::vector<scored_run> const& runs, value_text text);

/// Returns advice about the first run that failed.  The advice depends on the losses of the run.  Returns an empty text
/// if no run failed.
std::string remedy_of(std::vector<scored_run> const& runs);

/// Returns did_not_reach if a run failed; otherwise all_well.
int status_of(std::vector<scored_run> const& runs);

}  // namespace triad::programs
