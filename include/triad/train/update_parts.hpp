// Counts the parts and shares of an update, and checks their order.
// SPDX-License-Identifier: Apache-2.0
//
//   update_parts at(shares);
//   at.begin(share), at.add(fraction), ..., at.expect_all(processes), at.forget();
//
// If there is a single share, begin() need not be called.  The parts then belong to the update, and not to a share.
// This class only counts, on the host.  It computes nothing.
#pragma once

#include <cstdint>
#include <string>

#include "triad/core/contracts.hpp"
#include "triad/core/finite.hpp"
#include "triad/core/mdspan.hpp"
#include "triad/parallel/shares.hpp"

namespace triad {

/// The state of an update that is divided into parts.  Error messages name the trainer, which owns this object.
class update_parts {
 public:
  explicit update_parts(share_range const& shares) : shares_(shares) {}

  /// The numbers of those shares of a batch that this process computes.
  share_range const& shares() const { return shares_; }
  bool in_share() const { return share_ >= 0; }
  bool in_first_share() const { return share_ == shares_.first; }
  /// Returns true if the next part is the first part of its share.  If no share was begun, returns true if the next
  /// part is the first part of the update.
  bool is_first() const { return parts_ == 0; }
  /// The number of the next part.  All parts of an update have different numbers.
  std::uint32_t number() const {
    return parts_ * static_cast<std::uint32_t>(shares_.all) + (in_share() ? static_cast<std::uint32_t>(share_) : 0);
  }

  void expect_none() const {
    TRIAD_EXPECTS(parts_ == 0 && !in_share(),
                  "trainer: an update in parts is not finished, expected none; finish() it first");
  }
  void expect_share(index_t share) const {
    TRIAD_EXPECTS(share == (in_share() ? share_ + 1 : shares_.first) && share < shares_.last,
                  "trainer: begin_share(" + std::to_string(share) + "), expected " +
                      std::to_string(in_share() ? share_ + 1 : shares_.first) + ": a process begins its shares " +
                      std::to_string(shares_.first) + " to " + std::to_string(shares_.last - 1) +
                      " in order, once an update");
  }
  void expect_part(double fraction) const {
    TRIAD_EXPECTS(!is_nan(fraction) && fraction >= 0 && fraction <= 1,
                  "trainer: the fraction of a part is " + std::to_string(fraction) + ", expected 0 to 1");
    TRIAD_EXPECTS(shares_.all == 1 || in_share(), "trainer: a part outside of any share, expected one of " +
                                                      std::to_string(shares_.all) + " shares; begin_share() first");
  }
  /// Checks that no part is missing.  The fractions must sum to 1, or to 0 if the batch has no targets.  If there are
  /// several processes, each process knows only the fractions of its own parts.  The sum must then be at most 1.
  void expect_all(int processes) const {
    TRIAD_EXPECTS(parts_ > 0 || in_share(), "trainer: finish() of no update, expected accumulate() before it");
    TRIAD_EXPECTS(shares_.all == 1 || share_ + 1 == shares_.last,
                  "trainer: finish() after share " + std::to_string(share_) + ", expected after " +
                      std::to_string(shares_.last - 1) + ", the last share of this process");
    bool const are_all = processes == 1 && fractions_ > 0;
    TRIAD_EXPECTS(fractions_ < 1 + 1e-6 && (!are_all || fractions_ > 1 - 1e-6),
                  "trainer: the fractions of an update's parts sum to " + std::to_string(fractions_) +
                      ", expected 1; each is the answers asked for in the part, over those in the whole batch");
  }

  void begin(index_t share) { share_ = share; }
  void add(double fraction) {
    ++parts_;
    fractions_ += fraction;
  }
  /// Resets the count of parts, for the next share.
  void end_share() { parts_ = 0; }
  void forget() { parts_ = 0, share_ = -1, fractions_ = 0; }

 private:
  share_range shares_;
  std::uint32_t parts_ = 0;  // the number of parts so far, of the current share or of the update
  index_t share_ = -1;       // the current share; -1 if there is none
  double fractions_ = 0;     // the sum of the fractions of all parts so far
};

}  // namespace triad
