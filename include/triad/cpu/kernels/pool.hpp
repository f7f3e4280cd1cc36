// The pool of threads of a process.  The threads of the pool run tasks for callers.  A thread sleeps if there are no
// tasks.
// SPDX-License-Identifier: Apache-2.0
//
// A caller posts a call, which is a list of tasks, and runs some of the tasks itself.  Threads of the pool enter the
// call and run other tasks.  When no task is left, the caller closes the call and waits for the threads that have
// entered it.  The caller never waits for a thread that has not entered.  So a thread costs nothing if it wakes too
// late, or if its processor is busy with another program.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "triad/core/mdspan.hpp"
#include "triad/cpu/kernels/denormals.hpp"

#if __has_include(<pthread.h>)
#include <pthread.h>
#endif
#if defined(__linux__)
#include <sched.h>
#endif

namespace triad::cpu::inline TRIAD_CPU_FLAGS::detail {

using nanoseconds = std::int64_t;

/// The longest time that a thread without work spins before it sleeps.  A caller that waits for its last tasks also
/// spins for at most this time.  Waking a thread takes about this time.
inline constexpr nanoseconds spin_time = 50'000;

inline nanoseconds now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

inline void pause_processor() {
#if defined(__SSE2__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Calls done() until it returns true, for at most `longest` nanoseconds.  Returns the last result of done().
template <class F>
bool spin_until(F&& done, nanoseconds longest) {
  nanoseconds const end = now() + longest;
  do {
    for (int i = 0; i < 16; ++i) {
      if (done()) return true;
      pause_processor();
    }
  } while (now() < end);
  return done();
}

/// The number of processors that this process may use.
inline int processors() {
#if defined(__linux__)
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) > 0) return CPU_COUNT(&allowed);
#endif
  int const known = static_cast<int>(std::thread::hardware_concurrency());
  return known > 0 ? known : 1;
}

/// True on a thread that is running a task.  A parallel call inside a task runs on the thread of the task alone.
inline constinit thread_local bool inside_task = false;

/// The state of a parallel call, which several threads use.  Later calls reuse the object.
class alignas(128) shared_call {
 public:
  using task_function = void (*)(void* context, index_t task, int thread);

  /// Takes this object for a caller.  Returns false if another caller has it.
  bool claim() { return !taken_.load(std::memory_order_relaxed) && !taken_.exchange(true, std::memory_order_acquire); }

  /// Opens the call: up to `helpers` threads may now enter it.
  void open(int helpers, index_t first, index_t tasks, task_function run, void* context) {
    run_ = run;
    context_ = context;
    next_.store(first, std::memory_order_relaxed);
    tasks_.store(tasks, std::memory_order_relaxed);
    state_.store(is_open | static_cast<std::uint32_t>(helpers) * one_place, std::memory_order_release);
  }

  /// Enters the call on a thread of the pool, and runs tasks until none is left.  Returns false if the call needs no
  /// help.
  bool help() {
    auto state = state_.load(std::memory_order_relaxed);
    do {
      if (!(state & is_open) || !(state & places) ||
          next_.load(std::memory_order_relaxed) >= tasks_.load(std::memory_order_relaxed))
        return false;
    } while (!state_.compare_exchange_weak(state, state - one_place + one_inside, std::memory_order_acq_rel,
                                           std::memory_order_relaxed));
    work(static_cast<int>((state & places) / one_place));
    auto const before = state_.fetch_sub(one_inside, std::memory_order_acq_rel);
    if ((before & inside) == one_inside && (before & waits)) state_.notify_all();
    return true;
  }

  /// Runs tasks until none is left.  Returns the number of tasks that this thread ran.
  index_t work(int thread) {
    index_t const tasks = tasks_.load(std::memory_order_relaxed);
    index_t done = 0;
    for (index_t task; (task = next_.fetch_add(1, std::memory_order_relaxed)) < tasks; ++done)
      run_(context_, task, thread);
    return done;
  }

  /// Closes the call on the thread of the caller, when no task is left.  No more threads may enter.  Waits for the
  /// threads that are inside, and returns how many nanoseconds the caller slept.
  nanoseconds close(bool spin) {
    if (!(state_.fetch_and(inside, std::memory_order_acq_rel) & inside)) return 0;
    auto const empty = [&] { return !(state_.load(std::memory_order_acquire) & inside); };
    if (spin_until(empty, spin ? spin_time : 0)) return 0;
    nanoseconds const start = now();
    for (auto state = state_.fetch_or(waits, std::memory_order_acq_rel) | waits; state & inside;
         state = state_.load(std::memory_order_acquire))
      state_.wait(state, std::memory_order_acquire);
    return now() - start;
  }

  void give_back() { taken_.store(false, std::memory_order_release); }

  /// Resets the call after a fork, because the helpers that were inside are not threads of the new process.
  void forget_helpers(bool caller_too) {
    state_.store(0);
    if (caller_too) taken_.store(false);
  }

