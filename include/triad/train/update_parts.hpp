// An update whose batch comes in parts and in shares: what has begun of it, and what may come next.
// SPDX-License-Identifier: Apache-2.0
//
//   update_parts at(shares);
//   at.begin(share), at.add(fraction), ..., at.expect_all(processes), at.forget();
//
// Of one share nothing is begun: parts are the update's own.  It counts on the host and computes nothing.
#pragma once

#include <cstdint>
#include <string>

#include "triad/core/contracts.hpp"
#include "triad/core/finite.hpp"
#include "triad/core/mdspan.hpp"
#include "triad/parallel/shares.hpp"

namespace triad {

/// State of a trainer, which its messages name.
class update_parts {
 public:
  explicit update_parts(share_range const& shares) : shares_(shares) {}

  /// Those that this process computes.
  share_range const& shares() const { return shares_; }
  bool in_share() const { return share_ >= 0; }
  bool in_first_share() const { return share_ == shares_.first; }
  /// Whether the next part is the first of its share, or of its update.
  bool is_first() const { return parts_ == 0; }
  /// The next part: no two of an update share it.
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
  /// Checks that nothing is missing.  Fractions sum to 1, or to 0 where nothing was asked; of several processes each
  /// knows its own alone.
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
  /// Sums over the parts of the share that has begun.
  void end_share() { parts_ = 0; }
  void forget() { parts_ = 0, share_ = -1, fractions_ = 0; }

 private:
  share_range shares_;
  std::uint32_t parts_ = 0;  // of the share that has begun, or of the update
  index_t share_ = -1;       // that has begun
  double fractions_ = 0;     // of all parts so far
};

}  // namespace triad
