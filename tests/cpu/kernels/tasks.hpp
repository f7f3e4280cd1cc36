// Calls with many tasks, for tests of the threads that run them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cfenv>
#include <chrono>
#include <thread>
#include <vector>

#include "triad/cpu/kernels/parallel.hpp"

namespace triad::test {

/// Returns whether every task of a call ran once, with a valid thread number.
inline bool each_once(cpu::backend& ex, index_t tasks) {
  std::vector<std::atomic<int>> runs(static_cast<std::size_t>(tasks));
  std::atomic<bool> known = true;
  cpu::parallel_for(ex, tasks, [&](index_t task, int thread) {
    ++runs[static_cast<std::size_t>(task)];
    if (thread < 0 || thread >= ex.threads) known = false;
  });
  for (auto const& count : runs)
    if (count != 1) return false;
  return known;
}

/// Returns whether `done` became true within half a minute.
template <class F>
bool soon(F&& done) {
  auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!done() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  return done();
}

/// Runs f() on a new thread, which has a new account of helper threads.
template <class F>
void on_a_new_thread(F&& f) {
  std::thread(f).join();
}

/// Threads that another program lends. New threads are made for each call, and counted. They have the default
/// floating-point environment, in which denormal numbers are not treated as zero.
struct lender {
  static inline std::atomic<int> calls = 0;
  static void lend(int workers, void (*work)(void*, int), void* context) {
    ++calls;
    std::vector<std::thread> others;
    for (int w = 1; w < workers; ++w)
      others.emplace_back([=] {
        std::fesetenv(FE_DFL_ENV);
        work(context, w);
      });
    work(context, 0);
    for (auto& other : others) other.join();
  }
  /// Runs the workers one after another on the caller's thread, as if the program lent no thread.
  static void in_turn(int workers, void (*work)(void*, int), void* context) {
    for (int w = 0; w < workers; ++w) work(context, w);
  }
};

}  // namespace triad::test
