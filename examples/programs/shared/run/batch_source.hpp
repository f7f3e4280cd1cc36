// Divides the batch of an update into parts, each of which fits into the learner's memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <stdexcept>

#include "triad/train/run.hpp"

namespace triad::programs {

/// The training data of a program.  A derived class says which examples each update has, and how an example is added to
/// a batch.
class batch_source {
 public:
  virtual ~batch_source() = default;

  class part_range;
  /// The batch of an update is divided into shares, and each process computes some of the shares.  A share is divided
  /// into parts that fit into memory: a new part begins at each example that no longer fits.  Returns the parts of
  /// these shares, in order.  The parts depend only on the examples and the memory.
  part_range parts(std::uint64_t update, share_range const& shares);

 protected:
  /// Prepares the examples of this update, and returns their number.
  virtual std::size_t begin_update(std::int64_t update) = 0;
  /// Clears the learner's batch.
  virtual void clear() = 0;
  /// Adds an example of the update to the batch.  Returns false if the example does not fit.
  virtual bool add(std::size_t example) = 0;
  /// Returns the number of answers that the loss of an example is a mean over.
  virtual double answer_count(std::size_t /*example*/) { return 1; }
  /// Returns true if a share may have several parts.  If it may not, every share must fit into memory, or next() throws
  /// logic_error.
  virtual bool may_cut() const { return false; }
};

/// A range that can be iterated once: its iterators share one state.
class batch_source::part_range {
 public:
  part_range(batch_source& of, std::uint64_t update, share_range const& shares)
      : of_(&of), update_(static_cast<std::int64_t>(update)), shares_(shares), share_(shares.first) {}

  class iterator {
   public:
    explicit iterator(part_range& of) : of_(&of) {}
    batch_part const& operator*() const { return of_->part_; }
    iterator& operator++() { return of_->next(), *this; }
    bool operator!=(std::default_sentinel_t) const { return !of_->ended_; }

   private:
    part_range* of_;
  };

  iterator begin() {
    count_ = of_->begin_update(update_);
    for (std::size_t i = 0; i < count_; ++i) all_ += of_->answer_count(i);
    next();
    return iterator(*this);
  }
  static std::default_sentinel_t end() { return {}; }

 private:
  /// Fills the learner's batch with the next part.
  void next() {
    part_ = {};
    if (in_share_ && next_ == last_) {
      in_share_ = false;
      ended_ = ++share_ == shares_.last;
      if (ended_) return;
    }
    bool const several = shares_.all > 1;
    if (!in_share_) {
      auto const here = examples_of_share(share_, shares_.all, count_);
      next_ = here.first;
      last_ = here.last;
      in_share_ = true;
      is_cut_ = several;
      if (several) part_.begins = share_;
      part_.empty = several && next_ == last_;
    }
    double here = 0;
    auto const first = next_;
    if (!part_.empty) of_->clear();
    for (; next_ < last_ && of_->add(next_); ++next_) here += of_->answer_count(next_);
    if (next_ < last_) {
      if (!of_->may_cut()) throw std::logic_error("a batch within its bounds has no room");
      if (next_ == first) throw std::logic_error("an example within the bounds of a batch has no room of its own");
      is_cut_ = true;
    }
    if (!is_cut_) return;
    part_.whole = false;
    part_.fraction = all_ > 0 ? here / all_ : 0;
  }

  batch_source* of_;
  std::int64_t update_;
  share_range shares_;
  index_t share_;
  // The number of examples of the update, the next example, and the end of the current share.
  std::size_t count_ = 0, next_ = 0, last_ = 0;
  double all_ = 0;  // the number of answers of the update
  bool in_share_ = false, is_cut_ = false, ended_ = false;
  batch_part part_;
};

inline batch_source::part_range batch_source::parts(std::uint64_t update, share_range const& shares) {
  return {*this, update, shares};
}

/// Returns the largest number of parts of an update in [first, last).
inline int most_parts(batch_source& source, std::int64_t first, std::int64_t last, index_t shares = 1) {
  int most = 0;
  for (auto update = first; update < last; ++update) {
    int parts = 0;
    for (auto const& part : source.parts(static_cast<std::uint64_t>(update), {shares, 0, shares}))
      parts += part.empty ? 0 : 1;
    most = std::max(most, parts);
  }
  return most;
}

}  // namespace triad::programs
