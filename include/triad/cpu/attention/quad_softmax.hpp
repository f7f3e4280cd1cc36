// Masks, softmax, dropout and their gradients, on the scores of a small head in the layout of cpu/attention/quads.hpp.
// SPDX-License-Identifier: Apache-2.0
//
// A function computes one group of queries.  Queries of the last group that do not exist are computed as copies of the
// last query, but nothing is stored for them outside of the scratch memory.
#pragma once

#include <cstdint>
#include <cstring>

#include "triad/cpu/attention/quads.hpp"
#include "triad/cpu/kernels/attention_rows.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

namespace attending {

namespace detail {

template <int S, int... L>
[[gnu::always_inline]] inline floats exchanged(floats v, std::integer_sequence<int, L...>) {
  return simd::detail::shuffle<(L ^ S)...>(v, v);
}
template <int... L>
[[gnu::always_inline]] inline floats each_four_times(floats v, std::integer_sequence<int, L...>) {
  return simd::detail::shuffle<(L / 4)...>(v, v);
}

inline constexpr auto in_order = std::make_integer_sequence<int, simd::lanes>();

}  // namespace detail

/// Combines the four lanes of each query with join(), which must be commutative.
template <class Join>
[[gnu::always_inline]] inline floats across_keys(floats v, Join join) {
  v = join(v, detail::exchanged<1>(v, detail::in_order));
  return join(v, detail::exchanged<2>(v, detail::in_order));
}

/// Returns a vector whose lanes 4 q .. 4 q + 3 are of[q].  Reads four floats, even if a group has fewer queries.
[[gnu::always_inline]] inline floats of_queries(float const* of) {
  return detail::each_four_times(simd::broadcast_four(of), detail::in_order);
}

/// Returns the logarithm of every lane, for 1 <= x < 2^30.  The result for NaN is NaN.
[[gnu::always_inline]] inline floats log_from_one(floats x) {
  ints const bits = (ints)x, exponent = (bits - 0x3f3504f3) >> 23;  // so that the fraction is in [sqrt(0.5), sqrt(2))
  floats const fraction = (floats)(bits - (exponent << 23)), f = fraction - 1.0f;
  // The exponent as a float.  settled() prevents reassociation: -ffast-math would allow products with 12582912.
  floats const count = simd::settled((floats)(exponent + 0x4b400000) - 12582912.0f);
  floats p = 7.0376836292e-2f * f - 1.1514610310e-1f;  // the polynomial of Cephes' logf
  p = p * f + 1.1676998740e-1f;
  p = p * f - 1.2420140846e-1f;
  p = p * f + 1.4249322787e-1f;
  p = p * f - 1.6668057665e-1f;
  p = p * f + 2.0000714765e-1f;
  p = p * f - 2.4999993993e-1f;
  p = p * f + 3.3333331174e-1f;
  floats const square = f * f;
  floats const log = f + (f * square * p - 0.5f * square + count * 0.693147180560f);
  return ((ints)simd::settled(x) & 0x7fffffff) > 0x7f800000 ? x : log;
}

/// Sets the scores of keys that a query may not attend to to below_all.  The group begins with query i and has `count`
/// vectors.
inline void mask_group(head<float> const& at, index_t i, index_t count, float* scores) {
  floats const nothing = simd::broadcast(below_all<float>);
  ints query, key;  // of each lane
  for (int l = 0; l < simd::lanes; ++l) query[l] = l / 4, key[l] = l % 4;
  index_t f = at.seen(i) / 4;
  if (f < count) {
    auto const keys = static_cast<std::int32_t>(at.keys), next = static_cast<std::int32_t>(i + 1 - at.queries) + keys;
    ints const seen = query + next, before = at.t.causal ? ((seen < keys) ? seen : keys - ints{}) : keys - ints{};
    for (; f < count; ++f) {
      float* const x = scores + f * simd::lanes;
      simd::store(x, before > key + static_cast<std::int32_t>(4 * f) ? simd::load(x) : nothing);
    }
  }
  if (at.t.masked.extent(0) == 0) return;
  std::uint8_t const* const masked = at.t.masked.data_handle() + at.first_key;
  for (index_t j = 0; j < std::min(4 * count, at.keys); ++j)
    if (masked[j] != 0)
      for (index_t q = 0; q < group; ++q) scores[j / 4 * simd::lanes + 4 * q + j % 4] = below_all<float>;
}

/// Calls f(x, factors) for each of the `count` vectors of the group that begins with query i, where x is the number of
/// the vector's first float.  The factor of a weight is the lane of `value` if dropout keeps the weight, else 0.
template <class F>
[[gnu::always_inline]] inline void each_kept(head<float> const& at, index_t i, index_t count, floats value,
                                             keep_bits& bits, F&& f) {
  if (!at.t.dropout.active()) {
    for (index_t v = 0; v < count; ++v) f(v * simd::lanes, value);
    return;
  }
  std::uint64_t first[group];
  for (index_t q = 0; q < group; ++q)
    first[q] =
        static_cast<std::uint64_t>(attention_weight(at.s, at.c, at.first_query + std::min(i + q, at.queries - 1), 0));
  ints lane;
  for (int l = 0; l < simd::lanes; ++l) lane[l] = 1 << l % 4;
  for (index_t block = 0; block < count; block += 16) {
    std::uint64_t word[group];
    for (index_t q = 0; q < group; ++q) word[q] = bits.from(first[q] + static_cast<std::uint64_t>(4 * block));
    for (index_t half = block; half < std::min(block + 16, count); half += 8) {
      float words[4] = {};
      for (index_t q = 0; q < group; ++q) {
        auto const part = static_cast<std::uint32_t>(word[q] >> 4 * (half - block));
        std::memcpy(words + q, &part, sizeof part);
      }
      ints const kept = (ints)of_queries(words);
      ints wanted = lane;
      for (index_t v = half; v < std::min(half + 8, count); ++v, wanted = wanted << 4)
        f(v * simd::lanes, (floats)((ints)value & ((kept & wanted) != 0)));
    }
  }
}

/// Multiplies the numbers of a group by `factor`, or by 0 if dropout drops the weight.
[[gnu::noinline]] inline void scale_kept(head<float> const& at, keep_bits& bits, index_t i, index_t count,
                                         floats factor, float* x) {
  each_kept(at, i, count, factor, bits, [&](index_t v, floats kept) __attribute__((always_inline)) {
    simd::store(x + v, simd::load(x + v) * kept);
  });
}

/// Replaces the scores of G groups by p~, and stores the lse of their queries.  The first group begins with query i.
/// The loops over groups are the inner ones, because the steps of one group wait for each other.
template <int G>
[[gnu::noinline]] inline void weigh_groups(head<float> const& at, keep_bits& bits, index_t i, index_t count,
                                           float* scores, index_t jump, vec<float> lse) {
  floats maximum[std::size_t{G}], total[std::size_t{G}];
  for (int g = 0; g < G; ++g) mask_group(at, i + g * group, count, scores + g * jump);
#pragma GCC unroll 5
  for (int g = 0; g < G; ++g) {
    floats most = simd::broadcast(below_all<float>);
    for (index_t v = 0; v < count; ++v) most = simd::max(simd::load(scores + g * jump + v * simd::lanes), most);
    most = across_keys(most, [](floats a, floats b) { return simd::max(a, b); });
    maximum[g] = (most > below_all<float> ? most : floats{}) * at.scale;
    total[g] = floats{};
  }
  for (index_t v = 0; v < count; ++v)
#pragma GCC unroll 5
    for (int g = 0; g < G; ++g) {
      float* const x = scores + g * jump + v * simd::lanes;
      floats const p = exponential(simd::load(x) * at.scale - maximum[g]);
      total[g] = total[g] + p;
      simd::store(x, p);
    }
  float sums[std::size_t{G}][simd::lanes], logs[std::size_t{G}][simd::lanes];
#pragma GCC unroll 5
  for (int g = 0; g < G; ++g) {
    total[g] = across_keys(total[g], [](floats a, floats b) { return a + b; });
    simd::store(sums[g], total[g]);
    simd::store(logs[g], maximum[g] + log_from_one(total[g]));
  }
  for (index_t g = 0; g < G; ++g) {
    floats const sum = simd::load(sums[g]);
    scale_kept(at, bits, i + g * group, count, sum == 0.0f ? floats{} : at.kept / sum, scores + g * jump);
    for (index_t q = 0; q < std::min(group, at.queries - i - g * group); ++q)
      lse(at.statistic(i + g * group + q)) =
          sums[g][4 * q] == 0.0f ? -std::numeric_limits<float>::infinity() : logs[g][4 * q];
  }
}

/// Replaces the scores of the group that begins with query i by p~, and replaces dp~ in `slopes` by ds.  `lse` and
/// `delta` have one number for each query of the group.
inline void slope_group(head<float> const& at, keep_bits& bits, index_t i, index_t count, float const* lse,
                        float const* delta, float* scores, float* slopes) {
  mask_group(at, i, count, scores);
  floats const sums = of_queries(lse), less = of_queries(delta);
  each_kept(at, i, count, simd::broadcast(at.kept), bits, [&](index_t v, floats keep) __attribute__((always_inline)) {
    floats x = simd::load(scores + v);
    x = x > below_all<float> ? x * at.scale - sums : x;  // the lse is minus infinity if all keys are masked
    floats const p = exponential(x);
    simd::store(slopes + v, at.scale * p * (keep * simd::load(slopes + v) - less));
    simd::store(scores + v, keep * p);
  });
}

}  // namespace attending
}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
