// Tests the thread pool of the process with concurrent callers, with threads that are busy with other calls, and in
// forked processes.
// SPDX-License-Identifier: Apache-2.0
#include "triad/cpu/kernels/pool.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "tests/catch.hpp"
#include "tests/cpu/kernels/tasks.hpp"

namespace cpu_pool_tests {

using namespace triad;
using cpu::detail::pool;
using test::each_once, test::on_a_new_thread, test::soon;

TEST_CASE("callers on many threads all get their own tasks done") {
  cpu::backend const shared(2);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> callers;
  for (int c = 0; c < 12; ++c)
    callers.emplace_back([&, c] {
      cpu::backend mine = shared;
      for (int i = 0; i < 100; ++i) {
        index_t const tasks = 2 + (c + i) % 9;
        std::vector<index_t> found(static_cast<std::size_t>(tasks), -1);
        cpu::parallel_for(mine, tasks, [&](index_t task, int) { found[static_cast<std::size_t>(task)] = task * c; });
        for (index_t task = 0; task < tasks; ++task)
          if (found[static_cast<std::size_t>(task)] != task * c) ++wrong;
      }
    });
  for (auto& caller : callers) caller.join();
  CHECK(wrong == 0);
}

TEST_CASE("callers at once, more than the pool has places for, all get their own tasks done") {
  constexpr int callers = 12;
  std::atomic<int> begun = 0;
  std::atomic<bool> full = false, done = false;
  std::vector<index_t> sums(callers, 0);
  std::vector<std::thread> all;
  for (int c = 0; c < callers; ++c)
    all.emplace_back([&, c] {
      cpu::backend ex(2);
      index_t found[3] = {};
      cpu::parallel_for(ex, 3, [&](index_t task, int) {
        found[task] = c + task;
        if (task > 0) return;
        // No call ends before all calls have begun.
        if (++begun == callers) {
          auto* const place = pool::of_process().claim();
          full = place == nullptr;
          if (place) place->give_back();
          done = true;
        }
        soon([&] { return done.load(); });
      });
      sums[static_cast<std::size_t>(c)] = found[0] + found[1] + found[2];
    });
  for (auto& caller : all) caller.join();
  CHECK(full);
  for (int c = 0; c < callers; ++c) CHECK(sums[static_cast<std::size_t>(c)] == 3 * c + 3);
}

TEST_CASE("a caller does not wait for threads that have not begun, since all are busy with another call") {
  constexpr int threads = 24;  // more than in other tests of this file, so that all threads exist
  std::atomic<int> begun = 0;
  std::atomic<bool> released = false, held = false;
  std::thread holder([&] {
    cpu::backend ex(threads);
    cpu::parallel_for(ex, threads, [&](index_t, int) {
      ++begun;
      soon([&] { return released.load(); });
    });
    held = true;
  });
  CHECK(soon([&] { return begun == threads; }));
  on_a_new_thread([&] {
    cpu::backend ex(4);
    for (int i = 0; i < 20; ++i) CHECK(each_once(ex, 50));
  });
  CHECK_FALSE(held);
  released = true;
  holder.join();
}

#if !defined(__SANITIZE_THREAD__)  // TSan refuses threads after a fork
TEST_CASE("a forked child has threads of its own, and ends") {
  cpu::backend ex(3);
  REQUIRE(each_once(ex, 100));
  std::fflush(nullptr);
  pid_t const child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(60);
    bool right = true;
    for (int i = 0; i < 20; ++i) right = each_once(ex, 100) && right;
    std::exit(right ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(each_once(ex, 100));
}
#endif

}  // namespace cpu_pool_tests
