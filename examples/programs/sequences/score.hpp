// Scores translations, and prints tables of scores.  The scores are BLEU, chrF and the fraction of right translations,
// in total and for each kind of sentence.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "program.hpp"
#include "shared/run/training.hpp"
#include "triad/io/text/bleu.hpp"
#include "triad/io/text/chrf.hpp"

namespace triad::programs::sequences {

struct share {
  std::size_t correct = 0, all = 0;

  double percent() const { return all == 0 ? 0 : 100 * static_cast<double>(correct) / static_cast<double>(all); }
};

inline std::vector<std::string> references_of(test_part const& part) {
  std::vector<std::string> result;
  for (auto const& pair : part.pairs) result.push_back(pair.target);
  return result;
}

/// Returns a BLEU score of the unchanged lines for each of these tokenisations, and chrF.
inline std::vector<figure> text_figures(std::vector<std::string> const& hypotheses,
                                        std::vector<std::string> const& references,
                                        std::initializer_list<text::bleu_tokens> ways) {
  std::vector<figure> result;
  for (auto const way : ways)
    result.push_back({"BLEU " + std::string(text::name(way)), text::corpus_bleu(hypotheses, references, way).score});
  result.push_back({"chrF", text::corpus_chrf(hypotheses, references).score});
  return result;
}

/// Returns the BLEU score of a part, computed without tokenisation, and chrF.
inline std::vector<figure> plain_figures(test_part const& part, std::vector<std::string> const& hypotheses) {
  return text_figures(hypotheses, references_of(part), {text::bleu_tokens::none});
}

/// Returns the fraction of right translations for each kind of sentence.  A translation is right if correct(hypothesis,
/// reference) is true.
template <class Right>
std::map<std::string, share> right_ones(Right const& correct, std::vector<text_pair> const& pairs,
                                        std::vector<std::string> const& hypotheses) {
  std::map<std::string, share> kinds;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    auto& kind = kinds[pairs[i].kind];
    kind.correct += correct(hypotheses[i], pairs[i].target) ? 1 : 0;
    ++kind.all;
  }
  return kinds;
}

inline share total(std::map<std::string, share> const& kinds) {
  share all;
  for (auto const& [kind, s] : kinds) {
    all.correct += s.correct;
    all.all += s.all;
  }
  return all;
}

/// Returns the fraction of right translations and the program's further scores.  If there are several kinds of
/// sentence, also returns the fraction for each kind.
part_scores score(program const& p, test_part const& part, std::vector<std::string> const& hypotheses);

/// Returns a line such as "test  exact match 12.3  BLEU tok:none 45.6  chrF 67.8", followed by a table of kinds.
std::string told(part_scores const& r);

/// Returns the mean and the standard error of every score over those runs that have scores, as a text that names these
/// runs.  All of them must have scores of the same parts.
std::string means_of(std::vector<scored_run> const& runs);

/// Returns CSV with the columns seed,part,figure,value.
std::string scores_csv(std::vector<scored_run> const& runs);

/// Writes the translations of a part to a file in a folder.  Does nothing if `folder` is empty.
void write_lines(std::string const& folder, std::string const& part, std::vector<std::string> const& lines);

}  // namespace triad::programs::sequences
