// Reports which BLAS or engine computes matrix products, with which kernels, and compares their rate with the rate of
// multiply-adds in registers.
// SPDX-License-Identifier: Apache-2.0
//
// When a BLAS is loaded, it chooses its kernels by the processor or by an environment variable.  Kernels for an older
// processor give right results at half the speed.  Without this report, a user would not know which kernels were
// chosen.
#pragma once

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "triad/cpu/backend.hpp"
#include "triad/cpu/kernels/processor.hpp"
#include "triad/cpu/matmul.hpp"
#include "triad/cpu/products/blas.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

/// Returns the vector instructions that the OpenBLAS kernels of this name use on x86.  Upper and lower case do not
/// matter.
inline vector_set vectors_of_kernels(std::string_view name) {
  auto const is = [&](std::string_view other) {
    return std::equal(name.begin(), name.end(), other.begin(), other.end(),
                      [](char a, char b) { return (a | 0x20) == (b | 0x20); });
  };
  if (is("SkylakeX") || is("Cooperlake") || is("SapphireRapids")) return vector_set::avx512;
  if (is("Haswell") || is("Zen") || is("Excavator")) return vector_set::avx2;
  return vector_set::base;
}

/// Whether the processor has wider vectors than the kernels use.  Returns false if the BLAS does not name its kernels.
inline bool kernels_are_older(blas_name const& blas, vector_set processor = processor_vectors()) {
  return !blas.kernels.empty() && vectors_of_kernels(blas.kernels) < processor;
}

/// Measures the multiply-adds that products of float matrices compute per second on one thread of a backend.  The
/// factors of the measured product fit into the second-level cache.  Takes about 3 ms.
inline double product_multiply_adds_a_second(backend const& ex) {
  constexpr int m = 384, n = 256, k = 256;
  std::vector<float> const a(std::size_t{m} * k, 0.5f), b(std::size_t{k} * n, 0.25f);
  std::vector<float> c(std::size_t{m} * n);
  backend one = ex;
  one.threads = 1;
  auto const multiply = [&] {
    do_matmul(one, make_matrix(a.data(), m, k, k), make_matrix(b.data(), k, n, n), make_matrix(c.data(), m, n, n),
              false, epilogue<float>{});
  };
  multiply();  // an engine may have to compile a kernel
  return double{m} * n * k / detail::least_seconds(6, multiply);
}

/// Who computes the products of a backend, with which kernels, and at which speed.
struct products_report {
  blas_name blas;  // the BLAS or the engine
  bool is_engine = false;
  arithmetic factors = arithmetic::float32;
  double rate = 0, peak = 0;  // multiply-adds per second on one thread: of products, in registers
  vector_set processor = vector_set::base;
  std::string forced;  // the environment variable OPENBLAS_CORETYPE; empty if it is not set

  /// For example "products by OpenBLAS 0.3.21, SkylakeX kernels: 171 of 192 GFLOP/s a core".
  std::string line() const {
    std::array<char, 96> rates{};
    std::snprintf(rates.data(), rates.size(), ": %.0f of %.0f GFLOP/s a core", 2e-9 * rate, 2e-9 * peak);
    return "products by " + blas.library + (blas.kernels.empty() ? "" : ", " + blas.kernels + " kernels") +
           (factors == arithmetic::bf16 ? ", of bf16" : "") + rates.data();
  }

  /// Says what slow kernels cost, and what to do.  Empty if the kernels are not slow.
  std::string advice() const {
    if (is_engine || !kernels_are_older(blas, processor)) return {};
    std::array<char, 160> cost{};
    std::snprintf(cost.data(), cost.size(), "use %s where this processor has %s, at %.0f of %.0f GFLOP/s a core; ",
                  name_of(vectors_of_kernels(blas.kernels)), name_of(processor), 2e-9 * rate, 2e-9 * peak);
    return blas.library + ": its " + blas.kernels + " kernels " + cost.data() +
           (forced.empty() ? "install a newer OpenBLAS, or set OPENBLAS_CORETYPE to a newer processor that it knows"
                           : "OPENBLAS_CORETYPE=" + forced + " in the environment chose them: unset it");
  }
};

/// Gets the names from the linked BLAS or the engine of the backend, and measures both rates.  Takes about 6 ms.
inline products_report report_products(backend const& ex) {
  char const* const forced = std::getenv("OPENBLAS_CORETYPE");
  bool const rounds = ex.arithmetic == arithmetic::bf16;
  return {.blas = ex.engine == nullptr ? linked_blas() : blas_name{ex.engine->name(), ex.engine->kernels()},
          .is_engine = ex.engine != nullptr,
          .factors = ex.arithmetic,
          .rate = product_multiply_adds_a_second(ex),
          .peak = rounds ? bf16_multiply_adds_a_second() : multiply_adds_a_second(),
          .processor = processor_vectors(),
          .forced = forced != nullptr ? forced : ""};
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
