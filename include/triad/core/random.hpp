// Counter-based random numbers.  A random number depends only on (seed, step, path, element), so all backends compute
// the same random numbers, with any number of threads.
// SPDX-License-Identifier: Apache-2.0
//
// The generator is Philox 4x32 with 10 rounds (Salmon et al., SC 2011).  The key of the generator is the seed.  The
// generator maps a counter of four words to four random words.  The words of a counter are its number, the step, and
// the path (two words).
//
// Dropout divides the elements of a tensor into blocks of 64.  Block k uses the sixteen counters with the numbers 16 k
// to 16 k + 15, so sixteen vector lanes can compute a block at once.  Word w of counter 16 k + q decides whether
// element 64 k + 16 w + q is kept.  From element 2^34 on, the number of a counter has more than 32 bits.  The upper 32
// bits, times an odd constant, are then combined by XOR with the word that has the step.
#pragma once

#include <cstdint>
#include <cuda/std/array>
#include <string>
#include <utility>
#include <vector>

#include "triad/core/contracts.hpp"
#include "triad/core/finite.hpp"
#include "triad/core/mdspan.hpp"

namespace triad {

/// The seed of a run.
using philox_key = std::uint64_t;
/// The four words of a counter, or the four random words that are computed from a counter.
using philox_words = ::cuda::std::array<std::uint32_t, 4>;

/// Returns the random words of a counter, computed in 10 rounds.
TRIAD_HOST_DEVICE constexpr philox_words philox(philox_words c, philox_key key) {
  auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    std::uint64_t const a = std::uint64_t{0xD2511F53u} * c[0], b = std::uint64_t{0xCD9E8D57u} * c[2];
    c = {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ k0, static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ k1, static_cast<std::uint32_t>(a)};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return c;
}

/// Returns counter `number` of a mask.  `first` is counter 0.
TRIAD_HOST_DEVICE constexpr philox_words counter_at(philox_words first, std::uint64_t number) {
  first[0] = static_cast<std::uint32_t>(number);
  // The factor is odd, so different numbers give different words.  These words are far from the words of nearby steps.
  first[1] ^= static_cast<std::uint32_t>(number >> 32) * 0x9E3779B9u;
  return first;
}

/// The number of elements whose dropout is computed together.
inline constexpr index_t dropout_block = 64;

/// Selects the elements of a tensor that dropout keeps in one training step.  With rate 0, all elements are kept.  If
/// the batch of a step is computed in several parts, the upper half of *step is the number of the part, so that no two
/// parts have the same mask.
struct dropout_mask {
  double rate = 0;
  philox_key key = 0;
  std::uint64_t path = 0;
  std::uint64_t const* step = nullptr;  // lies in the backend's memory; null: step 0

  TRIAD_HOST_DEVICE constexpr bool active() const { return rate > 0; }
  /// Returns the factor that multiplies kept values.
  TRIAD_HOST_DEVICE constexpr double scale() const { return rate < 1 ? 1 / (1 - rate) : 0; }
  /// Returns the threshold: an element is kept if its random word is at least the threshold.  With rate 1, the
  /// threshold is 2^32, which is larger than every word.
  TRIAD_HOST_DEVICE constexpr std::uint64_t threshold() const {
    return static_cast<std::uint64_t>(rate * 4294967296.0);
  }

  TRIAD_HOST_DEVICE constexpr philox_words counter(std::uint64_t number) const {
    auto const s = step ? *step : 0;
    auto const part = static_cast<std::uint32_t>(s >> 32) * 0x9E3779B9u;  // the factor is odd, so parts differ
    return counter_at({0, static_cast<std::uint32_t>(s), static_cast<std::uint32_t>(path),
                       static_cast<std::uint32_t>(path >> 32) ^ part},
                      number);
  }

  TRIAD_HOST_DEVICE constexpr bool keeps(std::uint64_t element) const {
    auto const lane = element % 64, w = lane / 16, q = lane % 16;
    auto const words = philox(counter(element / 64 * 16 + q), key);
    return words[w] >= threshold();
  }
};

/// Throws contract_violation if the rate is not a number from 0 to 1.
inline void expect_rate(char const* operation, dropout_mask const& mask) {
  TRIAD_EXPECTS(!is_nan(mask.rate) && mask.rate >= 0 && mask.rate <= 1,
                std::string(operation) + ": the rate of dropout is " + std::to_string(mask.rate) + ", expected 0 to 1");
}

/// Returns the dropout index of an element of a matrix.  Elements are numbered row by row, and each row begins a new
/// block.
TRIAD_HOST_DEVICE constexpr std::uint64_t dropout_element(index_t row, index_t column, index_t columns) {
  auto const blocks = (columns + dropout_block - 1) / dropout_block;
  return static_cast<std::uint64_t>(row * blocks * dropout_block + column);
}

/// A stream of random numbers on the host, for initialisation and sampling.
class random_stream {
 public:
  constexpr random_stream(philox_key key, std::uint64_t stream) : key_(key), stream_(stream) {}

  constexpr std::uint32_t bits() {
    if (next_ == 4) {
      words_ = philox({static_cast<std::uint32_t>(block_), static_cast<std::uint32_t>(block_ >> 32),
                       static_cast<std::uint32_t>(stream_), static_cast<std::uint32_t>(stream_ >> 32)},
                      key_);
      ++block_;
      next_ = 0;
    }
    return words_[static_cast<std::size_t>(next_++)];
  }
  /// Returns a uniform number in [0, 1) with 53 bits.
  constexpr double uniform() {
    auto const high = bits() >> 5, low = bits() >> 6;
    return (high * 67108864.0 + low) / 9007199254740992.0;
  }
  constexpr double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Returns a uniform number in 0 .. count-1, without bias.  count must be 1 or more.
  constexpr std::uint32_t below(std::uint32_t count) {
    TRIAD_EXPECTS(count > 0,
                  "random_stream: a number below 0, expected a bound of 1 or more; are the data to choose from empty?");
    std::uint64_t product = std::uint64_t{bits()} * count;
    while (static_cast<std::uint32_t>(product) < (0u - count) % count) product = std::uint64_t{bits()} * count;
    return static_cast<std::uint32_t>(product >> 32);
  }
  /// Shuffles up to 2^32 - 1 values.  Every order has the same probability.
  template <class T>
  void shuffle(std::vector<T>& values) {
    for (auto i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(static_cast<std::uint32_t>(i))]);
  }

 private:
  philox_key key_;
  std::uint64_t stream_, block_ = 0;
  philox_words words_{};
  int next_ = 4;
};

/// A random number generator on the host.  Each draw returns 64 bits, whereas random_stream returns 32 bits.  The
/// example programs generate their data with this generator.  As in random_stream, a number depends on the seed, the
/// stream and the number of earlier draws.  The hash function is SplitMix64, which needs a third of the work of Philox.
/// Neither generator is suitable for cryptography.
class counter_random {
 public:
  explicit counter_random(std::uint64_t seed, std::uint64_t stream = 0) : key_(mix(mix(seed) + stream)) {}

  std::uint64_t operator()() { return mix(key_ + 0x9e3779b97f4a7c15U * ++drawn_); }

  /// Returns a number in 0 .. bound-1, for bound from 1 to 2^31 - 1.  The bias is below bound / 2^32.
  int below(int bound) { return static_cast<int>(((*this)() >> 32U) * static_cast<std::uint64_t>(bound) >> 32U); }

  /// Returns true with probability numerator / denominator.
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

}  // namespace triad
