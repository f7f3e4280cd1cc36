// Changes a sentence randomly each time that training uses it: drops words, and draws random positions.
// SPDX-License-Identifier: Apache-2.0
//
// Positions are a random subset of 0 .. range - 1 in ascending order (Ruoss et al. 2023, Randomized Positional
// Encodings Boost Length Generalization of Transformers).  So a model is trained on larger offsets than those in its
// longest sentence.
#pragma once

#include <cstdint>
#include <vector>

#include "triad/batches/sentence_loader.hpp"
#include "triad/core/random.hpp"

namespace triad::programs::cogs {

/// A number that no word has.  A dropped word has the vector of this number.
inline constexpr index_t dropped_word = 0;

/// These constants are part of the keys of random streams, one for each kind of draw.  They are larger than any seed
/// that users give.  shared/run/phrase_pool.hpp has another one.
inline constexpr philox_key dropped_words = std::uint64_t{1} << 56U, drawn_positions = std::uint64_t{2} << 56U;

/// Drops each word with probability `rate`; `word` remains the original word.  Rate 0 changes nothing.
inline void drop_words(std::vector<labelled_token>& sentence, double rate, random_stream random) {
  if (rate == 0) return;
  for (auto& t : sentence) {
    t.word = t.token;
    if (random.uniform() < rate) t.token = dropped_word;
  }
}

/// Gives the words positions from 0 .. range - 1 in ascending order.  All sets of positions are equally likely.  Range
/// 0 changes nothing.  Any other range must be at least the number of words.
inline void draw_positions(std::vector<labelled_token>& sentence, int range, random_stream random) {
  if (range == 0) return;
  std::size_t next = 0;
  for (int place = 0; next < sentence.size(); ++place) {
    // Takes this position with probability (remaining words) / (remaining positions) (Knuth, The Art of Computer
    // Programming, 3.4.2, algorithm S).
    auto const wanted = static_cast<std::uint32_t>(sentence.size() - next);
    if (random.below(static_cast<std::uint32_t>(range - place)) < wanted) sentence[next++].position = place;
  }
}

}  // namespace triad::programs::cogs
