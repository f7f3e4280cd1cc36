// The training loop: epochs of updates on the batches of a source, checks of the results, and callbacks.
// SPDX-License-Identifier: Apache-2.0
//
//   struct my_callbacks : run_callbacks {
//     std::optional<double> validate(epoch_record const&) { return evaluate(...).loss; }
//     run_control after_epoch(epoch_record const& e) { return e.loss < 0.01 ? run_control::stop : run_control::go_on; }
//   };
//   run_learner learner(my_trainer);
//   run(learner, [&](std::uint64_t epoch) { return batches(loader, data, add_one, {.shuffle = 1, .epoch = epoch}); },
//       {.epochs = 40, .schedule = linear_warmup{3e-3, 100, 4000}}, my_callbacks());
//
// fit() (train/fit.hpp) is a shorter interface to run().  There are two kinds of sources.  A source of the first kind
// is a function of the epoch that returns a range of inputs with their targets.
//
// A source of the second kind has a function parts(update, shares).  It returns a range over the parts of one batch
// that is too large for the memory, or that several processes share.  While the range is at a part, the learner's own
// batch holds this part.  Batches of the second kind are numbered, so a run resumes at learner.step(), even within an
// epoch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "triad/core/contracts.hpp"
#include "triad/core/errors.hpp"
#include "triad/core/finite.hpp"
#include "triad/parallel/shares.hpp"
#include "triad/train/finite_weights.hpp"
#include "triad/train/schedule.hpp"
#include "triad/train/trainer_options.hpp"

namespace triad {

/// The part of an update's batch that is in the learner's own batch.
struct batch_part {
  std::optional<index_t> begins{};  // the share that begins with this part, if any
  bool empty = false;               // whether the share has no examples
  double fraction = 1;              // the number of targets of the part, divided by the number of targets of the batch
  bool whole = true;                // whether this part is the whole batch
};

/// The results of the updates of one epoch.  A resumed epoch continues with the `updates` and `loss_sum` of its record.
struct epoch_record {
  std::uint64_t epoch = 0, updates = 0;
  double loss = 0, largest_norm = 0;  // the mean loss of the updates, with dropout; the largest norm, before clipping
  double loss_sum = 0;
  update_record last{};
  std::optional<double> validation{};  // the result of validate()

  void add(update_record const& u) {
    loss_sum += u.loss;
    loss = loss_sum / static_cast<double>(++updates);
    largest_norm = std::max(largest_norm, u.norm);
    last = u;
  }
};

/// The position in a run.  All numbers count from 0.
struct run_place {
  std::uint64_t update = 0;  // the number of the next batch in the run
  std::uint64_t attempt = 0;
  std::uint64_t in_attempt = 0;  // the number of updates made in this attempt, which decides the learning rate
  std::uint64_t epoch = 0;       // the number of the epoch, counted over all attempts
  std::uint64_t in_epoch = 0;    // updates made in this epoch; 0 if the source's range decides where an epoch ends
};

struct run_options {
  static constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

  std::uint64_t epochs = no_limit;   // the number of epochs of this run, including the rest of an interrupted epoch
  std::uint64_t first_epoch = 0;     // the number of the first epoch, if the source's range decides where an epoch ends
  std::uint64_t epoch_updates = 0;   // updates of an epoch, for parts(); an attempt's last epoch may be shorter
  std::uint64_t updates = no_limit;  // the number of updates of one attempt
  std::uint64_t attempts = 1;        // the largest number of attempts; another one begins if fits() returns false
  /// Whether fits() is called before every epoch, and not only before every attempt.  The run ends if fits() returns
  /// true.
  bool checks_fit_each_epoch = false;
  bool checks_fit_first = false;                   // whether fits() is also called before the first update of the run
  std::optional<std::uint64_t> dropout_updates{};  // updates of an attempt that have dropout; later updates have none
  learning_rate schedule = constant_rate{};        // the learning rates of the updates of an attempt
  epoch_record interrupted{};                      // the epoch in which an earlier process was interrupted
  std::string name = "run";                        // the beginning of every message

