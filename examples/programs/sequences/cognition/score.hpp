// Scores of translations: exact match, BLEU, and for CoGnition the compound translation error rate.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "cter.hpp"
#include "data.hpp"
#include "sequences/score.hpp"
#include "shared/cli/say.hpp"
#include "shared/data/data_folder.hpp"
#include "shared/report/refuse.hpp"
#include "triad/io/text/gz_lines.hpp"

namespace triad::programs::cognition {

inline std::vector<std::string> read_lines(std::string const& path) {
  text::gz_lines lines(path);
  std::vector<std::string> result;
  for (std::string line; lines.next(line);) result.push_back(line);
  return result;
}

/// Returns Chinese lines without the spaces between words, because different tools divide a line into different words.
inline std::vector<std::string> unsegmented(std::vector<std::string> const& lines) {
  std::vector<std::string> result;
  for (auto const& line : lines) result.push_back(unsegmented(line));
  return result;
}

/// The compounds and the lexicon that CTER needs.
struct compound_list {
  std::vector<std::string> compounds;  // one for each line of cg-test
  lexicon known;
};

/// Reads the compounds and the lexicon of a folder.  Returns nothing if the data have no cg-test.  If a file is
/// missing, prints its name and returns nothing.  Throws data_error if the compounds do not fit cg-test.
inline std::optional<compound_list> read_compounds(std::string const& folder, data_set const& data) {
  auto const part = std::find_if(data.tests.begin(), data.tests.end(),
                                 [](sequences::test_part const& p) { return p.name == "cg-test"; });
  if (part == data.tests.end()) return std::nullopt;
  auto const file = find_file(folder, {"cg-test.compound"}), lexicon_file = find_file(folder, {"lexicon"});
  if (file.empty() || lexicon_file.empty()) {
    say("CTER of cg-test is left out: there is no {} in {}\n",
        !file.empty()           ? "lexicon"
        : !lexicon_file.empty() ? "cg-test.compound"
                                : "cg-test.compound and no lexicon",
        folder);
    return std::nullopt;
  }
  compound_list result{read_lines(file), lexicon::read(lexicon_file)};
  if (result.compounds.size() != part->pairs.size())
    refuse("{}: there are {} compounds, but cg-test has {} sentences; expected a line for each", file,
           result.compounds.size(), part->pairs.size());
  try {
    check_compounds(result.compounds, result.known);
  } catch (data_error const& e) {
    refuse("{}, with {}: {}", file, lexicon_file, e.what());
  }
  return result;
}

/// Returns the BLEU scores "zh" and "char" of Chinese text, and chrF.  If all references are ASCII, "none", which
/// compares the words that spaces separate, replaces "zh".  For cg-test, also returns the two rates of CTER if `list`
/// has the compounds, of all lines and of each kind of compound.
inline std::vector<figure> chinese_figures(std::optional<compound_list> const& list, sequences::test_part const& part,
                                           std::vector<std::string> const& hypotheses) {
  using text::bleu_tokens;
  auto const ours = unsegmented(hypotheses), references = sequences::references_of(part);
  bool const ascii = std::all_of(references.begin(), references.end(), [](std::string const& line) {
    return std::all_of(line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 128; });
  });
  auto result =
      ascii ? sequences::text_figures(hypotheses, references, {bleu_tokens::none, bleu_tokens::characters})
            : sequences::text_figures(ours, unsegmented(references), {bleu_tokens::chinese, bleu_tokens::characters});
  if (part.name != "cg-test" || !list) return result;
  std::vector<std::string> kinds;
  for (auto const& pair : part.pairs) kinds.push_back(pair.kind);
  auto const of_kinds = scores_by_kind(ours, list->compounds, kinds, list->known);
  auto const errors = total(of_kinds);
  result.push_back({"CTER instance", 100 * errors.instance()});
  result.push_back({"CTER aggregate", 100 * errors.aggregate()});
  if (of_kinds.size() < 2) return result;
  for (auto const& [kind, counts] : of_kinds) {
    result.push_back({"CTER instance", 100 * counts.instance(), kind});
    result.push_back({"CTER aggregate", 100 * counts.aggregate(), kind});
  }
  return result;
}

/// Returns the data and the scores of cognition, for the verbs that all sequence-to-sequence programs share.
inline sequences::program program_of(options const& o, bool needs_train) {
  sequences::program p{data_of(o, needs_train)};
  if (o.task == "cognition") {
    p.right = [](std::string const& a, std::string const& b) { return unsegmented(a) == unsegmented(b); };
    p.figures = [list = read_compounds(o.data, p.data)](sequences::test_part const& part,
                                                        std::vector<std::string> const& found) {
      return chinese_figures(list, part, found);
    };
  } else {
    p.figures = sequences::plain_figures;
  }
  return p;
}

}  // namespace triad::programs::cognition
