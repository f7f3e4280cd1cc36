// The GPU of the benchmarks.  Measures times with events, and the rates of multiply-adds and products.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_profiler_api.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "triad/core/backend.hpp"
#include "triad/core/buffer.hpp"
#include "triad/cuda/backend.cuh"
#include "triad/cuda/device/launch.cuh"
#include "work.hpp"

namespace bench {

/// Multiply-adds in registers.  The number of independent chains exceeds the latency times the issue rate.
struct multiply_add_kernel {
  static constexpr char const* name = "multiply_add_kernel";
  static constexpr int threads = 256, chains = 16, repeats = 20'000;
  TRIAD_DEVICE void operator()(triad::cuda::block const& b, triad::vec<float> out) const {
    float sum[chains];
    float const factor = 0.999f + 1e-9f * static_cast<float>(b.lane());
    TRIAD_UNROLL
    for (int c = 0; c < chains; ++c) sum[c] = static_cast<float>(c);
    for (int r = 0; r < repeats; ++r) {
      TRIAD_UNROLL
      for (int c = 0; c < chains; ++c) sum[c] = sum[c] * factor + 0.001f;
    }
    float total = 0;
    TRIAD_UNROLL
    for (int c = 0; c < chains; ++c) total += sum[c];
    out(b.index() * threads + b.thread()) = total;
  }
};

/// Sets numbers between -1 and 1.  With zeros, the GPU would need less power and could run faster.
struct fill_kernel {
  static constexpr char const* name = "fill_kernel";
  static constexpr int threads = 256;
  TRIAD_DEVICE void operator()(triad::cuda::block const& b, triad::vec<float> out) const {
    index_t const i = b.index() * threads + b.thread();
    if (i < out.extent(0))
      out(i) = static_cast<float>((static_cast<std::uint32_t>(i) * 2654435761u) >> 8) * 0x1p-23f - 1.0f;
  }
};

class session {
 public:
  session(triad::cuda::arithmetic how, bool profiled) : ex(0, how), profiled_(profiled) {
    for (auto* e : {&begin_, &end_}) triad::cuda::check(cudaEventCreate(e), "creating an event");
    triad::cuda::check(cudaGetDeviceProperties(&device_, ex.device()), "asking for the device's properties");
    ex.record(!profiled);  // the profiler sees no kernel names in replayed work
    if (!profiled) multiply_adds_ = measured_multiply_adds();
  }
  session(session const&) = delete;
  session& operator=(session const&) = delete;
  ~session() {
    (void)cudaEventDestroy(begin_);
    (void)cudaEventDestroy(end_);
  }

  triad::cuda::backend ex;

  std::string device_name() const { return device_.name; }
  /// Returns true if the work runs for a profiler.  It is then not timed.
  bool profiled() const { return profiled_; }
  /// Returns the number of multiply-adds per second of the whole device.
  double multiply_adds() const { return multiply_adds_; }

  /// Returns the rate of a copy in the device's memory: the bytes per second, read and written together.
  double copied_bytes() {
    if (copied_bytes_ == 0) {
      constexpr std::size_t bytes = std::size_t{256} << 20;
      triad::buffer<triad::cuda::device_memory> const from(bytes, ex.where()), to(bytes, ex.where());
      from.memory().zero(from.data(), bytes);
      copied_bytes_ =
          2.0 * static_cast<double>(bytes) / median_seconds([&] {
            triad::cuda::check(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice, ex.stream()),
                               "copying within the device");
          });
    }
    return copied_bytes_;
  }

