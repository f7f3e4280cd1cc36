// Sixteen dropout counters at once: the keep bits of a block of 64 elements.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "triad/core/random.hpp"

#if defined(__AVX512F__)
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

namespace triad::cpu {

/// What a kernel needs of a dropout mask, read once a call.
struct keep_source {
  philox_key key;
  std::uint64_t threshold;
  philox_words first;  // counter of block 0

  explicit keep_source(dropout_mask const& m) : key(m.key), threshold(m.threshold()), first(m.counter(0)) {}

  /// Bit 16 w + q is set where element block * 64 + 16 w + q is kept.
  std::uint64_t bits(std::uint64_t block) const {
#if defined(__AVX512F__)
    if (threshold > 0xffffffffu) return 0;
    auto const swap_high = _mm512_set1_epi64(static_cast<long long>(0xffffffff00000000u));
    auto const ma = _mm512_set1_epi64(0xD2511F53), mb = _mm512_set1_epi64(0xCD9E8D57);
    auto c0 = _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(block * 16)),
                               _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    auto c1 = _mm512_set1_epi32(static_cast<int>(first[1])), c2 = _mm512_set1_epi32(static_cast<int>(first[2])),
         c3 = _mm512_set1_epi32(static_cast<int>(first[3]));
    auto k0 = _mm512_set1_epi32(static_cast<int>(key)), k1 = _mm512_set1_epi32(static_cast<int>(key >> 32));
    for (int round = 0; round < 10; ++round) {
      // 32 x 32 -> 64 products of the even and the odd lanes.
      auto const a_even = _mm512_mul_epu32(c0, ma), a_odd = _mm512_mul_epu32(_mm512_srli_epi64(c0, 32), ma);
      auto const b_even = _mm512_mul_epu32(c2, mb), b_odd = _mm512_mul_epu32(_mm512_srli_epi64(c2, 32), mb);
      auto const a_high = _mm512_or_si512(_mm512_srli_epi64(a_even, 32), _mm512_and_si512(a_odd, swap_high));
      auto const b_high = _mm512_or_si512(_mm512_srli_epi64(b_even, 32), _mm512_and_si512(b_odd, swap_high));
      auto const a_low = _mm512_or_si512(_mm512_andnot_si512(swap_high, a_even), _mm512_slli_epi64(a_odd, 32));
      auto const b_low = _mm512_or_si512(_mm512_andnot_si512(swap_high, b_even), _mm512_slli_epi64(b_odd, 32));
      c0 = _mm512_xor_si512(_mm512_xor_si512(b_high, c1), k0);
      c1 = b_low;
      c2 = _mm512_xor_si512(_mm512_xor_si512(a_high, c3), k1);
      c3 = a_low;
      k0 = _mm512_add_epi32(k0, _mm512_set1_epi32(static_cast<int>(0x9E3779B9u)));
      k1 = _mm512_add_epi32(k1, _mm512_set1_epi32(static_cast<int>(0xBB67AE85u)));
    }
    auto const limit = _mm512_set1_epi32(static_cast<int>(threshold));
    std::uint64_t const w0 = _mm512_cmpge_epu32_mask(c0, limit), w1 = _mm512_cmpge_epu32_mask(c1, limit);
    std::uint64_t const w2 = _mm512_cmpge_epu32_mask(c2, limit), w3 = _mm512_cmpge_epu32_mask(c3, limit);
    return w0 | w1 << 16 | w2 << 32 | w3 << 48;
#else
    std::uint64_t kept = 0;
    for (std::uint32_t q = 0; q < 16; ++q) {
      auto c = first;
      c[0] = static_cast<std::uint32_t>(block * 16 + q);
      auto const words = philox(c, key);
      for (std::uint32_t w = 0; w < 4; ++w)
        if (words[w] >= threshold) kept |= std::uint64_t{1} << (16 * w + q);
    }
    return kept;
#endif
  }
};

/// values(e) = kept ? values(e) * scale : 0 for one row of a matrix of `columns` columns.
template <class T>
void drop_row(keep_source const& source, T scale, index_t row, index_t columns, T const* from, T* to) {
  auto const blocks = (columns + dropout_block - 1) / dropout_block;
  for (index_t b = 0; b < blocks; ++b) {
    auto const kept = source.bits(static_cast<std::uint64_t>(row * blocks + b));
    index_t const begin = b * dropout_block, end = begin + dropout_block < columns ? begin + dropout_block : columns;
#pragma omp simd
    for (index_t c = begin; c < end; ++c) to[c] = (kept >> (c - begin) & 1) != 0 ? from[c] * scale : T(0);
  }
}

}  // namespace triad::cpu
