// triad-bench runs the benchmarks.  It has the options of Google Benchmark, --threads=N (or TRIAD_THREADS) and
// --products=blas|onednn.  The exit status is 1 if a result was wrong.
// SPDX-License-Identifier: Apache-2.0

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <string>

#include "compare.hpp"
#include "session.hpp"
#include "triad/cpu/products/speed.hpp"
#if defined(TRIAD_BENCH_ONEDNN)
#include "triad/cpu/products/onednn.hpp"
#endif

namespace bench {

namespace {

bool some_check_failed = false;

/// Returns oneDNN, or null if this program cannot use it.
triad::cpu::product_engine const* onednn() {
#if defined(TRIAD_BENCH_ONEDNN)
  if (triad::cpu::onednn_engine::computes_alone()) return &triad::cpu::onednn_engine::instance();
#endif
  return nullptr;
}

/// Sets machine() and the tolerance of checks for benchmarks in bf16, until the object is destroyed.
class in_bf16 {
 public:
  in_bf16() { machine().arithmetic = triad::cpu::arithmetic::bf16, tolerance = 0.2; }
  ~in_bf16() { machine().arithmetic = triad::cpu::arithmetic::float32, tolerance = before_; }
  in_bf16(in_bf16 const&) = delete;
  in_bf16& operator=(in_bf16 const&) = delete;

 private:
  double before_ = tolerance;
};

}  // namespace

triad::cpu::backend& machine() {
  using enum triad::cpu::vector_set;
  static triad::cpu::backend shared(0, triad::cpu::processor_vectors() == avx512 ? onednn() : nullptr);
  return shared;
}

std::string precision_suffix() { return machine().arithmetic == triad::cpu::arithmetic::bf16 ? "/bf16" : ""; }

void register_precisions(std::string const& name, std::function<void(benchmark::State&)> const& f) {
  benchmark::RegisterBenchmark(name.c_str(), f)->Unit(benchmark::kMillisecond);
  if (onednn() == nullptr || !onednn()->computes(triad::cpu::arithmetic::bf16)) return;
  benchmark::RegisterBenchmark((name + "/bf16").c_str(), [=](benchmark::State& state) {
    if (machine().engine == nullptr) return state.SkipWithError("BLAS does not compute products of bf16");
    in_bf16 const here;
    f(state);
  })->Unit(benchmark::kMillisecond);
}

std::size_t free_memory() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  while (file >> word)
    if (word == "MemAvailable:") {
      std::size_t kilobytes = 0;
      file >> kilobytes;
      return kilobytes * 1024;
    }
  return static_cast<std::size_t>(-1);
}

namespace {

/// Gives free memory back to the system, and forgets the largest resident memory of this process so far.
void forget_peak() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
  std::ofstream("/proc/self/clear_refs") << 5;
}
/// Returns the largest resident memory of this process since forget_peak(), in MiB, or 0 if the system does not say it.
double peak_mebibytes() {
  std::ifstream file("/proc/self/status");
  std::string word;
  double kibibytes = 0;
  while (file >> word)
    if (word == "VmHWM:") file >> kibibytes;
  return kibibytes / 1024;
}

}  // namespace

bool may_time(benchmark::State& state, std::string const& name, std::size_t bytes,
              std::function<verdict()> const& check) {
  if (bytes > free_memory()) {
    auto const mebibytes = [](std::size_t b) { return std::to_string(b >> 20) + " MiB"; };
    state.SkipWithError(("skipped: needs " + mebibytes(bytes) + ", " + mebibytes(free_memory()) + " are free").c_str());
    return false;
  }
  static std::map<std::string, verdict> known;
  auto const found = known.find(name);
  auto const& wrong = found != known.end() ? found->second : known[name] = check();
  if (wrong) {
    some_check_failed = true;
    state.SkipWithError(("not timed, because it is wrong: " + *wrong).c_str());
  }
  return !wrong;
}