  /// Returns the seconds of one run of work(), measured on the stream.
  template <class Work>
  double seconds(Work&& work) {
    triad::cuda::check(cudaEventRecord(begin_, ex.stream()), "recording an event");
    work();
    triad::cuda::check(cudaEventRecord(end_, ex.stream()), "recording an event");
    triad::cuda::check(cudaEventSynchronize(end_), "waiting for the work that is timed");
    float milliseconds = 0;
    triad::cuda::check(cudaEventElapsedTime(&milliseconds, begin_, end_), "reading a time");
    return 1e-3 * static_cast<double>(milliseconds);
  }
  /// Runs work() twice.  A profiler records the second run, whose seconds are returned.  The first run allocates memory
  /// and chooses algorithms for products.
  template <class Work>
  double seconds_profiled(Work&& work) {
    work();
    triad::cuda::check(cudaDeviceSynchronize(), "waiting for the first run");
    triad::cuda::check(cudaProfilerStart(), "telling a profiler where to begin");
    double const time = seconds(work);
    triad::cuda::check(cudaProfilerStop(), "telling a profiler where to end");
    return time;
  }
  /// Returns the median of the seconds of work().  There are three warm-up runs.  The second run is recorded, and the
  /// third is replayed.  Then work() runs for about `budget` seconds, at least five and at most 500 times.
  template <class Work>
  double median_seconds(Work&& work, double budget = 0.5) {
    for (int i = 0; i < 3; ++i) work();
    std::vector<double> times;
    double sum = 0;
    while (times.size() < 5 || (sum < budget && times.size() < 500)) sum += times.emplace_back(seconds(work));
    return median(std::move(times));
  }

  /// Returns the seconds that cuBLAS needs for all products of the model.
  double seconds_of_products(work_model const& model) {
    double sum = 0;
    for (auto const& [p, times] : model.products) {
      auto known =
          std::find_if(timed_.begin(), timed_.end(), [&, &shape = p](auto const& t) { return t.first == shape; });
      if (known == timed_.end()) known = timed_.insert(known, {p, seconds_of(p)});
      sum += times * known->second;
    }
    return sum;
  }

 private:
  double measured_multiply_adds() {
    index_t const blocks = 16 * device_.multiProcessorCount, threads = blocks * multiply_add_kernel::threads;
    triad::buffer<triad::cuda::device_memory> const memory(static_cast<std::size_t>(4 * threads), ex.where());
    auto const out = triad::make_vec(static_cast<float*>(memory.data()), threads);
    double const time = median_seconds([&] { triad::cuda::launch(ex, multiply_add_kernel{}, blocks, out); });
    return static_cast<double>(threads) * multiply_add_kernel::chains * multiply_add_kernel::repeats / time;
  }

  // Computes c (m, n) = op(a) op(b) with contiguous rows. cuBLAS expects contiguous columns, so this calls it for c' =
  // op(b)' op(a)'.
  double seconds_of(product const& p) {
    triad::buffer<triad::cuda::device_memory> const memory(
        static_cast<std::size_t>(4 * (p.m * p.k + p.k * p.n + p.m * p.n)), ex.where());
    auto* const a = static_cast<float*>(memory.data());
    auto* const b = a + p.m * p.k;
    auto* const c = b + p.k * p.n;
    auto const number = [](index_t n) { return static_cast<int>(n); };
    auto const values = triad::make_vec(a, static_cast<index_t>(memory.bytes() / 4));
    triad::cuda::launch(ex, fill_kernel{}, (values.extent(0) + fill_kernel::threads - 1) / fill_kernel::threads,
                        values);
    auto const one = [&] {
      triad::cuda::gemm<float>(ex.blas(), ex.arithmetic(), {number(p.n), number(p.m), number(p.k)},
                               {b, p.transpose_b, number(p.transpose_b ? p.k : p.n)},
                               {a, p.transpose_a, number(p.transpose_a ? p.m : p.k)}, 0.0f, {c, false, number(p.n)});
    };
    constexpr int together = 20;  // hides the gaps between launches: replayed work has none
    auto const all = [&] {
      for (int i = 0; i < together; ++i) one();
    };
    double const time = median_seconds([&] { triad::replay(ex, 1, all); }, 0.1);
    triad::forget_replays(ex);  // before the memory of recorded work is freed
    return time / together;
  }

  bool profiled_ = false;
  cudaDeviceProp device_{};
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  double multiply_adds_ = 0, copied_bytes_ = 0;
  std::vector<std::pair<product, double>> timed_;  // different models have some shapes in common
};

}  // namespace bench
