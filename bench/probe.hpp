// Measures the current speed of this machine: of arithmetic, exp, copies, and BLAS products of given shapes, on all
// threads of a backend.
// SPDX-License-Identifier: Apache-2.0
//
// Every rate is the median of a few short rounds.  A rate should be measured just before the times that it is compared
// with, because on a shared machine, a rate changes by a factor of two within minutes.  The time of a thread is its
// processor time, which does not include waiting for a processor.  So a floor is not larger on a busy machine.
#pragma once

#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <vector>

#include "triad/core/buffer.hpp"
#include "triad/cpu/kernels/processor.hpp"
#include "triad/cpu/kernels/simd.hpp"
#include "triad/cpu/matmul.hpp"
#include "work.hpp"

namespace bench {

/// Returns processor seconds, of this thread or of the whole process.
inline double processor_seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Runs f(task) for task < ex.threads on all threads at the same time.  Returns the seconds of the slowest task, as the
/// median of `rounds` rounds after one warm-up round.
template <class F>
double probe(triad::cpu::backend& ex, int rounds, F&& f) {
  std::vector<double> seconds, of_task(static_cast<std::size_t>(ex.threads));
  for (int round = 0; round <= rounds; ++round) {
    triad::cpu::parallel_for(ex, ex.threads, [&](index_t task, int) {
      double const start = processor_seconds(CLOCK_THREAD_CPUTIME_ID);
      f(task);
      of_task[static_cast<std::size_t>(task)] = processor_seconds(CLOCK_THREAD_CPUTIME_ID) - start;
    });
    if (round > 0) seconds.push_back(*std::max_element(of_task.begin(), of_task.end()));
  }
  return median(seconds);
}

/// Returns the number of multiply-adds per second in registers, with the fastest instructions of this processor for
/// factors of this type.  Each lane of a vector counts.  This is an upper limit for the rate of products and of the
/// triangle.
inline double multiply_add_rate(triad::cpu::backend& ex, factor_type factors) {
  constexpr int times = 50;  // about 4 ms
  bool const narrow = factors == factor_type::bf16 && triad::cpu::has_fast_bf16();
  double count = 0;
  double const seconds = probe(ex, 5, [&](index_t task) {
    double mine = 0;
    for (int i = 0; i < times; ++i)
      mine += narrow ? triad::cpu::run_bf16_multiply_adds() : triad::cpu::run_multiply_adds();
    if (task == 0) count = mine;
  });
  return static_cast<double>(ex.threads) * count / seconds;
}

/// Returns the exponentials per second of the library's vector exp, on values in the first-level cache.
inline double exp_rate(triad::cpu::backend& ex) {
  constexpr int count = 2048, repeats = 1000;
  double const seconds = probe(ex, 5, [](index_t) {
    alignas(64) float x[count], y[count];
    for (int i = 0; i < count; ++i) x[i] = -0.01f * static_cast<float>(i);
    for (int r = 0; r < repeats; ++r) {
      for (int i = 0; i < count; i += triad::simd::lanes)
        triad::simd::store(y + i, triad::simd::exp_nonpositive(triad::simd::load(x + i)));
      benchmark::ClobberMemory();
    }
    benchmark::DoNotOptimize(y[0]);
  });
  return static_cast<double>(ex.threads) * count * repeats / seconds;
}

/// Returns the bytes per second, read and written together, of a copy between two arrays of `bytes` in total.
inline double copy_rate(triad::cpu::backend& ex, double bytes) {
  auto const floats =
      static_cast<index_t>(std::clamp(bytes, 4e6, 256e6) / 8 / ex.threads) / 64 * 64;  // of one thread and array
  triad::buffer<> const from(static_cast<std::size_t>(4 * floats * ex.threads)),
      to(static_cast<std::size_t>(4 * floats * ex.threads));
  double const seconds = probe(ex, 5, [&](index_t task) {
    auto const* const x = static_cast<float const*>(from.data()) + task * floats;
    auto* const y = static_cast<float*>(to.data()) + task * floats;
    for (index_t i = 0; i < floats; i += triad::simd::lanes) triad::simd::store(y + i, triad::simd::load(x + i));
    benchmark::ClobberMemory();
  });
  return 8.0 * static_cast<double>(floats * ex.threads) / seconds;
}

/// Returns the seconds of the product by BLAS in float32, on arrays of its size.  Divides the product among the threads
/// in three ways: by rows of c, in one call for each thread; by rows of c, 384 rows in each call; or by columns of c.
/// The fastest counts.
inline double product_seconds(triad::cpu::backend& ex, product const& p) {
  triad::cpu::blas_is_serial();
  triad::buffer<> const memory(static_cast<std::size_t>(4 * (p.m * p.k + p.k * p.n + p.m * p.n)));
  auto* const a = static_cast<float*>(memory.data());
  auto* const b = a + p.m * p.k;
  auto* const c = b + p.k * p.n;
  for (index_t i = 0; i < p.m * p.k + p.k * p.n; ++i) a[i] = 0.01f * static_cast<float>(i % 97) - 0.5f;

  index_t const lda = p.transpose_a ? p.m : p.k, ldb = p.transpose_b ? p.k : p.n;
  auto const call = [&](index_t row, index_t rows, index_t column, index_t columns) {
    if (rows <= 0 || columns <= 0) return;
    cblas_sgemm(CblasRowMajor, p.transpose_a ? CblasTrans : CblasNoTrans, p.transpose_b ? CblasTrans : CblasNoTrans,
                static_cast<int>(rows), static_cast<int>(columns), static_cast<int>(p.k), 1.0f,
                a + (p.transpose_a ? row : row * lda), static_cast<int>(lda),
                b + (p.transpose_b ? column * ldb : column), static_cast<int>(ldb), 0.0f, c + row * p.n + column,
                static_cast<int>(p.n));
  };
  auto const part = [&](index_t size) { return (size + ex.threads * 16 - 1) / (ex.threads * 16) * 16; };
  int const rounds = p.flops() > 1e10 ? 1 : p.flops() > 1e9 ? 3 : 7;
  double const by_rows = probe(
      ex, rounds, [&](index_t task) { call(task * part(p.m), std::min(part(p.m), p.m - task * part(p.m)), 0, p.n); });
  double const by_columns = probe(
      ex, rounds, [&](index_t task) { call(0, p.m, task * part(p.n), std::min(part(p.n), p.n - task * part(p.n))); });
  double const by_blocks = probe(ex, rounds, [&](index_t task) {
    index_t const stop = std::min(p.m, (task + 1) * part(p.m));
    for (index_t row = task * part(p.m); row < stop; row += 384) call(row, std::min<index_t>(384, stop - row), 0, p.n);
  });
  return std::min({by_rows, by_columns, by_blocks});
}

}  // namespace bench