std::string rates_of(triad::cpu::backend& ex) {
  auto const gflops = [&](factor_type factors) {
    return std::to_string(std::lround(2e-9 * multiply_add_rate(ex, factors))) + " GFLOP/s";
  };
  std::string line = "in registers on all threads: float32 " + gflops(factor_type::float32);
  if (triad::cpu::has_fast_bf16())
    line += ", bf16 " + gflops(factor_type::bf16) + " by " + name_of(triad::cpu::processor_bf16());
  return line;
}

double time_work(benchmark::State& state, timing const& t, std::function<void()> const& work) {
  if (t.warm) work();
  auto model = t.model;
  if (machine().arithmetic == triad::cpu::arithmetic::bf16) model.factors = factor_type::bf16;
  auto const floor = t.floor ? measure_floor(machine(), model) : floor_seconds{};
  std::vector<double> seconds, processor;
  forget_peak();
  for (auto _ : state) {
    double const start = processor_seconds(CLOCK_PROCESS_CPUTIME_ID);
    seconds.push_back(seconds_of(work));
    processor.push_back(processor_seconds(CLOCK_PROCESS_CPUTIME_ID) - start);
  }
  double const peak = peak_mebibytes(), middle = median(seconds);
  auto& counter = state.counters;
  counter["ms"] = middle * 1e3;
  counter["cpu_ms"] = median(processor) * 1e3;
  counter["planned_MiB"] = static_cast<double>(t.planned) / 1048576.0;
  counter["total_MiB"] = static_cast<double>(t.total) / 1048576.0;
  counter["peak_MiB"] = peak;
  counter["GFLOP/s"] = t.model.flops() / middle * 1e-9;
  if (t.floor) {
    counter["floor_ms"] = floor.total() * 1e3;
    counter["floor_products_ms"] = floor.products * 1e3;
    counter["floor_kernels_ms"] = floor.kernels * 1e3;
    counter["floor_exp_ms"] = floor.exp * 1e3;
    counter["floor_stream_ms"] = floor.stream * 1e3;
    counter["floor_ratio"] = middle / floor.total();
    counter["cpu_ratio"] = median(processor) / (floor.total() * machine().threads);
    auto const rate = [&](double taken) { return taken > 0 ? t.model.product_flops() / taken * 1e-9 : 0; };
    counter["peak_GFLOP/s"] = rate(floor.products);
    counter["blas_GFLOP/s"] = rate(floor.blas);
    counter["blas_products_ms"] = floor.blas * 1e3;
    counter["blas_ratio"] = middle / floor.with_blas();
  }
  return middle;
}

}  // namespace bench

int main(int argc, char** argv) {
  char const* threads = std::getenv("TRIAD_THREADS");
  std::string products_by;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--threads=", 10) == 0)
      threads = argv[i] + 10;
    else if (std::strncmp(argv[i], "--products=", 11) == 0)
      products_by = argv[i] + 11;
    else
      argv[kept++] = argv[i];
  }
  argc = kept;
  if (threads) {
    int const count = std::atoi(threads);
    if (count < 1) {
      std::cerr << "triad-bench: the number of threads must be positive, not '" << threads << "'\n";
      return 2;
    }
    bench::machine().threads = count;
  }
  if (products_by == "blas" || (products_by == "onednn" && bench::onednn() != nullptr)) {
    bench::machine().engine = products_by == "blas" ? nullptr : bench::onednn();
  } else if (!products_by.empty()) {
    std::cerr << "triad-bench: --products=" << products_by << ", expected blas"
              << (bench::onednn() != nullptr ? " or onednn\n" : "; this program was built without oneDNN\n");
    return 2;
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  triad::cpu::blas_is_serial();
  benchmark::AddCustomContext("threads", std::to_string(bench::machine().threads));
  auto const products = report_products(bench::machine());
  benchmark::AddCustomContext("products", products.line());
  if (auto const* const engine = bench::machine().engine;
      engine != nullptr && engine->computes(triad::cpu::arithmetic::bf16)) {
    bench::in_bf16 const here;
    benchmark::AddCustomContext("products of bf16", report_products(bench::machine()).line());
  }
  benchmark::AddCustomContext("multiply-adds", bench::rates_of(bench::machine()));
  if (auto const advice = products.advice(); !advice.empty()) std::cerr << advice << '\n';
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return bench::some_check_failed ? 1 : 0;
}
