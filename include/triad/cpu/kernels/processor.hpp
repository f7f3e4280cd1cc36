// The widest vector instructions of this processor, its instructions for bfloat16, and its rates of multiply-adds.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

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

/// Instructions that multiply numbers of bfloat16 and add the products to float32, from slow to fast.  `vectors` is
/// vdpbf16ps of AVX512-BF16.  `tiles` is tdpbf16ps of AMX.
enum class bf16_set { none, vectors, tiles };
inline char const* name_of(bf16_set set) {
  return set == bf16_set::tiles ? "AMX" : set == bf16_set::vectors ? "AVX512-BF16" : "no bf16";
}

/// Whether this process may use the tiles of AMX.  The first call asks the kernel for the permission, which then holds
/// for all threads of the process.
inline bool may_use_tiles() {
#if defined(__x86_64__) && defined(__linux__)
  static bool const may = [] {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    constexpr unsigned amx_bf16 = 1u << 22, amx_tile = 1u << 24;
    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return false;
    if ((edx & amx_bf16) == 0 || (edx & amx_tile) == 0) return false;
    constexpr long request_permission = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
    return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
  }();
  return may;
#else
  return false;
#endif
}

/// Whether this processor has vdpbf16ps, fast or slow.
inline bool has_bf16_vectors() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512bf16");
#else
  return false;
#endif
}

/// Returns the fastest set that this processor has and the kernel permits.  A set that is slower than float32 does not
/// count: on an Intel Xeon with AMX, vdpbf16ps computes 110 GFLOP/s where vfmadd231ps computes 223.  On an AMD EPYC of
/// Zen 5, vdpbf16ps computes 483 GFLOP/s where vfmadd231ps computes 262.
inline bf16_set processor_bf16() {
#if defined(__x86_64__)
  if (may_use_tiles()) return bf16_set::tiles;
  if (has_bf16_vectors() && __builtin_cpu_is("amd")) return bf16_set::vectors;
#endif
  return bf16_set::none;
}

/// Whether this processor computes products of bfloat16 faster than products of float32.
inline bool has_fast_bf16() { return processor_bf16() != bf16_set::none; }

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

// Each loop has more chains than (latency of a multiply-add) x (units that compute multiply-adds).
inline constexpr int chains = 12, wide_chains = 24, tile_chains = 6;
inline constexpr int repeats = 20'000;          // take well below a millisecond
inline constexpr int tile_repeats = 2'000;      // the same, of tiles
inline constexpr int tile_size = 16 * 16 * 32;  // multiply-adds of tdpbf16ps: rows, columns, inner extent

#if defined(__x86_64__)
// The loops are in assembler, with the counter and the registers.  So the instructions do not depend on the flags of
// this unit, and the compiler can neither compute the sums itself nor move them to memory.
#define TRIAD_TIMES_6(f) f(0) f(1) f(2) f(3) f(4) f(5)
#define TRIAD_TIMES_12(f) TRIAD_TIMES_6(f) f(6) f(7) f(8) f(9) f(10) f(11)
#define TRIAD_TIMES_24(f) TRIAD_TIMES_12(f) f(12) f(13) f(14) f(15) f(16) f(17) f(18) f(19) f(20) f(21) f(22) f(23)
#define TRIAD_ZERO_YMM(i) "vxorps %%ymm" #i ", %%ymm" #i ", %%ymm" #i "\n\t"
#define TRIAD_ZERO_ZMM(i) "vpxord %%zmm" #i ", %%zmm" #i ", %%zmm" #i "\n\t"
#define TRIAD_ZERO_TILE(i) "tilezero %%tmm" #i "\n\t"
#define TRIAD_FMA_YMM(i) "vfmadd231ps %%ymm15, %%ymm15, %%ymm" #i "\n\t"
#define TRIAD_FMA_ZMM(i) "vfmadd231ps %%zmm31, %%zmm31, %%zmm" #i "\n\t"
#define TRIAD_BF16_ZMM(i) "vdpbf16ps %%zmm31, %%zmm31, %%zmm" #i "\n\t"
#define TRIAD_BF16_TILE(i) "tdpbf16ps %%tmm7, %%tmm6, %%tmm" #i "\n\t"
#define TRIAD_LOOP(body) "1:\n\t" body "dec %0\n\tjnz 1b\n\t"
#define TRIAD_LOW_REGISTERS \
  "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm15"
#define TRIAD_HIGH_REGISTERS \
  "xmm12", "xmm13", "xmm14", "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm31"

