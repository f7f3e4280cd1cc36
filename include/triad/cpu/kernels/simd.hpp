// Vectors of floats as wide as the machine's registers: arithmetic, rows with an incomplete last vector, exp, sums of
// lanes.
// SPDX-License-Identifier: Apache-2.0
//
// Most functions use the compiler's vector extensions.  Masked loads and stores, square roots and a few other functions
// use intrinsics.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#include "triad/core/mdspan.hpp"
#include "triad/cpu/kernels/compiled_for.hpp"

#if defined(__SSE__)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // gcc 12's own intrinsics start from undefined registers
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#else
#include <immintrin.h>
#endif
#endif

namespace triad::simd::inline TRIAD_CPU_FLAGS {

#if defined(__AVX512F__)
inline constexpr int lanes = 16;
#elif defined(__AVX__)
inline constexpr int lanes = 8;
#else
inline constexpr int lanes = 4;
#endif

/// The number of registers that a kernel may use.
inline constexpr int registers = lanes == 16 ? 32 : 16;

typedef float floats __attribute__((vector_size(lanes * 4)));
typedef std::int32_t ints __attribute__((vector_size(lanes * 4)));

/// The number of vectors that hold `count` floats.
constexpr index_t vectors(index_t count) { return (count + lanes - 1) / lanes; }
/// `count` rounded up to whole vectors.
constexpr index_t padded(index_t count) { return vectors(count) * lanes; }

[[gnu::always_inline]] inline floats broadcast(float x) {
  return x - floats{};
}  // x + 0 would turn -0 into 0 and take an addition

[[gnu::always_inline]] inline floats load(float const* p) {
  floats v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

[[gnu::always_inline]] inline void store(float* p, floats v) { std::memcpy(p, &v, sizeof v); }

/// Loads and stores the first `count` lanes of the last vector of a row, where 0 <= count <= lanes.  The other lanes
/// are neither loaded nor stored.
struct tail {
#if defined(__AVX512F__)
  __mmask16 mask;
  [[gnu::always_inline]] explicit tail(index_t count) : mask(static_cast<__mmask16>((1u << count) - 1)) {}
  [[gnu::always_inline]] floats load(float const* p) const { return (floats)_mm512_maskz_loadu_ps(mask, p); }
  [[gnu::always_inline]] void store(float* p, floats v) const { _mm512_mask_storeu_ps(p, mask, (__m512)v); }
#elif defined(__AVX__)
  ints mask;
  [[gnu::always_inline]] explicit tail(index_t count) {
    for (int i = 0; i < lanes; ++i) mask[i] = i < count ? -1 : 0;
  }
  [[gnu::always_inline]] floats load(float const* p) const { return (floats)_mm256_maskload_ps(p, (__m256i)mask); }
  [[gnu::always_inline]] void store(float* p, floats v) const { _mm256_maskstore_ps(p, (__m256i)mask, (__m256)v); }
#else
  index_t count;
  [[gnu::always_inline]] explicit tail(index_t n) : count(n) {}
  [[gnu::always_inline]] floats load(float const* p) const {
    floats v{};
    for (index_t i = 0; i < count; ++i) v[i] = p[i];
    return v;
  }
  [[gnu::always_inline]] void store(float* p, floats v) const {
    for (index_t i = 0; i < count; ++i) p[i] = v[i];
  }
#endif
};

/// Loads and stores whole vectors of a row, with the same functions as tail.
struct whole {
  [[gnu::always_inline]] floats load(float const* p) const { return simd::load(p); }
  [[gnu::always_inline]] void store(float* p, floats v) const { simd::store(p, v); }
};

/// Returns a vector.  Its lanes 4 q .. 4 q + 3 are the four floats at rows[4 q] + c.
[[gnu::always_inline]] inline floats load_fours(float const* const* rows, index_t c) {
#if defined(__AVX512F__)
  __m512 v = _mm512_broadcast_f32x4(_mm_loadu_ps(rows[0] + c));
  v = _mm512_mask_broadcast_f32x4(v, 0x00f0, _mm_loadu_ps(rows[4] + c));
  v = _mm512_mask_broadcast_f32x4(v, 0x0f00, _mm_loadu_ps(rows[8] + c));
  return (floats)_mm512_mask_broadcast_f32x4(v, 0xf000, _mm_loadu_ps(rows[12] + c));
#elif defined(__AVX__)
  return (floats)_mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(rows[0] + c)), _mm_loadu_ps(rows[4] + c), 1);
#else
  floats v{};  // every lane is overwritten, but g++ 12 does not always see that
  for (int q = 0; q < lanes / 4; ++q) std::memcpy(reinterpret_cast<char*>(&v) + 16 * q, rows[4 * q] + c, 16);
  return v;
#endif
}

/// Returns a vector in which the four floats at p are repeated.
[[gnu::always_inline]] inline floats broadcast_four(float const* p) {
#if defined(__AVX512F__)
  return (floats)_mm512_broadcast_f32x4(_mm_loadu_ps(p));
#elif defined(__AVX__)
  return (floats)_mm256_broadcast_ps(reinterpret_cast<__m128 const*>(p));
#else
  floats v{};  // every lane is overwritten, but g++ 12 does not always see that
  for (int q = 0; q < lanes / 4; ++q) std::memcpy(reinterpret_cast<char*>(&v) + 16 * q, p, 16);
  return v;
#endif
}

