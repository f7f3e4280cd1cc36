// Computes the keep bits of a block of 64 elements from sixteen dropout counters at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "triad/core/random.hpp"
#include "triad/cpu/kernels/simd.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

/// The values of a dropout mask that a kernel needs, read once per call.
struct keep_source {
  philox_key key;
  std::uint64_t threshold;
  philox_words first;  // the counter of block 0

  explicit keep_source(dropout_mask const& m) : key(m.key), threshold(m.threshold()), first(m.counter(0)) {}

  /// Returns a word in which bit 16 w + q is set if element block * 64 + 16 w + q is kept.
  std::uint64_t bits(std::uint64_t block) const {
    auto const begin = counter_at(first, block * 16);  // adding up to 15 does not carry into its upper half
#if defined(__AVX512F__)
    if (threshold > 0xffffffffu) return 0;
    // A vector has one word of each of eight counters.  Each word is in the low half of 64 bits, because the product of
    // the next round reads only the low half.
    auto const ma = _mm512_set1_epi64(0xD2511F53), mb = _mm512_set1_epi64(0xCD9E8D57);
    auto const word = [](std::uint32_t w) { return _mm512_set1_epi64(static_cast<long long>(w)); };
    auto const base = static_cast<long long>(begin[0]);
    auto c0 = _mm512_add_epi64(_mm512_set1_epi64(base), _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14)),
         d0 = _mm512_add_epi64(c0, _mm512_set1_epi64(1));
    auto c1 = word(begin[1]), c2 = word(begin[2]), c3 = word(begin[3]), d1 = c1, d2 = c2, d3 = c3;
    auto k0 = word(static_cast<std::uint32_t>(key)), k1 = word(static_cast<std::uint32_t>(key >> 32));
    // Instructions for all lanes.  The intrinsics without masks start from undefined registers, of which g++ 12 warns.
    constexpr __mmask8 all = 0xff;
    auto const turn = [&](auto& w0, auto& w1, auto& w2, auto& w3) __attribute__((always_inline)) {
      auto const a = _mm512_maskz_mul_epu32(all, w0, ma), b = _mm512_maskz_mul_epu32(all, w2, mb);
      w0 = _mm512_ternarylogic_epi64(_mm512_maskz_srli_epi64(all, b, 32), w1, k0, 0x96);  // exclusive or of three
      w1 = b;
      w2 = _mm512_ternarylogic_epi64(_mm512_maskz_srli_epi64(all, a, 32), w3, k1, 0x96);
      w3 = a;
    };
    for (int round = 0; round < 10; ++round) {
      turn(c0, c1, c2, c3);
      turn(d0, d1, d2, d3);
      k0 = _mm512_add_epi32(k0, _mm512_set1_epi32(static_cast<int>(0x9E3779B9u)));
      k1 = _mm512_add_epi32(k1, _mm512_set1_epi32(static_cast<int>(0xBB67AE85u)));
    }
    // Puts the words of even counters into even lanes, and the words of odd counters into odd lanes.
    auto const join = [](auto even, auto odd) __attribute__((always_inline)) {
      return _mm512_mask_shuffle_epi32(even, 0xAAAA, odd, static_cast<_MM_PERM_ENUM>(0xA0));
    };
    c0 = join(c0, d0);
    c1 = join(c1, d1);
    c2 = join(c2, d2);
    c3 = join(c3, d3);
    auto const limit = _mm512_set1_epi32(static_cast<int>(threshold));
    std::uint64_t const w0 = _mm512_cmpge_epu32_mask(c0, limit), w1 = _mm512_cmpge_epu32_mask(c1, limit);
    std::uint64_t const w2 = _mm512_cmpge_epu32_mask(c2, limit), w3 = _mm512_cmpge_epu32_mask(c3, limit);
    return w0 | w1 << 16 | w2 << 32 | w3 << 48;
#else
    std::uint64_t kept = 0;
    for (std::uint32_t q = 0; q < 16; ++q) {
      auto c = begin;
      c[0] += q;
      auto const words = philox(c, key);
      for (std::uint32_t w = 0; w < 4; ++w)
        if (words[w] >= threshold) kept |= std::uint64_t{1} << (16 * w + q);
    }
    return kept;
#endif
  }
};

/// Applies dropout to one row of a matrix of `columns` columns.  Sets to[e] to from[e] * scale if element e is kept,
/// else to 0.
template <class T>
void drop_row(keep_source const& source, T scale, index_t row, index_t columns, T const* from, T* to) {
  auto const blocks = (columns + dropout_block - 1) / dropout_block;
  for (index_t b = 0; b < blocks; ++b) {
    auto const kept = source.bits(static_cast<std::uint64_t>(row * blocks + b));
    index_t const begin = b * dropout_block, end = begin + dropout_block < columns ? begin + dropout_block : columns;
    if constexpr (std::is_same_v<T, float>) {
      auto const factor = simd::broadcast(scale);
      index_t c = begin;
      for (; c + simd::lanes <= end; c += simd::lanes)
        simd::store(to + c, simd::keep(simd::load(from + c) * factor, static_cast<std::uint32_t>(kept >> (c - begin))));
      if (c < end) {
        simd::tail const last(end - c);
        last.store(to + c, simd::keep(last.load(from + c) * factor, static_cast<std::uint32_t>(kept >> (c - begin))));
      }
    } else {
#pragma omp simd
      for (index_t c = begin; c < end; ++c) to[c] = (kept >> (c - begin) & 1) != 0 ? from[c] * scale : T(0);
    }
  }
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
