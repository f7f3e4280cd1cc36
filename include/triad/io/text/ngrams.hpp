// N-grams of tokens, which BLEU and chrF count.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "triad/core/errors.hpp"

namespace triad::text {

using ngram_counts = std::unordered_map<std::string, long long>;

/// Returns how often each n-gram of the tokens occurs.  No token may contain a space, which separates the tokens of an
/// n-gram.
inline ngram_counts ngrams(std::vector<std::string> const& tokens, std::size_t n) {
  ngram_counts result;
  for (std::size_t first = 0; first + n <= tokens.size(); ++first) {
    std::string ngram;
    for (std::size_t i = first; i < first + n; ++i) (ngram += tokens[i]) += ' ';
    ++result[ngram];
  }
  return result;
}

/// Returns the number of n-grams of `ours` that `theirs` has, too.  Each counts at most as often as in `theirs`.
inline long long matched_ngrams(ngram_counts const& ours, ngram_counts const& theirs) {
  long long matched = 0;
  for (auto const& [ngram, times] : ours)
    if (auto const found = theirs.find(ngram); found != theirs.end()) matched += std::min(times, found->second);
  return matched;
}

/// Adds hypotheses with one reference each to a counter of n-grams, and returns its score.  `name` is the name of the
/// score in errors.
template <class Counter>
auto score_of_corpus(std::string const& name, Counter counted, std::span<std::string const> hypotheses,
                     std::span<std::string const> references) {
  if (hypotheses.size() != references.size())
    throw data_error(name + ": " + std::to_string(hypotheses.size()) + " hypotheses but " +
                     std::to_string(references.size()) + " references; give one line each");
  for (std::size_t i = 0; i < hypotheses.size(); ++i) counted.add(hypotheses[i], references[i]);
  return counted.score();
}

}  // namespace triad::text
