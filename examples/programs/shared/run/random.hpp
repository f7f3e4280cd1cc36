// Random numbers of the examples: a counter-based generator, the same numbers on every platform.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace triad::programs {

/// Stream number `stream` of `seed`. Each number is a hash of seed, stream and how many were drawn before, so any
/// stream can be opened without walking through the others. Not for cryptography.
class counter_random {
 public:
  explicit counter_random(std::uint64_t seed, std::uint64_t stream = 0) : key_(mix(mix(seed) + stream)) {}

  std::uint64_t operator()() { return mix(key_ + 0x9e3779b97f4a7c15U * ++drawn_); }

  /// 0 .. bound-1, for bound from 1 to 2^31 - 1. The bias is below bound / 2^32.
  int below(int bound) { return static_cast<int>(((*this)() >> 32U) * static_cast<std::uint64_t>(bound) >> 32U); }

  /// True `numerator` times out of `denominator`.
  bool chance(int numerator, int denominator) { return below(denominator) < numerator; }

 private:
  // The finaliser of splitmix64 (Steele, Lea and Flood 2014), which maps 64 bits one to one.
  static std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31U);
  }

  std::uint64_t key_;
  std::uint64_t drawn_ = 0;
};

}  // namespace triad::programs
