// What counts as right, and what else is measured: BLEU, and of CoGnition the compound translation error rate.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "../common/gz_lines.hpp"
#include "../common/seq2seq/score.hpp"
#include "cter.hpp"
#include "data.hpp"

namespace cognition {

inline std::vector<std::string> read_lines(std::string const& path) {
  triad::examples::gz_lines lines(path);
  std::vector<std::string> result;
  for (std::string line; lines.next(line);) result.push_back(line);
  return result;
}

/// Chinese without the spaces between words, which differ from one segmentation to another.
inline std::vector<std::string> unsegmented(std::vector<std::string> const& lines) {
  std::vector<std::string> result;
  for (auto const& line : lines) result.push_back(unsegmented(line));
  return result;
}

/// BLEU zh and char of Chinese text; of cg-test also both rates of CTER, where compounds and lexicon are there.
inline std::vector<seq2seq::figure> chinese_figures(std::string const& folder, seq2seq::test_part const& part, std::vector<std::string> const& hypotheses) {
  using triad::examples::bleu_tokens;
  auto const ours = unsegmented(hypotheses);
  auto result = seq2seq::bleu_figures(ours, unsegmented(seq2seq::references_of(part)), {bleu_tokens::chinese, bleu_tokens::characters});
  auto const compounds = seq2seq::find_file(folder, {"cg-test.compound"}), lexicon_file = seq2seq::find_file(folder, {"lexicon"});
  if (part.name != "cg-test" || compounds.empty() || lexicon_file.empty()) return result;
  auto const errors = score(ours, read_lines(compounds), lexicon::read(lexicon_file));
  result.push_back({"CTER instance", 100 * errors.instance()});
  result.push_back({"CTER aggregate", 100 * errors.aggregate()});
  return result;
}

/// Data, and how they are measured, as the common verbs want them.
inline seq2seq::program program_of(options const& o, bool needs_train) {
  seq2seq::program p{data_toml(o), triad::examples::toml_without(data_toml(o), {"data", "test", "test-size"}), data_of(o, needs_train)};
  if (o.task == "cognition") {
    p.right = [](std::string const& a, std::string const& b) { return unsegmented(a) == unsegmented(b); };
    p.figures = [folder = o.data](seq2seq::test_part const& part, std::vector<std::string> const& found) { return chinese_figures(folder, part, found); };
  } else {
    p.figures = [](seq2seq::test_part const& part, std::vector<std::string> const& found) {
      return seq2seq::bleu_figures(found, seq2seq::references_of(part), {triad::examples::bleu_tokens::none});
    };
  }
  return p;
}

}  // namespace cognition
