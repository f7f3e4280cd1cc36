// The interface of a model in training on any backend. So the loops of a program are compiled once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "triad/parallel/shares.hpp"
#include "triad/train/trainer_options.hpp"

namespace triad {
class checkpoint;
}

namespace triad::programs {

/// The content of a checkpoint in addition to parameters and moments; JSON texts unless noted.
struct run_record {
  std::string configuration;  // the options that determine the model's shape; must agree
  std::string vocabulary;     // must agree
  std::string settings;       // lines "name = value": what the training computes; must agree if a run is resumed
  std::string notes{};        // data that the run stores for itself
  bool resumes = false;
};

/// Throws data_error if the settings `was` of the checkpoint at `path` differ from the settings `is` of this run.
void expect_same_settings(std::string const& path, std::string const& was, std::string const& is);

class learner {
 public:
  virtual ~learner() = default;

  /// Makes one step on the current batch.
  virtual void update(double rate) = 0;
  /// Adds the gradients of the current batch as one part of an update.  fraction: the part's share of the update's
  /// answers.  finish() then makes the step.
  virtual void accumulate(double fraction) = 0;
  /// The shares of a batch that this process computes.  begin_share() is called for each, in order, before its parts.
  virtual share_range shares() const = 0;
  virtual void begin_share(index_t share) = 0;
  virtual void finish(double rate) = 0;
  /// Does the work of an update without changing the parameters, for timing.
  virtual void rehearse() = 0;
  /// Returns the results of the updates since the last call.  On a device the call waits for these updates.  So it is
  /// made only every `patience()` updates.
  virtual std::vector<update_record> const& records() = 0;
  virtual int patience() const = 0;

  virtual void initialize(std::uint64_t seed) = 0;
  /// Keeps moving averages of the weights, with this decay, from the next update on.  save() and load() then include
  /// the averages.
  virtual void keep_averages(double decay) = 0;
  /// Sets whether updates have dropout, from the next update on.
  virtual void set_dropout(bool drops) = 0;
  /// Sets new first values and clears moments and averages.  The number of updates made is not reset.
  virtual void begin_anew(std::uint64_t seed) = 0;
  virtual void save(std::string const& path, run_record const& record) = 0;
  /// Restores the learner from a checkpoint; returns the notes that save() stored in it.
  virtual std::string load(checkpoint const& file, run_record const& record) = 0;

  /// Describes the first weight, or average, that is not finite; empty if all are finite.  The losses do not show this,
  /// because the loss of the last update was computed before its step.
  virtual std::string not_finite() const = 0;

  /// Returns a digest of parameters, moments and averages.  It is equal if all their bits are equal.
  virtual std::string digest() const = 0;
  virtual std::uint64_t step() const = 0;
  virtual trainer_bytes bytes() const = 0;
  virtual index_t parameters() const = 0;

  /// Calls work() with the averages in place of the weights, if the run keeps averages.  Restores the weights
  /// afterwards, even after an exception.
  template <class Work>
  auto with_averages(Work&& work) {
    if constexpr (std::is_void_v<std::invoke_result_t<Work&>>) {
      in_averages(work);
    } else {
      std::optional<std::invoke_result_t<Work&>> result;
      in_averages([&] { result.emplace(work()); });
      return std::move(*result);
    }
  }

 protected:
  virtual void in_averages(std::function<void()> const& work) { work(); }
};

}  // namespace triad::programs
