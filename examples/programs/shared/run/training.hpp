// The runs of one command: a training for each seed, their scores, and the report.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "batch_source.hpp"
#include "shared/cli/options.hpp"
#include "training_run.hpp"

namespace triad::programs {

/// Something measured: accuracy, BLEU.
struct figure {
  std::string name;
  double value;
};
/// The share of right answers to examples of one kind, in percent.
struct kind_score {
  std::string kind;
  double percent;
  long long examples;
};
/// What is measured of one part of the test data.
struct part_scores {
  std::string part;
  std::vector<figure> figures;
  long long examples = 0;
  std::vector<kind_score> kinds{};  // where there are several
};

/// The run of one seed.
struct scored_run : run_log {
  std::uint64_t seed = 0;
  std::string length{};            // the option that says how long it is
  std::vector<part_scores> parts;  // none where it diverged
};

/// A training with one seed and its data, as a program defines it.
class training : public batch_source {
 public:
  virtual learner& net() = 0;
  /// A training that must run before this one, in its own folder `first`; or null.
  virtual training* first() { return nullptr; }
  /// First values.
  virtual void initialize(std::uint64_t seed) { net().initialize(seed); }
  /// What is trained on, by number, and who asks: model, updates, epoch_updates, batch, example, record, data.  The
  /// rest of the plan is the options'.
  virtual run_plan plan() = 0;
  virtual double rate(std::int64_t update) = 0;
  /// Measures the quality of a checkpoint.
  virtual double validate() = 0;
  /// Runs a validation and discards the result, for timing.
  virtual void rehearse_validation() { (void)validate(); }
  /// The scores of the last weights on the test data.
  virtual std::vector<part_scores> score() = 0;
  /// Whether the weights answer their training examples; otherwise the next attempt begins.  Called after an attempt if
  /// another may follow.  If there are two trainings, it is called in both after every epoch but the last, and for the
  /// weights that the second begins with.
  virtual bool fits() { return true; }
  /// Whether a model with this validation score has learned its task.
  virtual bool learned(double validation) { return validation >= 0.5; }
};

/// The learning rate of an update: it rises to o.rate through o.warmup updates, then falls to 0 at the last; at each of
/// o.restarts it begins again at o.rate, and falls to 0 at the next of them or at the last update.
double linear_rate(width_options const& o, std::int64_t updates, std::int64_t update);

/// The inputs of a run besides its options.
struct run_extras {
  std::string before{};  // settings of a shorter run that it goes on from; none: it has to be the same
  std::string events{};  // folder for event files
};

/// A run with o.seed in folder `out`; nothing is written where that is empty.  A run whose loss was not finite is not
/// scored.
scored_run train_one(run_options const& o, training& t, std::string const& out, bool says_warmup = true,
                     run_extras const& extras = {});

/// The runs of o.seeds, one after the other:
///
///   for (seed_runs runs(o, o.out); runs.next();) {
///     my_training t(o, runs.out());
///     if (runs.fits_to_minutes(t)) continue;
///     auto const* const run = runs.train(t);
///     if (!run) return interrupted_status();
///   }
class seed_runs {
 public:
  /// folder: the folder of the runs, or empty.
  seed_runs(run_options& o, std::string folder);

  /// Sets o to the options of the next run only; returns false after the last one and restores o.
  bool next();
  bool is_first() const { return all_.empty(); }
  std::string const& out() const { return out_; }  // its folder
  /// Where --minutes has not been answered: the options get the length, warm-up and distance of checkpoints that fit, and
  /// the training is to be made again, of these; then next() gives the same seed.  A run that is resumed has what its
  /// config.toml says.
  bool fits_to_minutes(training& t);
  /// Trains and scores one run; returns null, after a message, if it was interrupted.
  scored_run const* train(training& t);
  std::vector<scored_run> const& all() const { return all_; }

 private:
  /// Of a resumed run whose length --minutes decided: that length.
  void take_fitted();

  run_options& options_;
  std::string folder_, out_;
  int seeds_;
  std::uint64_t first_;
  std::vector<scored_run> all_;
};

/// What plots of runs say: the loss, and what was measured after every epoch, or nothing.
struct plot_texts {
  std::string loss, validation{};
  bool loss_validates = false;      // that is a loss, and no part of one
  std::string file = "validation";  // .svg, of what was measured
};
/// Writes the plots to o.out/plots.
void write_plots(run_options const& o, std::vector<scored_run> const& runs, plot_texts const& say);

/// A row for each seed and part, and of several seeds the means with standard errors of those that have a score.
using value_text = std::string (*)(double);
std::string table_of(std::vector<scored_run> const& runs, value_text text);
/// seed,part,figure,value
std::string scores_csv(std::vector<scored_run> const& runs, value_text text);

/// A sentence about the first run that failed, of what to do: nothing where none did.  It is read off its losses.
std::string remedy_of(std::vector<scored_run> const& runs);

/// Returns did_not_reach if a run failed.
int status_of(std::vector<scored_run> const& runs);

}  // namespace triad::programs
