// Code that all benchmarks share.  It has the backend, times work, and records failed checks.
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

/// Returns the backend of every benchmark.  The number of threads is that of --threads=N, else that of TRIAD_THREADS,
/// else one for each processor.  --products=blas or --products=onednn says who computes the products.  Without this
/// option, oneDNN computes them if triad-bench was built with it and the processor has AVX-512.
triad::cpu::backend& machine();

/// Registers f(state) as `name`, and as `name` + "/bf16" if triad-bench was built with an engine that computes products
/// of bf16.  In the second benchmark, machine() rounds the factors of products to bf16, and checks allow for it.
void register_precisions(std::string const& name, std::function<void(benchmark::State&)> const& f);
/// Returns "/bf16" if machine() rounds factors to bf16, else "".
std::string precision_suffix();

/// Describes the rates of multiply-adds in registers, for example "in registers on all threads: float32 447 GFLOP/s,
/// bf16 6520 GFLOP/s by AMX".
std::string rates_of(triad::cpu::backend& ex);

/// Records that a result was wrong.  The exit status of the program is then 1.
void report_failure();

/// Returns how many bytes of memory the system has available.
std::size_t free_memory();

/// Returns true if there is memory for `bytes` bytes and `check` finds no error.  Otherwise ends the benchmark with the
/// reason.  For each name, the check runs only once, even if Google Benchmark calls the benchmark several times.
bool may_time(benchmark::State& state, std::string const& name, std::size_t bytes,
              std::function<verdict()> const& check);

inline double seconds_of(std::function<void()> const& work) {
  auto const start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The counts that are reported with a time.
struct timing {
  work_model model;         // counts of the work
  std::size_t planned = 0;  // bytes of memory other than inputs, outputs and parameters
  std::size_t total = 0;    // all bytes, with inputs, outputs and parameters
  bool floor = true;        // false: reports GFLOP/s without a floor
  bool warm = true;         // false: no warm-up, for work of many seconds
};

/// Times work() as many times as Google Benchmark says.  Returns the median in seconds.  The counters are the median in
/// ms of the wall-clock time and of the processor time of all threads, the memory in MiB, and GFLOP/s.  peak_MiB is the
/// largest resident memory of the process during the timed work, with the program and its libraries.  If there is a
/// floor, more counters are the parts of the floor in ms, measured just before, and the ratio of time to floor.
/// cpu_ratio is the ratio of processor time to floor.  For one thread on a busy machine, cpu_ratio is more reliable.
/// Four of these counters compare BLAS with the machine.  They are the rate of multiply-adds in registers, the rate of
/// the work's products with weights by BLAS, their time by BLAS, and blas_ratio.  blas_ratio is the ratio of time to a
/// floor with the products at the speed of BLAS.  The rates are 0 if the work has no products with weights.
double time_work(benchmark::State& state, timing const& t, std::function<void()> const& work);

}  // namespace bench