  /// Returns the position at `step`.  `made` is the number of epochs that this run has made so far.
  run_place place_of(std::uint64_t step, std::uint64_t made) const {
    auto const attempt = step / updates, done = step % updates;
    if (epoch_updates == 0) return {step, attempt, done, first_epoch + made, 0};
    auto const epochs_of_attempt = updates / epoch_updates + (updates % epoch_updates > 0 ? 1 : 0);
    return {step, attempt, done, attempt * epochs_of_attempt + done / epoch_updates, done % epoch_updates};
  }
  /// Returns true if fits() must be called before this epoch.
  bool checks_fit(run_place const& at) const {
    return at.in_epoch == 0 && (checks_fit_each_epoch || at.in_attempt == 0) && (checks_fit_first || at.update > 0);
  }
};

/// The result of a callback: go_on continues the run, and stop ends it.
enum class run_control { go_on, stop };

/// The callbacks of a run, in the order of their calls.  Derive from this struct.  The functions of the base do
/// nothing.
struct run_callbacks {
  /// Returns true if the model fits its training data, so that the run may end.
  bool fits() { return false; }
  /// Sets other initial values, because the model of the previous attempt did not fit the data.
  void begin_attempt(run_place const&) {}
  void before_epoch(run_place const&) {}
  /// Called after each update.  Returns true to stop the run, even within an epoch.  `looks` is true after the last
  /// update of an epoch, and after every learner.patience() updates.
  bool stops(bool /*looks*/) { return false; }
  /// Called for each update when the run reads the records of updates.  The run reads them after stops(true), and when
  /// it stops.
  run_control after_update(update_record const&) { return run_control::go_on; }
  void after_look(run_place const&, epoch_record const&) {}
  /// Returns a measure of the model's quality.  If there are averages, they replace the parameters during the call.
  std::optional<double> validate(epoch_record const&) { return std::nullopt; }
  run_control after_validation(double) { return run_control::go_on; }
  run_control after_epoch(epoch_record const&) { return run_control::go_on; }
  /// Called if the run stops within this epoch.
  void after_stop(epoch_record const&) {}
};

struct run_result {
  bool fits = false;     // whether fits() returned true
  bool stopped = false;  // whether a callback stopped the run
};

/// Thrown if the loss or the norm of an update is not finite, or if a weight is not finite after the update.
struct run_diverged : training_failure {
  update_record update;
  std::string weight;  // "value 0 of readout.bias is nan"; empty if the loss or the norm is not finite

  run_diverged(std::string const& text, update_record const& u, std::string bad = {})
      : training_failure(text), update(u), weight(std::move(bad)) {}
};

namespace detail {

/// A range over the numbered batches of a source with parts().
template <class Source>
class numbered_batches {
 public:
  struct iterator {
    numbered_batches const* of;
    std::uint64_t update;
    auto operator*() const { return of->source_.parts(update, of->shares_); }
    iterator& operator++() { return ++update, *this; }
    bool operator!=(iterator const& other) const { return update != other.update; }
  };

  numbered_batches(Source& source, std::uint64_t first, std::uint64_t last, share_range const& shares)
      : source_(source), first_(first), last_(last), shares_(shares) {}
  iterator begin() const { return {this, first_}; }
  iterator end() const { return {this, last_}; }

