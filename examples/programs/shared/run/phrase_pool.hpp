// Draws phrases of other training sentences, for programs that swap phrases between sentences.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "triad/batches/augmentation.hpp"
#include "triad/core/random.hpp"

namespace triad::programs {

/// A part of the keys of random streams.  It is larger than any seed that users give.
inline constexpr philox_key swapped_phrases = std::uint64_t{3} << 56U;

/// Returns the random stream of a sentence's swap in this epoch, or nothing if the sentence keeps its phrases.  The
/// result depends only on the arguments.
inline std::optional<random_stream> stream_of_swap(philox_key seed, double rate, std::size_t sentence,
                                                   std::uint64_t epoch) {
  return augmentation{.seed = seed ^ swapped_phrases, .rate = rate}.of(sentence, epoch);
}

/// After this number of draws that give no allowed sentence, a sentence keeps its phrases.
inline constexpr int most_swap_draws = 8;

/// Returns the word with an upper or a lower first letter.  Changes only the letters a to z.
inline std::string with_first(std::string word, bool upper) {
  char const from = upper ? 'a' : 'A', to = upper ? 'A' : 'a';
  if (!word.empty() && word[0] >= from && word[0] <= from + 25) word[0] = static_cast<char>(word[0] - from + to);
  return word;
}

/// All phrases of a list of sentences.
template <class Phrase>
class phrase_pool {
 public:
  /// Adds the phrases of the next sentence.
  void add(std::vector<Phrase> const& phrases) {
    auto const sentence = ends_.size();
    for (auto const& p : phrases) all_.emplace_back(sentence, p);
    ends_.push_back(all_.size());
  }

  /// Returns whether another sentence has a phrase.
  bool has_other(std::size_t sentence) const { return all_.size() > ends_[sentence] - begin(sentence); }
  /// Returns a phrase of another sentence, with the number of that sentence.  All of them are equally likely.  Returns
  /// null if no other sentence has a phrase.
  std::pair<std::size_t, Phrase> const* draw(std::size_t sentence, random_stream& random) const {
    auto const first = begin(sentence), own = ends_[sentence] - first;
    if (!has_other(sentence)) return nullptr;
    std::size_t k = random.below(static_cast<std::uint32_t>(all_.size() - own));
    if (k >= first) k += own;
    return &all_[k];
  }

 private:
  std::size_t begin(std::size_t sentence) const { return sentence == 0 ? 0 : ends_[sentence - 1]; }

  std::vector<std::pair<std::size_t, Phrase>> all_;  // in the order of the sentences
  std::vector<std::size_t> ends_;                    // of each sentence: the end of its phrases in all_
};

}  // namespace triad::programs
