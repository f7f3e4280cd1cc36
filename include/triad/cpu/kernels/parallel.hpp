// A parallel loop over tasks.  Each task runs once, on any of the threads.
// SPDX-License-Identifier: Apache-2.0
//
// The threads are those of cpu/kernels/pool.hpp, or the caller's (cpu::backend::borrowed).  Threads of the pool join a
// call that is long enough, if the pool has lately saved time for the caller (cpu/kernels/payoff.hpp).  Borrowed
// threads join every call that is long enough; the record of saved time does not include them.  In all other cases the
// calling thread runs all tasks.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <type_traits>

#include "triad/core/mdspan.hpp"
#include "triad/cpu/backend.hpp"
#include "triad/cpu/kernels/denormals.hpp"
#include "triad/cpu/kernels/payoff.hpp"
#include "triad/cpu/kernels/pool.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

inline int hardware_threads() {
  static int const count = [] {
    char const* const wanted = std::getenv("OMP_NUM_THREADS");  // this variable sets the number of threads in other
                                                                // programs too
    long const number = wanted ? std::strtol(wanted, nullptr, 10) : 0;
    return number > 0 ? static_cast<int>(std::min<long>(number, backend::most_threads)) : detail::processors();
  }();
  return count;
}

namespace detail {

/// A call that is expected to take longer than this time uses the threads that are awake.
inline constexpr nanoseconds worth_sharing = 5'000;
/// A call that is expected to take longer than this time also wakes sleeping threads.  A shorter call begins on the
/// caller's thread alone.
inline constexpr nanoseconds worth_waking = 20'000;

/// The time of one task in the last execution of a call; each call in the source code has its own task_time.  The
/// initial value is large, so that a call without a measurement is shared.
class task_time {
 public:
  double known() const { return nanoseconds_.load(std::memory_order_relaxed); }
  /// Stores a new time, but at least half of the old time, so that a long call among short calls is remembered.
  void note(double taken) { nanoseconds_.store(std::max(taken, known() / 2), std::memory_order_relaxed); }

 private:
  std::atomic<double> nanoseconds_{1e9};
};

/// The tasks of one call, with the first exception that a task has thrown.
template <class F>
struct task_list {
  F& f;
  std::mutex access = {};
  index_t failed = -1;  // the task with the lowest number that has thrown
  std::exception_ptr failure = nullptr;

