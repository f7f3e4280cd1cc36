// Computes the chrF score of a corpus (M. Popovic 2015) as sacreBLEU does, with one or several references: n-grams of
// up to 6 characters, without white space and without words, and beta = 2.
// SPDX-License-Identifier: Apache-2.0
//
//   p_n  = matched n-grams / n-grams of the hypotheses,  r_n = matched n-grams / n-grams of the references,  n = 1..6
//          an n-gram is matched at most as many times as the reference has it; all counts are sums over lines
//          n-grams of a hypothesis count only if its reference has n-grams of this length; so a line whose reference
//          is empty counts nothing, whatever its hypothesis is (BLEU counts it)
//   P, R = means of the p_n and r_n over those n for which both are defined
//   chrF = 100 (1 + beta^2) P R / (beta^2 P + R), from 0 to 100; 0 if nothing is matched
//
// Of several references of a line, the one with the highest chrF of this line counts; of equal ones, the first.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "triad/core/errors.hpp"
#include "triad/io/text/bleu_tokens.hpp"
#include "triad/io/text/ngrams.hpp"

namespace triad::text {

struct chrf_score {
  static constexpr std::size_t longest = 6;
  static constexpr double beta = 2;

  double score = 0;                            // from 0 to 100
  std::array<long long, longest> matched{};    // the number of matched n-grams
  std::array<long long, longest> proposed{};   // the number of n-grams of the hypotheses
  std::array<long long, longest> reference{};  // the number of n-grams of the references
};

/// Counts the n-grams of lines.  Lines may be added in any order.
class chrf {
 public:
  void add(std::string_view hypothesis, std::string_view reference) {
    add(hypothesis, std::span<std::string_view const>(&reference, 1));
  }

  /// Adds a line with one or several reference translations.  Throws data_error if there is no reference translation.
  void add(std::string_view hypothesis, std::span<std::string_view const> references) {
    if (references.empty()) throw data_error("chrF: a line without a reference; give each hypothesis at least one");
    auto const ours = counts_of(hypothesis);
    chrf_score best;
    best.score = -1;
    for (auto const reference : references) {
      auto one = compared(ours, counts_of(reference));
      one.score = of(one);
      if (one.score > best.score) best = one;
    }
    for (std::size_t n = 0; n < chrf_score::longest; ++n) {
      counts_.matched[n] += best.matched[n];
      counts_.proposed[n] += best.proposed[n];
      counts_.reference[n] += best.reference[n];
    }
  }

  [[nodiscard]] chrf_score score() const {
    auto s = counts_;
    s.score = of(s);
    return s;
  }

 private:
  using counts = std::array<ngram_counts, chrf_score::longest>;

  static counts counts_of(std::string_view line) {
    auto const letters = tokenize(line, bleu_tokens::characters);
    counts result;
    for (std::size_t n = 1; n <= chrf_score::longest; ++n) result[n - 1] = ngrams(letters, n);
    return result;
  }

  static chrf_score compared(counts const& ours, counts const& theirs) {
    chrf_score s;
    for (std::size_t n = 0; n < chrf_score::longest; ++n) {
      for (auto const& [ngram, times] : theirs[n]) s.reference[n] += times;
      if (theirs[n].empty()) continue;
      for (auto const& [ngram, times] : ours[n]) s.proposed[n] += times;
      s.matched[n] = matched_ngrams(ours[n], theirs[n]);
    }
    return s;
  }

  static double of(chrf_score const& s) {
    double precision = 0, recall = 0;
    int orders = 0;
    for (std::size_t n = 0; n < chrf_score::longest; ++n) {
      if (s.proposed[n] == 0 || s.reference[n] == 0) continue;
      auto const matched = static_cast<double>(s.matched[n]);
      precision += matched / static_cast<double>(s.proposed[n]);
      recall += matched / static_cast<double>(s.reference[n]);
      ++orders;
    }
    if (orders == 0 || precision + recall == 0) return 0;
    constexpr double factor = chrf_score::beta * chrf_score::beta;
    precision /= orders, recall /= orders;
    return 100 * (1 + factor) * precision * recall / (factor * precision + recall);
  }

  chrf_score counts_;
};

/// Returns the chrF of hypotheses with one reference each.
inline chrf_score corpus_chrf(std::span<std::string const> hypotheses, std::span<std::string const> references) {
  return score_of_corpus("chrF", chrf(), hypotheses, references);
}

}  // namespace triad::text
