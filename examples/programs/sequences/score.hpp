// Scores of translations: the fraction of right ones, also for each kind of sentence if there are kinds; BLEU; and
// tables of these.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "program.hpp"
#include "shared/run/training.hpp"
#include "triad/io/text/bleu.hpp"

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

/// One or more tokenisations of BLEU over the lines as they are.
inline std::vector<figure> bleu_figures(std::vector<std::string> const& hypotheses,
                                        std::vector<std::string> const& references,
                                        std::initializer_list<text::bleu_tokens> ways) {
  std::vector<figure> result;
  for (auto const way : ways)
    result.push_back({"BLEU " + std::string(text::name(way)), text::corpus_bleu(hypotheses, references, way).score});
  return result;
}

/// The plain one, of a program's part.
inline std::vector<figure> plain_bleu(test_part const& part, std::vector<std::string> const& hypotheses) {
  return bleu_figures(hypotheses, references_of(part), {text::bleu_tokens::none});
}

/// right(hypothesis, reference), by kind of sentence.
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

/// The share of right translations, by kind where there are several, and the program's own figures.
part_scores score(program const& p, test_part const& part, std::vector<std::string> const& hypotheses);

/// "test  exact match 12.3  BLEU tok:none 45.6"; a line, and then a table of kinds.
std::string told(part_scores const& r);

/// Mean and standard error of every figure over the runs that have a score, which have the same parts, and which runs
/// these are.
std::string means_of(std::vector<scored_run> const& runs);

/// seed,part,figure,value
std::string scores_csv(std::vector<scored_run> const& runs);

/// The translations of a part as a file of a folder; none where there is no folder.
void write_lines(std::string const& folder, std::string const& part, std::vector<std::string> const& lines);

}  // namespace triad::programs::sequences
