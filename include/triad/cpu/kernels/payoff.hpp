// Decides whether a caller uses helpers, which are other threads that run some of its tasks.  The caller uses helpers
// if they have saved more time than the caller has lost by calling them and waiting for them.
// SPDX-License-Identifier: Apache-2.0
//
// If a processor is busy with another program, a helper may be interrupted for milliseconds in the middle of a task,
// and the caller waits.  So each caller keeps an account of time:
//
//   gain = (tasks that helpers ran) (processor time that a task takes the caller) - (time to call helpers)
//          - (time to wait for them).
//
// If the account is not negative, the caller uses helpers.  If the account is negative, the caller works alone for some
// time and then tries again.  Every failure doubles this time, so that the attempts cost a few per cent at most.
// Helpers change the time of a call, but never its result.  The caller itself may be interrupted too.  The time that is
// lost in this way does not count against the helpers, because on a shared machine it is also lost without helpers.  An
// account that counted this time disabled the helpers on nearly idle machines: 50 graphs of 5 nodes then took 0.97 of
// one thread's time instead of 0.73.
#pragma once

#include <time.h>

#include <algorithm>

#include "triad/cpu/kernels/pool.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS::detail {

/// Returns the processor time of this thread, or 0 if it is not known.
inline nanoseconds processor_time() {
#if defined(CLOCK_THREAD_CPUTIME_ID)
  timespec t{};
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0)
    return static_cast<nanoseconds>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
#endif
  return 0;
}

/// The account of one thread.  Times are values of now(), in nanoseconds.  `processor` returns the thread's processor
/// time, in nanoseconds.
class payoff {
 public:
  constexpr explicit payoff(nanoseconds (*processor)() = processor_time) : processor_(processor) {}

  /// Whether the caller should work alone at time `at`.
  bool alone(nanoseconds at) const { return at < alone_until_; }

  /// Records that a call with helpers begins.
  void begin(nanoseconds at) {
    if (counting_ && at - last_ > longest_gap) settle(at, false);  // the caller may have slept between two calls
    if (counting_) return;
    counting_ = true;
    from_ = at;
    processor_from_ = processor_();
    own_ = waited_ = slept_ = 0;
    helped_ = 0;
  }

  /// Records that the call has ended.  The caller called helpers from `start` to `began`, ran `own` tasks from `began`
  /// to `stopped`, and waited from `stopped` to `end`.  The caller slept for `slept` nanoseconds of this wait.  The
  /// helpers ran `others` tasks.
  void end(nanoseconds start, nanoseconds began, nanoseconds stopped, nanoseconds end, index_t own, index_t others,
           nanoseconds slept) {
    nanoseconds const busy = stopped - began;
    own_ += busy;
    if (own > 0) helped_ += static_cast<double>(busy) / static_cast<double>(own) * static_cast<double>(others);
    waited_ += end - stopped + began - start;
    slept_ += slept;
    last_ = end;
    if (end - from_ >= window) settle(end, true);
  }

  /// The length of one entry of the account.  Reading the processor time at both ends of an entry takes 0.2 % of this
  /// time.
  static constexpr nanoseconds window = 800'000;
  static constexpr nanoseconds longest_gap = 200'000;  // the longest time between two calls of one entry
  static constexpr double credit = 8e6;                // the largest balance; it outweighs one rare delay
  static constexpr nanoseconds shortest = 10'000'000, longest = 320'000'000;  // the shortest and the longest time alone

 private:
  void settle(nanoseconds at, bool dense) {
    counting_ = false;
    auto const own = static_cast<double>(own_);
    double lost = 0;  // time that other programs took from the caller
    if (dense)
      if (nanoseconds const processor = processor_() - processor_from_; processor > 0)
        lost = std::clamp(static_cast<double>(at - from_ - processor - slept_), 0.0, own);
    double const pace = own > 0 ? (own - lost) / own : 0;
    account_ = std::min(credit, account_ + helped_ * pace - static_cast<double>(waited_));
    if (account_ < 0) {
      account_ = 0;
      alone_until_ = at + pause_;
      pause_ = std::min(longest, 2 * pause_);
    } else if (account_ >= credit) {
      pause_ = shortest;
    }
  }

  nanoseconds (*processor_)();
  bool counting_ = false;
  nanoseconds from_ = 0, processor_from_ = 0, last_ = 0, own_ = 0, waited_ = 0, slept_ = 0;
  double helped_ = 0, account_ = 0;
  nanoseconds alone_until_ = std::numeric_limits<nanoseconds>::min(), pause_ = shortest;
};

inline constinit thread_local payoff account_of_caller{};

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS::detail
