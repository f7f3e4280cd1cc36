// The interface of a model in training on any backend, so that a program's loops are compiled once.
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
  std::string configuration;  // what shapes the model: must agree
  std::string vocabulary;     // must agree
  std::string settings;       // lines "name = value": what the training computes; must agree where a run resumes
  std::string notes{};        // whatever the run wants back
  bool resumes = false;
};

/// A resumed run must be the run that was begun: settings of the checkpoint at `path`, and of this run.
void expect_same_settings(std::string const& path, std::string const& was, std::string const& is);

class learner {
 public:
  virtual ~learner() = default;

  /// One step on the batch that was filled.
  virtual void update(double rate) = 0;
  /// The same in parts: the batch that was filled as a part of the update's, with this fraction of all answers that are
  /// asked for; then the step.
  virtual void accumulate(double fraction) = 0;
  /// Of a batch in shares, those that this process computes; each is begun, in its order, before its parts.
  virtual share_range shares() const = 0;
  virtual void begin_share(index_t share) = 0;
  virtual void finish(double rate) = 0;
  /// Does the work of an update without changing the parameters, for timing.
  virtual void rehearse() = 0;
  /// What the updates since the last call found.  On a device this waits for them: it is asked every `patience()`
  /// updates.
  virtual std::vector<update_record> const& records() = 0;
  virtual int patience() const = 0;

  virtual void initialize(std::uint64_t seed) = 0;
  /// Keeps moving averages of the weights, with this decay, from the next update on; save() and load() have them then.
  virtual void keep_averages(double decay) = 0;
  /// Sets whether updates have dropout, from the next update on.
  virtual void set_dropout(bool drops) = 0;
  /// Other first values, and no moments and averages; updates are counted on.
  virtual void begin_anew(std::uint64_t seed) = 0;
  virtual void save(std::string const& path, run_record const& record) = 0;
  /// Returns the record's notes.
  virtual std::string load(checkpoint const& file, run_record const& record) = 0;

  /// The first weight, or average of one, that is infinite or no number, in words; empty where all are finite.  The
  /// losses of updates do not tell: that of the last one is of the weights before it.
  virtual std::string not_finite() const = 0;

  /// Of parameters, moments and averages: the same where their bits are.
  virtual std::string digest() const = 0;
  virtual std::uint64_t step() const = 0;
  virtual trainer_bytes bytes() const = 0;
  virtual index_t parameters() const = 0;

  /// work() while the averages are the weights, where a run keeps some; after it they are not, whatever it throws.
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
