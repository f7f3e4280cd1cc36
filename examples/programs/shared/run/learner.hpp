// The interface of a model in training, on any backend. With it, the training loops of a program are compiled only
// once.
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

/// The content of a checkpoint other than parameters and moments; JSON texts if not stated otherwise.
struct run_record {
  std::string configuration;  // options that determine the model's shape; must be the same when loaded
  std::string vocabulary;     // must be the same when loaded
  std::string settings;       // lines "name = value" of what training computes; must be the same in a resumed run
  std::string notes{};        // data that the run stores for its own use
  bool resumes = false;
};

/// Throws data_error if the settings `was` of the checkpoint at `path` differ from those of this run, `is`.
void expect_same_settings(std::string const& path, std::string const& was, std::string const& is);

class learner {
 public:
  virtual ~learner() = default;

  /// Makes one optimiser step on the current batch.
  virtual void update(double rate) = 0;
  /// Adds the gradients of the current batch, which is one part of an update.  fraction: the number of answers in the
  /// part, divided by the number of answers in the update.  finish() then makes the optimiser step.
  virtual void accumulate(double fraction) = 0;
  /// Returns the shares of a batch that this process computes.  Call begin_share() for each share, in order, before its
  /// parts.
  virtual share_range shares() const = 0;
  virtual void begin_share(index_t share) = 0;
  virtual void finish(double rate) = 0;
  /// Does the work of an update without changing the parameters, so that the time of an update can be measured.
  virtual void rehearse() = 0;
  /// Returns the results of the updates since the last call.  On a device, this call waits until these updates are
  /// finished. So it is made only every `patience()` updates.
  virtual std::vector<update_record> const& records() = 0;
  virtual int patience() const = 0;
  /// Describes which library computes the products, with its measured speed; empty if a device computes them.
  virtual std::string products() const { return {}; }

  virtual void initialize(std::uint64_t seed) = 0;
  /// Keeps moving averages of the weights with this decay, from the next update on.  After that, save() and load()
  /// include the averages.
  virtual void keep_averages(double decay) = 0;
  /// Sets whether updates have dropout, from the next update on.
  virtual void set_dropout(bool drops) = 0;
  /// Sets new initial values, and sets moments and averages to zero.  The number of updates made is kept.
  virtual void begin_anew(std::uint64_t seed) = 0;
  virtual void save(std::string const& path, run_record const& record) = 0;
  /// Restores the learner from a checkpoint.  Returns the notes that save() stored in it.
  virtual std::string load(checkpoint const& file, run_record const& record) = 0;

  /// Returns a description of the first weight or average that is not finite; empty if all are finite.  The losses do
  /// not show this, because the loss of the last update was computed before the weights were changed.
  virtual std::string not_finite() const = 0;

  /// Returns a digest of parameters, moments and averages.  Two learners with the same bits have the same digest.
  virtual std::string digest() const = 0;
  virtual std::uint64_t step() const = 0;
  virtual trainer_bytes bytes() const = 0;
  virtual index_t parameters() const = 0;

  /// Calls work().  If the run keeps averages, the weights are replaced by the averages during the call, and are
  /// restored afterwards, even after an exception.
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
