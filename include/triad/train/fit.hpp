// Trains for several epochs, stops when your own criterion no longer improves, and keeps the parameters of the best
// epoch.
// SPDX-License-Identifier: Apache-2.0
//
//   auto const train = [&](std::uint64_t epoch) {
//     return batches(loader, data, add_one, {.shuffle = 1, .epoch = epoch, .most = 60});
//   };
//   auto const found = fit(learner, train,
//                          {.epochs = 40,
//                           .schedule = linear_warmup{3e-3, 100, 4000},
//                           .each_epoch = [&](auto const&) { return evaluate(...).loss; },
//                           .patience = 6});
//
// fit() calls run() (train/run.hpp).  run() has more callbacks, and accepts batches that are divided into parts.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "triad/core/contracts.hpp"
#include "triad/core/errors.hpp"
#include "triad/core/finite.hpp"
#include "triad/train/run.hpp"
#include "triad/train/schedule.hpp"
#include "triad/train/trainer.hpp"

namespace triad {

/// A function that takes a record of the run.  If the function returns a run_control, this value decides whether the
/// run continues.
template <class Found>
class callback {
 public:
  callback() = default;
  template <class F>
    requires std::is_invocable_v<F&, Found const&>
  callback(F f) {
    if constexpr (std::is_same_v<std::invoke_result_t<F&, Found const&>, run_control>)
      function_ = std::move(f);
    else
      function_ = [f = std::move(f)](Found const& found) mutable { return f(found), run_control::go_on; };
  }
  run_control operator()(Found const& found) const { return function_ ? function_(found) : run_control::go_on; }

 private:
  std::function<run_control(Found const&)> function_;
};

struct fit_options {
  std::uint64_t epochs = 1;
  std::uint64_t first_epoch = 0;  // the number of the first epoch, for a run that is resumed
  learning_rate schedule = constant_rate{};
  /// Called after each epoch.  Returns the criterion, such as the loss on other data.  A lower value is better.
  /// Without this function, fit() keeps the last parameters.
  std::function<double(epoch_record const&)> each_epoch{};
  /// The run stops after this number of epochs without an improvement.
  std::uint64_t patience = std::numeric_limits<std::uint64_t>::max();
  callback<update_record> after_update{};  // called for each update; up to 64 records are read at once
  callback<double> after_validation{};     // called after each_epoch, with its result
  callback<epoch_record> after_epoch{};    // called after each_epoch and after_validation
};

struct fit_result {
  std::vector<epoch_record> epochs;                        // the completed epochs
  std::uint64_t best_epoch = 0;                            // the epoch whose parameters the trainer has
  double best = std::numeric_limits<double>::quiet_NaN();  // the value that each_epoch returned for best_epoch
  bool stopped = false;                                    // whether patience or a callback ended the run early
};

namespace detail {
/// Callbacks for run() that keep a snapshot of the best epoch so far.
template <class Learner>
struct fit_callbacks : run_callbacks {
  using snapshot = decltype(std::declval<Learner const&>().snapshot());

  Learner& learner;
  fit_options const& options;
  fit_result& result;
  std::optional<snapshot> best{};

  fit_callbacks(Learner& l, fit_options const& o, fit_result& r) : learner(l), options(o), result(r) {}

  std::optional<double> validate(epoch_record const& e) {
    result.epochs.push_back(e);
    if (!options.each_epoch) return std::nullopt;
    double const now = options.each_epoch(result.epochs.back());
    result.epochs.back().validation = now;
    if (is_finite(now) && !(best && now >= result.best)) {
      result.best = now;
      result.best_epoch = e.epoch;
      best = learner.snapshot(best ? std::move(*best) : snapshot{});
    }
    return now;
  }
  run_control after_update(update_record const& u) { return options.after_update(u); }
  run_control after_validation(double now) { return options.after_validation(now); }
  run_control after_epoch(epoch_record const& e) {
    if (!options.each_epoch) result.best_epoch = e.epoch;
    auto const since = best ? e.epoch - result.best_epoch : result.epochs.size();
    auto const control = options.after_epoch(e);
    return options.each_epoch && since >= options.patience ? run_control::stop : control;
  }
  void restore_best() {
    if (best && best->step != learner.step()) learner.restore(*best);
  }
};
}  // namespace detail

/// Trains a model.  train(epoch) returns the batches of an epoch, each with its targets.  If options.each_epoch is
/// given, the trainer ends with the parameters, moments and step of the epoch for which each_epoch returned the lowest
/// value.  Throws training_failure if a loss or a norm is not finite, or if a weight is not finite at the end of an
/// epoch.  In this case, the best epoch so far is restored first.  Also throws training_failure if each_epoch never
/// returned a finite value.
template <class Learner, class Train>
fit_result fit(Learner& learner, Train&& train, fit_options const& options) {
  TRIAD_EXPECTS(options.patience > 0, "fit: patience is " + std::to_string(options.patience) +
                                          ", expected 1 or more epochs without a better one, after which to stop");
  fit_result result;
  detail::fit_callbacks<Learner> on(learner, options, result);
  run_learner in_run(learner);
  try {
    result.stopped =
        run(in_run, train,
            {.epochs = options.epochs, .first_epoch = options.first_epoch, .schedule = options.schedule, .name = "fit"},
            on)
            .stopped;
  } catch (training_failure const&) {
    on.restore_best();
    throw;
  }
  if (options.each_epoch && !on.best && !result.epochs.empty())
    throw training_failure("fit: each_epoch has given no finite number in " + std::to_string(result.epochs.size()) +
                           " epochs, so none of them is the best; is there anything to evaluate?");
  on.restore_best();
  return result;
}

}  // namespace triad
