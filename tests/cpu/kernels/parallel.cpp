// Tasks in parallel: each once, wherever; and nobody waits for a thread that does not come.
// SPDX-License-Identifier: Apache-2.0
#include "triad/cpu/kernels/parallel.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/catch.hpp"

namespace {

using namespace triad;

/// Whether every task of a call ran once, with the number of a thread that there is.
bool each_once(cpu::backend& ex, index_t tasks) {
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

/// Whether `done` became true within half a minute.
template <class F>
bool soon(F&& done) {
  auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!done() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  return done();
}

/// f() on a thread of its own, whose account is new.
template <class F>
void on_a_new_thread(F&& f) {
  std::thread(f).join();
}

TEST_CASE("every task of a call in parallel runs once, whatever the numbers of threads and tasks") {
  for (int threads : {1, 2, 3, 8}) {
    cpu::backend ex(threads);
    for (index_t tasks : {0, 1, 2, 3, 7, 8, 9, 1000}) {
      CAPTURE(threads, tasks);
      bool right = true;
      for (int i = 0; i < 50; ++i) right = each_once(ex, tasks) && right;
      CHECK(right);
    }
  }
}

TEST_CASE("two tasks of a call run at the same time, by threads of different numbers") {
  bool met[2] = {false, false};
  int number[2] = {-1, -1};
  on_a_new_thread([&] {
    cpu::backend ex(2);
    std::atomic<int> begun = 0;
    cpu::parallel_for(ex, 2, [&](index_t task, int thread) {
      number[task] = thread;
      ++begun;
      met[task] = soon([&] { return begun == 2; });
    });
  });
  CHECK((met[0] && met[1]));
  CHECK(number[0] + number[1] == 1);
}

TEST_CASE("the exception of the lowest task comes out, when all tasks have run; with one thread, the first") {
  for (int threads : {1, 2, 3}) {
    cpu::backend ex(threads);
    for (int i = 0; i < 50; ++i) {
      std::atomic<int> runs = 0;
      std::string said;
      try {
        cpu::parallel_for(ex, 20, [&](index_t task, int) {
          ++runs;
          if (task % 5 == 3) throw std::runtime_error("task " + std::to_string(task));
        });
      } catch (std::runtime_error const& e) {
        said = e.what();
      }
      CAPTURE(threads, i);
      REQUIRE(said == "task 3");
      REQUIRE(runs == (threads == 1 ? 4 : 20));
    }
    CHECK(each_once(ex, 9));
  }
}

TEST_CASE("a call within a task runs all its tasks there") {
  cpu::backend ex(3);
  std::atomic<int> inner = 0, elsewhere = 0;
  cpu::parallel_for(ex, 5, [&](index_t, int) {
    auto const here = std::this_thread::get_id();
    cpu::parallel_for(ex, 7, [&](index_t, int thread) {
      ++inner;
      if (thread != 0 || std::this_thread::get_id() != here) ++elsewhere;
    });
  });
  CHECK(inner == 35);
  CHECK(elsewhere == 0);
}

TEST_CASE("callers on many threads, more than the pool has places for, all get their own tasks done") {
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

TEST_CASE("a caller does not wait for threads that have not begun, since all are busy with another call") {
  constexpr int threads = 24;  // more than any other test here asks for, so all there are
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

TEST_CASE("a call of a few microseconds stays on its thread, once that is known") {
  int alone = 0;
  on_a_new_thread([&] {
    cpu::backend ex(2);
    auto const here = std::this_thread::get_id();
    for (int i = 0; i < 1000; ++i) {
      std::atomic<int> elsewhere = 0;
      cpu::parallel_for(ex, 4, [&](index_t, int) {
        if (std::this_thread::get_id() != here) ++elsewhere;
      });
      if (elsewhere == 0) ++alone;
    }
  });
  CHECK(alone > 900);  // all but the first few, and those after the system stopped this thread
}

#if !defined(__SANITIZE_THREAD__)  // which refuses threads after a fork
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

TEST_CASE("the threads asked for with OMP_NUM_THREADS, or one for each processor, are the default") {
  char const* const wanted = std::getenv("OMP_NUM_THREADS");
  int const number = wanted ? std::atoi(wanted) : 0;
  CHECK(cpu::backend().threads == (number > 0 ? number : cpu::detail::processors()));
  CHECK(cpu::backend(5).threads == 5);
}

// ---- the account of help
// ----------------------------------------------------------------------------------------------

cpu::detail::nanoseconds processor = 0;  // of the thread that the account is of
cpu::detail::nanoseconds read_processor() { return processor; }

/// A caller with an account; times in microseconds.
struct caller {
  cpu::detail::payoff account{read_processor};
  cpu::detail::nanoseconds at = 1'000'000'000;

  bool alone() const { return account.alone(at); }
  /// A call in which he runs one task for `own` of the clock, `used` of the processor, another thread one, and he then
  /// sleeps for `waited`.
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
    idle.at += 50'000'000;  // asleep
    REQUIRE_FALSE(idle.alone());
  }
}

}  // namespace