 private:
  // The parts of state_.  All parts are in one word, so that entering, leaving and closing are one atomic step each.
  static constexpr std::uint32_t is_open = 1u << 31, waits = 1u << 30, one_place = 1u << 15, places = 0x7fffu << 15,
                                 one_inside = 1, inside = 0x7fff;

  std::atomic<std::uint32_t> state_{0};
  std::atomic<bool> taken_{false};
  task_function run_ = nullptr;
  void* context_ = nullptr;
  alignas(64) std::atomic<index_t> next_{0};
  std::atomic<index_t> tasks_{0};
};

/// All threads except those of the callers.  A thread is started when it is first needed.  The threads are joined when
/// the process ends, or when the library that contains the pool is unloaded.  After a fork, the child process begins
/// without threads.
class pool {
 public:
  static constexpr int most_helpers = 0x7ffe;

  static pool& of_process() {
    static pool only;
    return only;
  }

  /// Returns a free shared_call, or null if too many callers work at once.  A caller that gets null works alone.
  shared_call* claim() {
    for (auto& call : calls_)
      if (call.claim()) return &call;
    return nullptr;
  }

  /// Starts threads until there are at least `wanted` threads.
  void grow(int wanted) {
    if (threads_.load(std::memory_order_acquire) >= wanted) return;
    std::lock_guard const lock(growing_);
    while (threads_.load(std::memory_order_relaxed) < wanted && !ending_.load(std::memory_order_relaxed)) {
      try {
        workers_->threads.emplace_back([this] { serve(); });
      } catch (std::system_error const& e) {
        throw std::runtime_error("cpu::backend: " + std::to_string(wanted + 1) +
                                 " threads were asked for, and the system refuses number " +
                                 std::to_string(threads_.load() + 2) + " (" + e.what() + "); ask for fewer");
      }
      threads_.fetch_add(1, std::memory_order_release);
    }
  }

  /// Announces that a call was opened.  Wakes sleeping threads only if `wake` is true.
  void announce(int helpers, bool wake) {
    posted_.fetch_add(1, std::memory_order_seq_cst);
    int const asleep = wake ? asleep_.load(std::memory_order_seq_cst) : 0;
    if (helpers < asleep) {
      for (int i = 0; i < helpers; ++i) posted_.notify_one();
    } else if (asleep > 0) {
      posted_.notify_all();
    }
  }

  /// Whether there is a processor for each of `threads` threads.  A spinning thread then does not stop another thread
  /// from running.
  bool may_spin(int threads) const { return threads <= processors_; }

  pool(pool const&) = delete;
  pool& operator=(pool const&) = delete;

 private:
  struct worker_threads {
    std::vector<std::thread> threads;
    /// the threads of the parent process, if this process was forked; they are never joined and never freed
    worker_threads* of_parent = nullptr;
  };

  pool() : processors_(processors()), workers_(new worker_threads) {
#if __has_include(<pthread.h>)
    pthread_atfork([] { of_process().growing_.lock(); }, [] { of_process().growing_.unlock(); },
                   [] { of_process().begin_anew(); });
#endif
  }

  ~pool() {
    {
      std::lock_guard const lock(growing_);  // a caller on a detached thread may be starting threads at this moment
      ending_.store(true);
    }
    posted_.fetch_add(1);
    posted_.notify_all();
    bool const by_a_task = inside_task;  // if a task ends the process, its thread cannot join itself
    for (auto& thread : workers_->threads)
      if (by_a_task)
        thread.detach();
      else
        thread.join();
    if (!workers_->of_parent) delete workers_;
  }

  void begin_anew() {
    for (auto& call : calls_) call.forget_helpers(!inside_task);
    workers_ = new worker_threads{{}, workers_};
    threads_ = 0;
    asleep_ = 0;
    growing_.unlock();
  }

  void serve() {
    without_denormals const here;
    inside_task = true;
    while (true) {
      auto const seen = posted_.load(std::memory_order_seq_cst);
      if (ending_.load(std::memory_order_relaxed)) return;
      bool helped = false;
      for (auto& call : calls_) helped = call.help() || helped;
      if (helped) continue;
      if (spin_until([&] { return posted_.load(std::memory_order_relaxed) != seen; },
                     may_spin(threads_.load(std::memory_order_relaxed) + 1) ? spin_time : 0))
        continue;
      asleep_.fetch_add(1, std::memory_order_seq_cst);
      posted_.wait(seen, std::memory_order_seq_cst);
      asleep_.fetch_sub(1, std::memory_order_relaxed);
    }
  }

  std::array<shared_call, 8> calls_;
  alignas(128) std::atomic<std::uint32_t> posted_{0};  // the number of posted calls; sleeping threads wait for a change
  alignas(128) std::atomic<int> asleep_{0};
  std::atomic<int> threads_{0};
  std::atomic<bool> ending_{false};
  int const processors_;
  std::mutex growing_;
  worker_threads* workers_;
};

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS::detail