  static void run(void* context, index_t task, int thread) {
    auto& list = *static_cast<task_list*>(context);
    try {
      list.f(task, thread);
    } catch (...) {
      std::lock_guard const lock(list.access);
      if (list.failed < 0 || task < list.failed) {
        list.failed = task;
        list.failure = std::current_exception();
      }
    }
  }
};

/// Marks this thread as inside a task during the lifetime of the object.
struct inside_scope {
  inside_scope() { inside_task = true; }
  ~inside_scope() { inside_task = false; }
  inside_scope(inside_scope const&) = delete;
  inside_scope& operator=(inside_scope const&) = delete;
};

/// Runs the tasks on up to `threads` threads.  `run` must not throw.
inline void run_tasks(int threads, index_t tasks, task_time& each, shared_call::task_function run, void* context) {
  auto& account = account_of_caller;
  nanoseconds const start = now();
  index_t done = 0;
  if (account.alone(start)) {
    while (done < tasks) run(context, done++, 0);
    return;
  }
  double expected = each.known() * static_cast<double>(tasks);
  if (expected < worth_waking) {
    // Reads the clock after 1, 2, 4 ... tasks, because tasks may take longer than last time, or less time without
    // helpers.
    for (index_t look = 1; done < tasks;) {
      run(context, done++, 0);
      if (done < look && done < tasks) continue;
      look = 2 * done;
      double const taken = static_cast<double>(now() - start) / static_cast<double>(done);
      if (done == tasks) return each.note(taken);
      expected = taken * static_cast<double>(tasks - done);
      if (expected > worth_sharing) break;
    }
  }
  auto& pool = pool::of_process();
  pool.grow(threads - 1);
  auto* const call = pool.claim();
  if (!call) {  // too many callers at the same time
    while (done < tasks) run(context, done++, 0);
    return;
  }
  int const helpers = static_cast<int>(std::min<index_t>({threads - 1, tasks - done - 1, pool::most_helpers}));
  nanoseconds const opened = done > 0 ? now() : start;
  account.begin(opened);
  call->open(helpers, done, tasks, run, context);
  pool.announce(helpers, expected > worth_waking);
  nanoseconds const began = now();
  index_t const own = call->work(0);
  nanoseconds const stopped = now();
  nanoseconds const slept = call->close(pool.may_spin(threads));
  call->give_back();
  nanoseconds const ended = now();
  account.end(opened, began, stopped, ended, own, tasks - done - own, slept);
  // If the helpers ran all tasks, the time of a task is estimated from the helpers' time.  Without an estimate, the
  // caller would always call for help.
  each.note(own > 0 ? static_cast<double>(stopped - began) / static_cast<double>(own)
                    : static_cast<double>(ended - opened) * helpers / static_cast<double>(tasks - done));
}

/// Runs the tasks on borrowed threads.  Each thread takes the next task until none is left.
inline void run_borrowed(backend const& ex, index_t tasks, task_time& each, shared_call::task_function run,
                         void* context) {
  struct shared {
    std::atomic<index_t> next{0};
    index_t const tasks;
    shared_call::task_function const run;
    void* const context;
    std::atomic<nanoseconds> longest{0};
  } all{{0}, tasks, run, context, {0}};
  auto const work = [](void* with, int worker) {
    auto& call = *static_cast<shared*>(with);
    without_denormals const here;
    inside_scope const now_inside;
    nanoseconds const began = now();
    index_t done = 0;
    for (index_t task; (task = call.next.fetch_add(1, std::memory_order_relaxed)) < call.tasks; ++done)
      call.run(call.context, task, worker);
    if (done == 0) return;
    nanoseconds const taken = (now() - began) / done;
    for (auto most = call.longest.load(); most < taken && !call.longest.compare_exchange_weak(most, taken);) {
    }
  };
  bool const alone = each.known() * static_cast<double>(tasks) < worth_sharing;
  if (alone)
    work(&all, 0);
  else
    ex.borrowed(static_cast<int>(std::min<index_t>(ex.threads, tasks)), work, &all);
  each.note(static_cast<double>(all.longest.load()));
}

}  // namespace detail

/// Calls f(task, thread) for every task in [0, tasks), with thread < ex.threads.  Tasks must not depend on each other,
/// and their results must not depend on the thread.  Denormal numbers are zero in all tasks.  A call from within a task
/// runs all its tasks on that thread, with thread 0.  If tasks throw, one exception is rethrown.  With one thread, it
/// is the first exception, and the later tasks do not run.  With several threads, all tasks run, and it is the
/// exception of the task with the lowest number.
template <class F>
void parallel_for(backend& ex, index_t tasks, F&& f) {
  without_denormals const here;
  if (tasks <= 1 || ex.threads <= 1 || detail::inside_task) {
    for (index_t task = 0; task < tasks; ++task) f(task, 0);
    return;
  }
  static detail::task_time each;
  detail::task_list<std::remove_reference_t<F>> list{f};
  if (ex.borrowed) {
    detail::run_borrowed(ex, tasks, each, &decltype(list)::run, std::addressof(list));
  } else {
    detail::inside_scope const now_inside;
    detail::run_tasks(ex.threads, tasks, each, &decltype(list)::run, std::addressof(list));
  }
  if (list.failure) std::rethrow_exception(list.failure);
}

/// Calls f(first, count, thread) for rows in equal parts of `block`.
template <class F>
void parallel_rows(backend& ex, index_t rows, index_t block, F&& f) {
  parallel_for(ex, (rows + block - 1) / block, [&](index_t task, int thread) {
    index_t const first = task * block;
    f(first, std::min(block, rows - first), thread);
  });
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
