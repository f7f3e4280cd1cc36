// The interface of a model in training, on any backend.  Because of this interface, the training loops of a program are
// compiled only once.
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

/// The content of a checkpoint apart from parameters and moments.  The members are JSON texts unless the comment says
/// otherwise.
struct run_record {
  std::string configuration;  // options that determine the model's shape; the same in any run that loads it
  std::string vocabulary;     // the same in any run that loads it
  std::string settings;       // lines "name = value" that affect results; the same in a resumed run
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
  /// Adds the gradients of the current batch, which is one part of an update's batch.  `fraction` is the number of
  /// answers in the part, divided by the number of answers in the whole batch. finish() then makes the optimiser step.
  virtual void accumulate(double fraction) = 0;
  /// Returns which shares of a batch this process computes.  The caller must call begin_share() for each share, in
  /// order, before the parts of the share.
  virtual share_range shares() const = 0;
  virtual void begin_share(index_t share) = 0;
  virtual void finish(double rate) = 0;
  /// Computes an update, but does not change the parameters.  Used to measure the time of an update.
  virtual void rehearse() = 0;
  /// Returns the results of the updates since the last call.  On a device, the call waits until these updates are
  /// finished.  So records() is called only after every `patience()` updates.
  virtual std::vector<update_record> const& records() = 0;
  virtual int patience() const = 0;
  /// Returns which library computes the matrix products, with its measured speed.  Returns an empty text if a device
  /// computes them.
  virtual std::string products() const { return {}; }

  virtual void initialize(std::uint64_t seed) = 0;
  /// From the next update on, keeps moving averages of the weights with this decay. save() and load() then include the
  /// averages.
  virtual void keep_averages(double decay) = 0;
  /// Sets whether the next updates have dropout.
  virtual void set_dropout(bool drops) = 0;
  /// Sets the weights to new initial values, and moments and averages to zero.  Does not change the number of updates.
  virtual void begin_anew(std::uint64_t seed) = 0;
  virtual void save(std::string const& path, run_record const& record) = 0;
  /// Restores the learner from a checkpoint.  Returns the notes that save() stored in it.
  virtual std::string load(checkpoint const& file, run_record const& record) = 0;

  /// Describes the first weight or average that is not finite.  Returns an empty text if all are finite.  The losses do
  /// not show this, because the loss of the last update was computed before the update changed the weights.
  virtual std::string not_finite() const = 0;

  /// Returns a digest of parameters, moments and averages.  Learners whose values are bit-identical have the same
  /// digest.
  virtual std::string digest() const = 0;
  virtual std::uint64_t step() const = 0;
  virtual trainer_bytes bytes() const = 0;
  virtual index_t parameters() const = 0;

  /// Calls work().  If the run keeps averages, replaces the weights by the averages during the call, and restores the
  /// weights afterwards, even after an exception.
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