[[gnu::target("avx2,fma"), gnu::noinline]] inline void multiply_adds_avx2() {
  long count = repeats;
  __asm__ volatile(TRIAD_TIMES_12(TRIAD_ZERO_YMM) TRIAD_ZERO_YMM(15)
                       TRIAD_LOOP(TRIAD_TIMES_12(TRIAD_FMA_YMM)) "vzeroupper"
                   : "+r"(count)
                   :
                   : TRIAD_LOW_REGISTERS);
}
[[gnu::target("avx512f"), gnu::noinline]] inline void multiply_adds_avx512() {
  long count = repeats;
  __asm__ volatile(TRIAD_TIMES_24(TRIAD_ZERO_ZMM) TRIAD_ZERO_ZMM(31)
                       TRIAD_LOOP(TRIAD_TIMES_24(TRIAD_FMA_ZMM)) "vzeroupper"
                   : "+r"(count)
                   :
                   : TRIAD_LOW_REGISTERS, TRIAD_HIGH_REGISTERS);
}
[[gnu::target("avx512f,avx512bf16"), gnu::noinline]] inline void bf16_multiply_adds_avx512() {
  long count = repeats;
  __asm__ volatile(TRIAD_TIMES_24(TRIAD_ZERO_ZMM) TRIAD_ZERO_ZMM(31)
                       TRIAD_LOOP(TRIAD_TIMES_24(TRIAD_BF16_ZMM)) "vzeroupper"
                   : "+r"(count)
                   :
                   : TRIAD_LOW_REGISTERS, TRIAD_HIGH_REGISTERS);
}
[[gnu::target("amx-tile,amx-bf16"), gnu::noinline]] inline void bf16_multiply_adds_amx() {
  struct alignas(64) {
    unsigned char palette = 1, start = 0, reserved[14] = {};
    unsigned short row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    unsigned char rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  } const shapes;
  long count = tile_repeats;
  __asm__ volatile("ldtilecfg %1\n\t" TRIAD_TIMES_6(TRIAD_ZERO_TILE) TRIAD_ZERO_TILE(6) TRIAD_ZERO_TILE(7)
                       TRIAD_LOOP(TRIAD_TIMES_6(TRIAD_BF16_TILE)) "tilerelease"
                   : "+r"(count)
                   : "m"(shapes)
                   : "cc");
}
#undef TRIAD_TIMES_6
#undef TRIAD_TIMES_12
#undef TRIAD_TIMES_24
#undef TRIAD_ZERO_YMM
#undef TRIAD_ZERO_ZMM
#undef TRIAD_ZERO_TILE
#undef TRIAD_FMA_YMM
#undef TRIAD_FMA_ZMM
#undef TRIAD_BF16_ZMM
#undef TRIAD_BF16_TILE
#undef TRIAD_LOOP
#undef TRIAD_LOW_REGISTERS
#undef TRIAD_HIGH_REGISTERS
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
#if defined(__x86_64__)
  if (processor_vectors() == vector_set::avx512) {
    detail::multiply_adds_avx512();
    return 16.0 * detail::wide_chains * detail::repeats;
  }
  if (processor_vectors() == vector_set::avx2) {
    detail::multiply_adds_avx2();
    return 8.0 * detail::chains * detail::repeats;
  }
#endif
  detail::multiply_adds_of_unit();
  return static_cast<double>(simd::lanes) * detail::chains * detail::repeats;
}

/// Runs multiply-adds of bfloat16 in registers alone, with the fastest instructions of processor_bf16().  Returns the
/// number of multiply-adds: 32 for each vector instruction, and 16 x 16 x 32 for each tile instruction.  Returns 0 if
/// the processor has neither.  Takes less than a millisecond.
inline double run_bf16_multiply_adds() {
#if defined(__x86_64__)
  if (processor_bf16() == bf16_set::tiles) {
    detail::bf16_multiply_adds_amx();
    return static_cast<double>(detail::tile_size) * detail::tile_chains * detail::tile_repeats;
  }
  if (processor_bf16() == bf16_set::vectors) {
    detail::bf16_multiply_adds_avx512();
    return 32.0 * detail::wide_chains * detail::repeats;
  }
#endif
  return 0;
}

namespace detail {

/// Returns the rate of `run`, which returns the number of its multiply-adds.  Takes about 2 ms.
inline double rate_of(double (*run)()) {
  double count = 0;
  double const seconds = least_seconds(8, [&] { count = run(); });
  return count / seconds;
}

}  // namespace detail

/// Measures the multiply-adds per second of run_multiply_adds() on one thread.  No product of floats is faster.  Takes
/// about 2 ms.
inline double multiply_adds_a_second() { return detail::rate_of(run_multiply_adds); }

/// Measures the multiply-adds per second of run_bf16_multiply_adds() on one thread.  No product of bfloat16 is faster.
/// Returns 0 if the processor has no fast bfloat16.  Takes about 2 ms.
inline double bf16_multiply_adds_a_second() { return detail::rate_of(run_bf16_multiply_adds); }

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
