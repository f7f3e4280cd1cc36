// A parallel loop over tasks.  Each task runs once, on any of the threads.
// SPDX-License-Identifier: Apache-2.0
//
// The threads belong to the pool (cpu/kernels/pool.hpp), or to the caller (cpu::backend::borrowed).  The calling thread
// runs all tasks of a short call.  In a longer call, threads of the pool run tasks too, if they have saved time in
// earlier calls (cpu/kernels/payoff.hpp).  Borrowed threads run tasks of every longer call.
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
    char const* const wanted = std::getenv("OMP_NUM_THREADS");  // other programs use this variable too
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

/// The time of one task of a call, measured when the call was last executed.  Each call in the source code has its own
/// task_time.  The initial value is large, so that several threads run the first execution of the call.
class task_time {
 public:
  double known() const { return nanoseconds_.load(std::memory_order_relaxed); }
  /// Stores a new time, but at least half of the old time.  So the task_time stays large for a while if short calls
  /// follow a long call.
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
    // Reads the clock after 1, 2, 4 ... tasks, because a task may take more time than in the last execution.  Without
    // helpers, a task may take less time.
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
  // If the helpers ran all tasks, the time of a task is estimated from the time of the helpers.  Without this estimate,
  // the caller would always call helpers.
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

/// Calls f(task, thread) for every task in [0, tasks), where `thread` is less than ex.threads.  Tasks must not depend
/// on each other, and their results must not depend on the thread.  All tasks treat denormal numbers as zero.  If a
/// task calls parallel_for, all tasks of the inner call run on the thread of the outer task, with thread 0.  If tasks
/// throw, parallel_for rethrows one exception.  With one thread, parallel_for rethrows the first exception, and the
/// later tasks do not run.  With several threads, all tasks run, and parallel_for rethrows the exception of the task
/// with the lowest number.
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

/// Calls f(first, count, thread) for blocks of `block` rows.  The last block may have fewer rows.
template <class F>
void parallel_rows(backend& ex, index_t rows, index_t block, F&& f) {
  parallel_for(ex, (rows + block - 1) / block, [&](index_t task, int thread) {
    index_t const first = task * block;
    f(first, std::min(block, rows - first), thread);
  });
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
