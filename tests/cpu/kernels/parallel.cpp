// Tests parallel tasks: each task runs once, on any thread. Short calls stay on the caller's thread. Exceptions reach
// the caller.
// SPDX-License-Identifier: Apache-2.0
#include "triad/cpu/kernels/parallel.hpp"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/catch.hpp"
#include "tests/cpu/kernels/tasks.hpp"

namespace cpu_parallel_tests {

using namespace triad;
using test::each_once, test::lender, test::on_a_new_thread, test::soon;

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

TEST_CASE("borrowed threads run every task once, nested calls included, and hand exceptions on") {
  for (auto const lend : {&lender::lend, &lender::in_turn})
    for (int threads : {2, 3, 8}) {
      cpu::backend ex(threads);
      ex.borrowed = lend;
      for (index_t tasks : {0, 1, 2, 7, 100}) {
        CAPTURE(threads, tasks);
        CHECK(each_once(ex, tasks));
      }
      std::atomic<int> inner = 0;
      std::atomic<bool> alone = true;
      cpu::parallel_for(ex, 6, [&](index_t, int) {
        cpu::parallel_for(ex, 5, [&](index_t, int thread) { ++inner, alone = alone && thread == 0; });
      });
      CHECK(inner == 30);
      CHECK(alone);
      CHECK_THROWS_WITH(cpu::parallel_for(ex, 20,
                                          [&](index_t task, int) {
                                            if (task % 5 == 3) throw std::runtime_error("task " + std::to_string(task));
                                          }),
                        "task 3");
    }
}

TEST_CASE("borrowed threads are asked for where a call is long, and not where it is short") {
  cpu::backend ex(2);
  ex.borrowed = &lender::lend;
  auto const short_call = [&] { cpu::parallel_for(ex, 2, [](index_t, int) {}); };
  short_call();  // no task has been timed yet
  for (int i = 0; i < 40; ++i) short_call();
  int const before = lender::calls;
  short_call();
  CHECK(lender::calls == before);
  auto const long_call = [&] {
    cpu::parallel_for(ex, 2, [](index_t, int) { std::this_thread::sleep_for(std::chrono::microseconds(200)); });
  };
  long_call();
  CHECK(lender::calls == before + 1);
}

TEST_CASE("the exception of the lowest task comes out, when all tasks have run; with one thread, the first") {
  for (int threads : {1, 2, 3}) {
    cpu::backend ex(threads);
    for (int i = 0; i < 50; ++i) {
      std::atomic<int> runs = 0;
      std::string message;
      try {
        cpu::parallel_for(ex, 20, [&](index_t task, int) {
          ++runs;
          if (task % 5 == 3) throw std::runtime_error("task " + std::to_string(task));
        });
      } catch (std::runtime_error const& e) {
        message = e.what();
      }
      CAPTURE(threads, i);
      REQUIRE(message == "task 3");
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
  CHECK(alone > 900);  // all except the first few, and those after a suspension of this thread
}

}  // namespace cpu_parallel_tests