/// Calls f(c, part) for each vector of a row of k floats.  `part` is `whole` for whole vectors.  If k is not a multiple
/// of `lanes`, `part` is a tail for the last vector.
template <class F>
[[gnu::always_inline]] inline void each_vector(index_t k, F&& f) {
  index_t c = 0;
  for (; c + lanes <= k; c += lanes) f(c, whole{});
  if (c < k) f(c, tail(k - c));
}

[[gnu::always_inline]] inline floats max(floats a, floats b) { return a > b ? a : b; }

/// Returns v, and hides from the compiler how v was computed.  So the compiler does not fuse an operation before this
/// call with an operation after it, whatever the flags allow.
[[gnu::always_inline]] inline floats settled(floats v) {
#if defined(__CUDA_ARCH__)
#elif defined(__AVX512F__)
  asm("" : "+v"(v));
#elif defined(__SSE__)
  asm("" : "+x"(v));
#elif defined(__aarch64__)
  asm("" : "+w"(v));
#else
  asm("" : "+m"(v));
#endif
  return v;
}

/// Returns the square root of every lane.  Does not set errno, because compilers do not vectorise a loop that sets
/// errno.
[[gnu::always_inline]] inline floats sqrt(floats v) {
#if defined(__AVX512F__)
  return (floats)_mm512_sqrt_ps((__m512)v);
#elif defined(__AVX__)
  return (floats)_mm256_sqrt_ps((__m256)v);
#elif defined(__SSE__)
  return (floats)_mm_sqrt_ps((__m128)v);
#else
  for (int i = 0; i < lanes; ++i) v[i] = std::sqrt(v[i]);
  return v;
#endif
}

/// Returns v with zero in each lane whose bit in `word` is not set.
[[gnu::always_inline]] inline floats keep(floats v, std::uint32_t word) {
#if defined(__AVX512F__)
  return (floats)_mm512_maskz_mov_ps(static_cast<__mmask16>(word), (__m512)v);
#else
  ints lane;
  for (int i = 0; i < lanes; ++i) lane[i] = 1 << i;
  return (floats)((ints)v & ((lane & static_cast<std::int32_t>(word)) != 0));
#endif
}

/// Returns v with zero in each lane whose bit is not set.  The bit of lane 0 is bit `position` of `bits`.  Reads up to
/// three bytes beyond the bit of the last lane.
[[gnu::always_inline]] inline floats keep(floats v, std::uint64_t const* bits, std::uint64_t position) {
  std::uint32_t word;
  std::memcpy(&word, reinterpret_cast<unsigned char const*>(bits) + position / 8, sizeof word);
  return keep(v, word >> position % 8);
}

/// Returns exp(x) for x <= 0.  The relative error is 2e-7 near 0 and 3.5e-6 near -69.  If x is below -69 (2^-100), the
/// result is 0, so that no product with the result is denormal.  The result for NaN is NaN.
[[gnu::always_inline]] inline floats exp_nonpositive(floats x) {
  floats const low = broadcast(-69.0f);
  floats const y = max(low, x) * 1.44269504088896341f;  // with the arguments in this order, max keeps a NaN
  // Adding 1.5 * 2^23 rounds y to the nearest integer n.  127 is added too, so that the low bits of the sum are the
  // exponent of 2^n.  settled() prevents reassociation: -ffast-math allows it, and f would become 0.
  floats const shifted = settled(y + 12583039.0f);
  floats const f = y - settled(shifted - 12583039.0f);
  floats p = 0.00133335581464f + f * 0.000154035303934f;
  p = 0.00961812910763f + f * p;
  p = 0.0555041086648f + f * p;
  p = 0.240226506959f + f * p;
  p = 0.693147180560f + f * p;
  p = 1.0f + f * p;
  floats const power = (floats)((ints)shifted << 23);
  floats const e = x < low ? floats{} : p * power;  // a product: adding to the exponent could turn a NaN into a number
#if __FINITE_MATH_ONLY__                            // with these flags, a comparison does not detect a NaN
  return ((ints)settled(x) & 0x7fffffff) > 0x7f800000 ? x : e;
#else
  return e;
#endif
}

namespace detail {

/// The lanes of a have the numbers from 0 on, and the lanes of b have the numbers from `lanes` on.  Lane x of the
/// result is the lane with number I_x.
template <int... I>
[[gnu::always_inline]] inline floats shuffle(floats a, floats b) {
#if defined(__clang__) || (__GNUC__ >= 12 && !defined(__CUDACC__))
  return __builtin_shufflevector(a, b, I...);
#else
  return __builtin_shuffle(a, b, ints{I...});
#endif
}

// Lane r of the result is a[r] + a[r ^ S] if r & S is 0, else b[r] + b[r ^ S].
template <int S, int... R>
[[gnu::always_inline]] inline floats fold(floats a, floats b, std::integer_sequence<int, R...>) {
  return shuffle<((R & S) ? R + lanes : R)...>(a, b) + shuffle<((R & S) ? (R ^ S) + lanes : (R ^ S))...>(a, b);
}

template <int S>
[[gnu::always_inline]] inline floats sums(float const* p) {
  if constexpr (S == 0) {
    return load(p);
  } else {
    return fold<S>(sums<S / 2>(p), sums<S / 2>(p + S * lanes), std::make_integer_sequence<int, lanes>());
  }
}

}  // namespace detail

/// Returns the sums of the lanes of `lanes` vectors that follow one another in memory.  Lane r of the result is the sum
/// of vector r.
[[gnu::always_inline]] inline floats sums(float const* p) { return detail::sums<lanes / 2>(p); }

}  // namespace triad::simd::inline TRIAD_CPU_FLAGS
