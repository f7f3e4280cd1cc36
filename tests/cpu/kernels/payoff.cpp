// Tests the decision whether helper threads are worthwhile. Each caller has an account of the time that helpers save
// and cost.
// SPDX-License-Identifier: Apache-2.0
#include "triad/cpu/kernels/payoff.hpp"

#include "tests/catch.hpp"

namespace cpu_payoff_tests {

using namespace triad;

cpu::detail::nanoseconds processor = 0;  // processor time of the account's thread
cpu::detail::nanoseconds read_processor() { return processor; }

/// A caller with an account.  Times are in microseconds.
struct caller {
  cpu::detail::payoff account{read_processor};
  cpu::detail::nanoseconds at = 1'000'000'000;

  bool alone() const { return account.alone(at); }
  /// Simulates a call with two tasks. The caller runs one task, which takes the wall-clock time `own` and the processor
  /// time `used`. Another thread runs the other task. The caller then sleeps for the time `waited`.
  void call(index_t own, index_t used, index_t waited) {
    account.begin(at);
    auto const start = at, stopped = start + own * 1000;
    at = stopped + waited * 1000;
    processor += used * 1000;
    account.end(start, start, stopped, at, 1, 1, waited * 1000);
  }
};

TEST_CASE("help that saves more than waiting for it takes is kept, through a rare delay too") {
  caller c;
  for (int i = 0; i < 1000; ++i) {
    c.call(1000, 1000, i % 50 == 49 ? 7000 : 100);
    REQUIRE_FALSE(c.alone());
  }
}

TEST_CASE(
    "who waits longer for help than it saves works alone, each time for longer, and is soon back when help pays "
    "again") {
  caller c;
  auto const pause = [&] {
    REQUIRE(c.alone());
    auto const from = c.at;
    while (c.alone()) c.at += 1'000'000;
    return (c.at - from) / 1'000'000;
  };
  auto const until_alone = [&](index_t own, index_t used, index_t waited) {
    for (int i = 0; i < 100 && !c.alone(); ++i) c.call(own, used, waited);
    return pause();
  };
  for (index_t expected : {10, 20, 40, 80, 160, 320, 320}) CHECK(until_alone(1000, 1000, 3000) == expected);
  for (int i = 0; i < 20; ++i) c.call(1000, 1000, 0);
  CHECK_FALSE(c.alone());
  CHECK(until_alone(1000, 1000, 3000) == 10);
}

TEST_CASE("help is worth the processor time that it saves; being set aside, and time between calls, cost nothing") {
  caller set_aside;
  for (int i = 0; i < 100; ++i) {
    set_aside.call(4000, 1000, 0);
    REQUIRE_FALSE(set_aside.alone());
  }
  caller waiting;
  for (int i = 0; i < 20 && !waiting.alone(); ++i) waiting.call(4000, 1000, 2000);  // saves 1000 and costs 2000
  CHECK(waiting.alone());
  caller idle;
  for (int i = 0; i < 100; ++i) {
    idle.call(300, 300, 0);
    idle.at += 50'000'000;  // time passes while the caller sleeps
    REQUIRE_FALSE(idle.alone());
  }
}

}  // namespace cpu_payoff_tests
