// What all benchmarks share: the backend, the clock, whether a check has failed, and how a piece of work is timed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "floor.hpp"
#include "triad/cpu/cpu.hpp"
#include "work.hpp"

namespace bench {

/// The backend of every benchmark: all processors, or --threads=N, or TRIAD_THREADS.
triad::cpu::backend& machine();

/// A result was wrong: the program will end with status 1.
void report_failure();

/// Bytes that the system can still give.
std::size_t free_memory();

/// Whether there is room for `bytes` and `check` finds nothing; else the benchmark ends with the reason.
/// A check is made once a name, however often the library enters the benchmark.
bool may_time(benchmark::State& state, std::string const& name, std::size_t bytes,
              std::function<verdict()> const& check);

inline double seconds_of(std::function<void()> const& work) {
  auto const start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// What a time is reported with.
struct timing {
  work_model model;         // what the work consists of
  std::size_t planned = 0;  // bytes asked for beyond inputs, outputs and parameters
  std::size_t total = 0;    // bytes with them
  bool floor = true;        // false: GFLOP/s alone
  bool warm = true;         // false: the first run counts; work of many seconds
};

/// Times work() as long as the library asks.  Counters: the median in ms, by the clock and of all threads' processor
/// time together, memory in MiB, GFLOP/s and, where a floor is wanted, its parts in ms, measured just before, and time
/// over floor (cpu_ratio: processor time over that of the floor; on a busy machine, with one thread, the truer of the
/// two).  Returns the median in seconds.
double time_work(benchmark::State& state, timing const& t, std::function<void()> const& work);

}  // namespace bench
