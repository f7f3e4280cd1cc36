// The widest vector instructions of this processor, and its rate of multiply-adds.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>

#include "triad/cpu/kernels/simd.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

/// Vector instructions, from narrow to wide.
enum class vector_set { base, avx2, avx512 };
inline char const* name_of(vector_set set) {
  return set == vector_set::avx512 ? "AVX-512" : set == vector_set::avx2 ? "AVX2" : "no AVX2";
}

/// Returns the widest set that this processor has.  This unit may have been compiled for a narrower set.
inline vector_set processor_vectors() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return vector_set::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return vector_set::avx2;
#endif
  return vector_set::base;
}

namespace detail {

/// Calls work() `rounds` times, and returns the time of the fastest call in seconds.  Other programs can only make a
/// call slower.
template <class F>
double least_seconds(int rounds, F&& work) {
  double least = 1e9;
  for (int round = 0; round < rounds; ++round) {
    auto const start = std::chrono::steady_clock::now();
    work();
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return least;
}

inline constexpr int chains = 12;       // more than (latency of a multiply-add) x (units that compute multiply-adds)
inline constexpr int repeats = 20'000;  // take well below a millisecond

#if defined(__x86_64__)
// The loops are in assembler.  So the width of the vectors does not depend on the flags of this unit, and the compiler
// cannot compute the sums itself.
template <class Vector>
struct register_sums {
  Vector s0{}, s1{}, s2{}, s3{}, s4{}, s5{}, s6{}, s7{}, s8{}, s9{}, s10{}, s11{};
};
#define TRIAD_MULTIPLY_ADDS                                                                                         \
  for (int r = 0; r < repeats; ++r)                                                                                 \
  __asm__ volatile(                                                                                                 \
      "vfmadd231ps %12, %12, %0\n\tvfmadd231ps %12, %12, %1\n\tvfmadd231ps %12, %12, %2\n\t"                        \
      "vfmadd231ps %12, %12, %3\n\tvfmadd231ps %12, %12, %4\n\tvfmadd231ps %12, %12, %5\n\t"                        \
      "vfmadd231ps %12, %12, %6\n\tvfmadd231ps %12, %12, %7\n\tvfmadd231ps %12, %12, %8\n\t"                        \
      "vfmadd231ps %12, %12, %9\n\tvfmadd231ps %12, %12, %10\n\tvfmadd231ps %12, %12, %11"                          \
      : "+v"(s.s0), "+v"(s.s1), "+v"(s.s2), "+v"(s.s3), "+v"(s.s4), "+v"(s.s5), "+v"(s.s6), "+v"(s.s7), "+v"(s.s8), \
        "+v"(s.s9), "+v"(s.s10), "+v"(s.s11)                                                                        \
      : "v"(x))
[[gnu::target("avx512f"), gnu::noinline]] inline void multiply_adds_avx512() {
  typedef float vector __attribute__((vector_size(64)));
  register_sums<vector> s;
  vector const x{};
  TRIAD_MULTIPLY_ADDS;
}
[[gnu::target("avx2,fma"), gnu::noinline]] inline void multiply_adds_avx2() {
  typedef float vector __attribute__((vector_size(32)));
  register_sums<vector> s;
  vector const x{};
  TRIAD_MULTIPLY_ADDS;
}
#undef TRIAD_MULTIPLY_ADDS
#endif

[[gnu::noinline]] inline void multiply_adds_of_unit() {
  simd::floats sum[chains] = {};
  auto factor = simd::broadcast(0.999f), addend = simd::broadcast(0.001f);
  for (auto& s : sum) __asm__ volatile("" : "+m"(s = addend));  // otherwise, equal chains are computed only once
  for (int r = 0; r < repeats; ++r) {
#pragma GCC unroll 16
    for (auto& s : sum) s = s * factor + addend;
  }
  for (auto& s : sum) __asm__ volatile("" : : "m"(s));
}

}  // namespace detail

/// Runs multiply-adds of float in registers alone, with the widest vectors of this processor.  Returns the number of
/// multiply-adds, counted for each lane.  Takes less than a millisecond.
inline double run_multiply_adds() {
  constexpr double count = static_cast<double>(detail::chains) * detail::repeats;
#if defined(__x86_64__)
  if (processor_vectors() == vector_set::avx512) {
    detail::multiply_adds_avx512();
    return 16 * count;
  }
  if (processor_vectors() == vector_set::avx2) {
    detail::multiply_adds_avx2();
    return 8 * count;
  }
#endif
  detail::multiply_adds_of_unit();
  return simd::lanes * count;
}

/// Measures the multiply-adds per second of run_multiply_adds() on one thread.  No product of floats is faster.  Takes
/// about 2 ms.
inline double multiply_adds_a_second() {
  double count = 0;
  double const seconds = detail::least_seconds(8, [&] { count = run_multiply_adds(); });
  return count / seconds;
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