 private:
  Source& source_;
  std::uint64_t first_, last_;
  share_range shares_;
};

/// Returns those batches of the epoch that are not made yet.
template <class Learner, class Source>
decltype(auto) batches_of(Learner const& learner, Source& source, run_place const& at, run_options const& o) {
  if constexpr (requires { source.parts(at.update, learner.shares()); })
    return numbered_batches<Source>(source, at.update,
                                    at.update + std::min(o.epoch_updates - at.in_epoch, o.updates - at.in_attempt),
                                    learner.shares());
  else
    return source(at.epoch);
}

}  // namespace detail

/// Makes one update of run().  `batch` is an input with its targets, or a range of parts.  `Learner` is as for run().
template <class Learner, class Batch>
void make_update(Learner& learner, Batch&& batch, double rate) {
  if constexpr (requires { std::begin(batch); }) {
    bool finishes = false;
    for (batch_part const& part : batch) {
      if (part.whole) {
        learner.update(rate);
        continue;
      }
      if (part.begins) learner.begin_share(*part.begins);
      if (!part.empty) learner.accumulate(part.fraction);
      finishes = true;
    }
    if (finishes) learner.finish(rate);
  } else {
    auto const& [in, targets] = batch;
    learner.update(in, targets, rate);
  }
}

/// Trains until all epochs, updates or attempts are done, until a callback stops the run, or until fits() returns true.
/// `Learner` is a run_learner, or a type with the same functions.  For batches in parts, the learner must also have
/// update(rate), shares(), begin_share(share), accumulate(fraction) and finish(rate).  Throws run_diverged if a loss or
/// a norm is not finite.  At the end of an epoch, and when the run stops, also throws run_diverged if a weight is not
/// finite.  Throws training_failure if an epoch has no batches.
template <class Learner, class Source, class Callbacks = run_callbacks>
run_result run(Learner& learner, Source&& source, run_options const& o, Callbacks&& on = Callbacks()) {
  run_result result;
  epoch_record epoch = o.interrupted;
  for (std::uint64_t made = 0; made < o.epochs && !result.stopped; ++made) {
    auto at = o.place_of(learner.step(), made);
    if (at.attempt >= o.attempts) break;
    if (o.checks_fit(at) && learner.with_averages([&] { return on.fits(); })) {
      result.fits = true;
      break;
    }
    if (at.attempt > 0 && at.in_attempt == 0) on.begin_attempt(at);
    if (at.in_epoch == 0) epoch = {};
    epoch.epoch = at.epoch;
    on.before_epoch(at);
    (void)learner.records();  // removes the records of earlier updates
    auto const stop_if = [&](run_control control) { result.stopped = result.stopped || control == run_control::stop; };

    auto&& batches = detail::batches_of(learner, source, at, o);
    auto batch = std::begin(batches);
    auto const end = std::end(batches);
    if (!(batch != end))
      throw training_failure(o.name + ": epoch " + std::to_string(at.epoch) +
                             " has no batches; train(epoch) gives a range of them");
    bool ends = false;
    while (!ends && !result.stopped) {
      if (o.dropout_updates) learner.set_dropout(at.in_attempt < *o.dropout_updates);
      make_update(learner, *batch, o.schedule(at.in_attempt));
      ++batch;
      ++at.update;
      ++at.in_attempt;
      ends = !(batch != end);
      bool const looks = ends || at.update % static_cast<std::uint64_t>(learner.patience()) == 0;
      result.stopped = on.stops(looks);
      if (!looks && !result.stopped) continue;
      for (auto const& u : learner.records()) {
        if (!is_finite(u.loss) || !is_finite(u.norm))
          throw run_diverged(o.name + ": update " + std::to_string(u.step) + ", of epoch " + std::to_string(at.epoch) +
                                 ", has the loss " + number_text(u.loss) + " and a gradient of norm " +
                                 number_text(u.norm) +
                                 "; lower the learning rate, warm it up, or clip gradients (max_norm)",
                             u);
        epoch.add(u);
        stop_if(on.after_update(u));
      }
      // After the last update, the weights are evaluated or saved.  No loss was computed with these weights, so they
      // are checked here.
      if (auto const bad = ends || result.stopped ? learner.not_finite() : std::string(); !bad.empty())
        throw run_diverged(o.name + (ends ? ": after epoch " : ": within epoch ") + std::to_string(at.epoch) + ": " +
                               diverged_text(bad),
                           epoch.last, bad);
      on.after_look(at, epoch);
    }
    if (!ends) {
      on.after_stop(epoch);
      break;
    }
    epoch.validation = learner.with_averages([&] { return on.validate(epoch); });
    if (epoch.validation) stop_if(on.after_validation(*epoch.validation));
    stop_if(on.after_epoch(epoch));
  }
  return result;
}

/// Lets run() use a trainer, optionally with averages of its parameters.  Every update also updates the averages.
/// During fits() and validate(), the averages replace the parameters.
template <class Trainer, class Averages = void>
class run_learner {
 public:
  explicit run_learner(Trainer& t)
    requires std::is_void_v<Averages>
      : trainer_(t) {}
  template <class A>
  run_learner(Trainer& t, A& averages) : trainer_(t), averages_(&averages) {}

  std::uint64_t step() const { return trainer_.step(); }
  template <class Input, class Answers>
  void update(Input const& in, Answers const& targets, double rate) {
    trainer_.update(in, targets, rate);
    if constexpr (!std::is_void_v<Averages>) averages_->update();
  }
  std::vector<update_record> const& records() {
    trainer_.records(records_);
    return records_;
  }
  /// run() reads the records after this number of updates.  The trainer keeps as many records.
  static constexpr index_t patience() { return Trainer::history_rows; }
  /// Returns a text with the name of the first weight that is not finite, or of the first average.  Returns an empty
  /// text if all weights and averages are finite.
  std::string not_finite() const {
    auto bad = not_finite_text(first_not_finite(trainer_.parameters()));
    if constexpr (!std::is_void_v<Averages>)
      if (bad.empty() && averages_->count() > 0)
        bad = not_finite_text(first_not_finite(averages_->values(), averages_->where()), "the average of ");
    return bad;
  }
  void set_dropout(bool drops) { trainer_.set_dropout(drops); }
  /// Runs work().  If there are averages, they replace the parameters during the call.
  template <class Work>
  auto with_averages(Work&& work) {
    if constexpr (!std::is_void_v<Averages>)
      if (averages_->count() > 0) return averages_->in_use(work);
    return work();
  }

 private:
  Trainer& trainer_;
  Averages* averages_ = nullptr;
  std::vector<update_record> records_;
};
template <class Trainer>
run_learner(Trainer&) -> run_learner<Trainer>;
template <class Trainer, class Averages>
run_learner(Trainer&, Averages&) -> run_learner<Trainer, Averages>;

}  // namespace triad
