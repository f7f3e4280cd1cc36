// Computes the BLEU score of a corpus as sacreBLEU does, with one or several references, n-grams of up to 4 words, the
// brevity penalty and the smoothing `exp`.
// SPDX-License-Identifier: Apache-2.0
//
//   p_n  = 100 sum over lines of matched n-grams / sum over lines of n-grams of the hypothesis, n = 1..4
//          an n-gram is matched at most as many times as it occurs in the reference that has it most often
//          the k-th p_n that has no match is 100 / (2^k n-grams): the smoothing "exp", sacreBLEU's default
//   B    = 1 if the hypotheses are at least as long as the references, else exp(1 - references / hypotheses)
//          lengths are in tokens; if a line has several references, the reference with the nearest length counts, and
//          the shorter of two equally near references
//   BLEU = B (p_1 p_2 p_3 p_4)^(1/4), from 0 to 100; 0 if no word is matched, or if no hypothesis has four words
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "triad/core/errors.hpp"
#include "triad/io/text/bleu_tokens.hpp"
#include "triad/io/text/ngrams.hpp"

namespace triad::text {

struct bleu_score {
  static constexpr std::size_t longest = 4;

  double score = 0;                                       // from 0 to 100
  double brevity = 1;                                     // the brevity penalty B, from 0 to 1
  std::array<double, longest> precision{};                // the p_n, from 0 to 100, smoothed
  std::array<long long, longest> matched{};               // the number of matched n-grams
  std::array<long long, longest> possible{};              // the number of n-grams of the hypotheses
  long long hypothesis_length = 0, reference_length = 0;  // in tokens
};

/// Counts the n-grams of lines.  Lines may be added in any order.
class bleu {
 public:
  explicit bleu(bleu_tokens tokens) : tokens_(tokens) {}

  void add(std::string_view hypothesis, std::string_view reference) {
    add(hypothesis, std::span<std::string_view const>(&reference, 1));
  }

  /// Adds a line with one or several reference translations.  Throws data_error if there is no reference translation.
  void add(std::string_view hypothesis, std::span<std::string_view const> references) {
    if (references.empty()) throw data_error("BLEU: a line without a reference; give each hypothesis at least one");
    auto const words = tokenize(hypothesis, tokens_);
    std::vector<std::vector<std::string>> theirs;
    for (auto const r : references) theirs.push_back(tokenize(r, tokens_));

    auto const ours = static_cast<long long>(words.size());
    long long nearest = static_cast<long long>(theirs.front().size());
    for (auto const& r : theirs) {
      auto const length = static_cast<long long>(r.size());
      auto const off = std::abs(length - ours), least = std::abs(nearest - ours);
      if (off < least || (off == least && length < nearest)) nearest = length;
    }
    counts_.hypothesis_length += ours;
    counts_.reference_length += nearest;

    for (std::size_t n = 1; n <= bleu_score::longest; ++n) {
      ngram_counts most;
      for (auto const& r : theirs)
        for (auto const& [ngram, times] : ngrams(r, n)) most[ngram] = std::max(most[ngram], times);
      auto const proposed = ngrams(words, n);
      for (auto const& [ngram, times] : proposed) counts_.possible[n - 1] += times;
      counts_.matched[n - 1] += matched_ngrams(proposed, most);
    }
  }

  [[nodiscard]] bleu_score score() const {
    bleu_score s = counts_;
    auto const ours = static_cast<double>(s.hypothesis_length), theirs = static_cast<double>(s.reference_length);
    if (ours < theirs) s.brevity = ours > 0 ? std::exp(1 - theirs / ours) : 0;
    if (s.matched[0] == 0) return s;
    double logarithms = 0, smoothing = 1;
    for (std::size_t n = 0; n < bleu_score::longest; ++n) {
      if (s.possible[n] == 0) return s;  // without n-grams the precision is 0, so the product is 0
      auto const possible = static_cast<double>(s.possible[n]);
      if (s.matched[n] == 0) smoothing *= 2;
      s.precision[n] =
          s.matched[n] == 0 ? 100 / (smoothing * possible) : 100 * static_cast<double>(s.matched[n]) / possible;
      logarithms += std::log(s.precision[n]);
    }
    s.score = s.brevity * std::exp(logarithms / static_cast<double>(bleu_score::longest));
    return s;
  }

 private:
  bleu_tokens tokens_;
  bleu_score counts_;
};

/// Returns the BLEU of hypotheses with one reference each.
inline bleu_score corpus_bleu(std::span<std::string const> hypotheses, std::span<std::string const> references,
                              bleu_tokens tokens) {
  return score_of_corpus("BLEU", bleu(tokens), hypotheses, references);
}

}  // namespace triad::text
