// The training loop: epochs of updates on the batches of a source, checks of their results, and callbacks.
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
// fit() (train/fit.hpp) is its short form.  A source is a function of the epoch that gives a range of inputs with their
// answers; or it has parts(update, shares), the range of the parts of a batch that is too large for the memory, or that
// several processes share: each part is in the learner's own batch while the range stands at it.  Batches of the second
// kind have a number, and a run goes on from learner.step(), within an epoch too.
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

/// Which part of an update's batch the learner's batch holds.
struct batch_part {
  std::optional<index_t> begins{};  // the share whose first part it is, of a batch in shares
  bool empty = false;               // that share has no examples
  double fraction = 1;              // of the answers that are asked for
  bool whole = true;                // nothing is left for another part
};

/// Results of the updates of one epoch.  An interrupted epoch goes on with updates and loss_sum.
struct epoch_record {
  std::uint64_t epoch = 0, updates = 0;
  double loss = 0, largest_norm = 0;  // the mean over updates, with dropout; before clipping
  double loss_sum = 0;
  update_record last{};
  std::optional<double> validation{};  // what validate() said of it

  void add(update_record const& u) {
    loss_sum += u.loss;
    loss = loss_sum / static_cast<double>(++updates);
    largest_norm = std::max(largest_norm, u.norm);
    last = u;
  }
};

/// The position of a run; all numbers from 0.
struct run_place {
  std::uint64_t update = 0;  // of the run: the number of the next batch
  std::uint64_t attempt = 0;
  std::uint64_t in_attempt = 0;  // updates of this attempt that were made, by which the rate goes
  std::uint64_t epoch = 0;       // over all attempts
  std::uint64_t in_epoch = 0;    // updates of this epoch that were made; 0 where the source's range ends an epoch
};

struct run_options {
  static constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

  std::uint64_t epochs = no_limit;   // that are made, the rest of an interrupted one included
  std::uint64_t first_epoch = 0;     // its number, where the source's range ends an epoch
  std::uint64_t epoch_updates = 0;   // of a source with parts(); the last epoch of an attempt may be shorter
  std::uint64_t updates = no_limit;  // of an attempt
  std::uint64_t attempts = 1;        // another begins where fits() says no
  /// fits() is asked before every epoch and ends the run, not only between attempts.
  bool checks_fit_each_epoch = false;
  bool checks_fit_first = false;                   // before the first update of all, too
  std::optional<std::uint64_t> dropout_updates{};  // of an attempt: later ones have no dropout
  learning_rate schedule = constant_rate{};        // of updates of an attempt
  epoch_record interrupted{};                      // the epoch in which an earlier process was interrupted
  std::string name = "run";                        // who speaks in messages

  /// made: epochs of this run.
  run_place place_of(std::uint64_t step, std::uint64_t made) const {
    auto const attempt = step / updates, done = step % updates;
    if (epoch_updates == 0) return {step, attempt, done, first_epoch + made, 0};
    auto const epochs_of_attempt = updates / epoch_updates + (updates % epoch_updates > 0 ? 1 : 0);
    return {step, attempt, done, attempt * epochs_of_attempt + done / epoch_updates, done % epoch_updates};
  }
  /// Whether fits() is asked before this epoch.
  bool checks_fit(run_place const& at) const {
    return at.in_epoch == 0 && (checks_fit_each_epoch || at.in_attempt == 0) && (checks_fit_first || at.update > 0);
  }
};

/// The result of a callback: go on, or stop the run.
enum class run_control { go_on, stop };

/// Callbacks of a run, in this order.  Derive from it; a callback that is not declared anew does nothing.
struct run_callbacks {
  /// Whether the model fits its training data, so that nothing is left to do.
  bool fits() { return false; }
  /// Other first values, since those of the attempt before did not lead to a model that fits.
  void begin_attempt(run_place const&) {}
  void before_epoch(run_place const&) {}
  /// Whether the run stops after this update, within an epoch too; asked after each.  looks: this is the last of an
  /// epoch, or of learner.patience() updates.
  bool stops(bool /*looks*/) { return false; }
  /// Called when the run reads its records, with all updates since the last time.
  run_control after_update(update_record const&) { return run_control::go_on; }
  void after_look(run_place const&, epoch_record const&) {}
  /// How good or bad the model is, with the averages in the place of the parameters where there are some.
  std::optional<double> validate(epoch_record const&) { return std::nullopt; }
  run_control after_validation(double) { return run_control::go_on; }
  run_control after_epoch(epoch_record const&) { return run_control::go_on; }
  /// Called where the run stops within this epoch.
  void after_stop(epoch_record const&) {}
};

struct run_result {
  bool fits = false;     // since fits() said so
  bool stopped = false;  // since a callback did
};

/// Thrown where a loss or a norm of an update, or a weight after it, is not finite.
struct run_diverged : training_failure {
  update_record update;
  std::string weight;  // "value 0 of readout.bias is nan"; empty where the loss or the norm is not finite

  run_diverged(std::string const& text, update_record const& u, std::string bad = {})
      : training_failure(text), update(u), weight(std::move(bad)) {}
};

namespace detail {

/// The batches of a source with parts(), by their numbers.
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

/// The rest of an epoch.
template <class Learner, class Source>
decltype(auto) batches_of(Learner const& learner, Source& source, run_place const& at, run_options const& o) {
  if constexpr (requires { source.parts(at.update, learner.shares()); })
    return numbered_batches<Source>(source, at.update,
                                    at.update + std::min(o.epoch_updates - at.in_epoch, o.updates - at.in_attempt),
                                    learner.shares());
  else
    return source(at.epoch);
}

/// One update: on an input with its answers, or on a batch in parts.
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

}  // namespace detail

/// Trains until the epochs, the updates or the attempts end, a callback stops it or fits() says that nothing is left.
/// Learner: a run_learner, or what has its functions; for batches in parts update(rate), shares(), begin_share(share),
/// accumulate(fraction) and finish(rate) too.  Throws run_diverged where a loss, a norm, or, at the end of an epoch or
/// where the run stops, a weight is not finite; training_failure where an epoch has no batches.
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
    (void)learner.records();  // those of before are not the run's
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
      detail::make_update(learner, *batch, o.schedule(at.in_attempt));
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
      // What the last update made is judged or kept, and has had no loss yet.
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

/// A trainer, as run() asks it, and averages of its parameters, if there are some: they take in every update, and stand
/// in for the parameters while those are asked what they are worth.
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
  /// Updates between two looks: as many as a trainer remembers.
  static constexpr index_t patience() { return Trainer::history_rows; }
  /// The first weight, or average of one, that is not finite, in words; empty where all are finite.
  std::string not_finite() const {
    auto bad = not_finite_text(first_not_finite(trainer_.parameters()));
    if constexpr (!std::is_void_v<Averages>)
      if (bad.empty() && averages_->count() > 0)
        bad = not_finite_text(first_not_finite(averages_->values(), averages_->where()), "the average of ");
    return bad;
  }
  void set_dropout(bool drops) { trainer_.set_dropout(drops); }
  /// Runs work() with the averages as the parameters.
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
