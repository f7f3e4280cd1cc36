// Epochs of updates with a criterion of one's own: when to stop, and which epoch's parameters were the best.
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
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "triad/core/errors.hpp"
#include "triad/core/finite.hpp"
#include "triad/core/finite_weights.hpp"
#include "triad/train/schedule.hpp"
#include "triad/train/trainer.hpp"

namespace triad {

/// Any schedule (train/schedule.hpp), a function of the update, or a number.
class learning_rate {
 public:
  learning_rate(double rate) : rate_([rate](std::uint64_t) { return rate; }) {}
  template <class Schedule>
  requires requires(Schedule const& s) {
    { s.rate(std::uint64_t{}) } -> std::convertible_to<double>;
  }
  learning_rate(Schedule const& s) : rate_([s](std::uint64_t update) { return s.rate(update); }) {}
  template <class F>
  requires std::is_invocable_r_v<double, F const&, std::uint64_t> learning_rate(F f) : rate_(std::move(f)) {}

  /// updates are counted from 0.
  double operator()(std::uint64_t update) const { return rate_(update); }

 private:
  std::function<double(std::uint64_t)> rate_;
};

/// What the updates of one epoch found.
struct epoch_record {
  std::uint64_t epoch = 0, updates = 0;
  double loss = 0, largest_norm = 0;  // the mean over updates, with dropout; before clipping
};

struct fit_options {
  std::uint64_t epochs = 1;
  std::uint64_t first_epoch = 0;  // of a run that goes on: the number of its next epoch
  learning_rate schedule = constant_rate{};
  /// After each epoch: how bad the model is, such as its loss on other data; lower is better.  Without it the last
  /// parameters stay.
  std::function<double(epoch_record const&)> each_epoch{};
  std::uint64_t patience =
      std::numeric_limits<std::uint64_t>::max();  // epochs without a better one, after which to stop
};

struct fit_result {
  std::vector<epoch_record> epochs;                        // that were run
  std::uint64_t best_epoch = 0;                            // whose parameters the trainer has
  double best = std::numeric_limits<double>::quiet_NaN();  // what each_epoch said of it
};

namespace detail {
/// The updates of one epoch; waits for the device every history_rows of them.
template <class Learner, class Pass>
epoch_record run_epoch(Learner& learner, Pass&& pass, std::uint64_t epoch, learning_rate const& rate,
                       std::vector<update_record>& found) {
  epoch_record all{.epoch = epoch};
  auto const look = [&] {
    learner.records(found);
    for (auto const& u : found) {
      if (!is_finite(u.loss) || !is_finite(u.norm))
        throw training_failure("fit: update " + std::to_string(u.step) + ", of epoch " + std::to_string(epoch) +
                               ", has the loss " + number_text(u.loss) + " and a gradient of norm " +
                               number_text(u.norm) +
                               "; lower the learning rate, warm it up, or clip gradients (max_norm)");
      ++all.updates;
      all.loss += u.loss;
      all.largest_norm = std::max(all.largest_norm, u.norm);
    }
  };
  learner.records(found);  // those of before are not ours
  std::uint64_t waiting = 0;
  for (auto const& [in, right] : pass) {
    learner.update(in, right, rate(learner.step()));
    if (++waiting % static_cast<std::uint64_t>(Learner::history_rows) == 0) look();
  }
  look();
  if (all.updates == 0)
    throw training_failure("fit: epoch " + std::to_string(epoch) +
                           " has no batches; train(epoch) gives a range of them");
  all.loss /= static_cast<double>(all.updates);
  return all;
}
}  // namespace detail

/// Trains: train(epoch) gives the batches of an epoch, each with its answers.  With a criterion the trainer has, at the
/// end, parameters, moments and step of the epoch that it was lowest for.  A training_failure where a loss, a norm or,
/// at the end of an epoch, a weight is no finite number, after the best epoch so far was restored, and where the
/// criterion never gave a number.
template <class Learner, class Train>
fit_result fit(Learner& learner, Train&& train, fit_options const& options) {
  TRIAD_EXPECTS(options.patience > 0,
                "fit: patience is the number of epochs without a better one after which to stop; "
                "it is 1 or more");
  using snapshot = decltype(learner.snapshot());
  fit_result result;
  std::optional<snapshot> best;
  std::vector<update_record> found;
  // options.epochs may be the largest number: until patience ends.
  for (std::uint64_t made = 0; made < options.epochs; ++made) {
    auto const epoch = options.first_epoch + made;
    try {
      result.epochs.push_back(detail::run_epoch(learner, train(epoch), epoch, options.schedule, found));
      expect_finite_weights(learner, "fit: after epoch " + std::to_string(epoch));
    } catch (training_failure const&) {
      if (best) learner.restore(*best);
      throw;
    }
    if (!options.each_epoch) {
      result.best_epoch = epoch;
      continue;
    }
    double const now = options.each_epoch(result.epochs.back());
    if (is_finite(now) && !(best && now >= result.best)) {
      result.best = now;
      result.best_epoch = epoch;
      best = learner.snapshot(best ? std::move(*best) : snapshot{});
    }
    auto const since = best ? epoch - result.best_epoch : made + 1;
    if (since >= options.patience) break;
  }
  if (!options.each_epoch) return result;
  if (!best && options.epochs > 0)
    throw training_failure("fit: each_epoch has given no finite number in " + std::to_string(result.epochs.size()) +
                           " epochs, so none of them is the best; is there anything to evaluate?");
  if (best && result.best_epoch != result.epochs.back().epoch) learner.restore(*best);
  return result;
}

}  // namespace triad
