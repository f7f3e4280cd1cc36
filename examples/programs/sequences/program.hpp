// The verbs of all sequence-to-sequence programs.  Each program supplies its data and its scores.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "data.hpp"
#include "options.hpp"
#include "shared/cli/verbs.hpp"
#include "shared/report/refuse.hpp"
#include "shared/run/training.hpp"

namespace triad::programs::sequences {

struct vocabulary;

/// The data and the scores that a program supplies for the verbs.
struct program {
  data_set data;
  std::function<bool(std::string const& hypothesis, std::string const& reference)> right = std::equal_to<>();
  /// Returns further scores of one part, in addition to the fraction of right translations.
  std::function<std::vector<figure>(test_part const&, std::vector<std::string> const& hypotheses)> figures{};
  /// Throws data_error if a trained model with this vocabulary cannot be used for the data.
  std::function<void(vocabulary const& words)> expect_words = [](vocabulary const&) {};
};

/// Throws data_error if all test parts are empty.
inline void expect_tests(program const& p) {
  for (auto const& part : p.data.tests)
    if (!part.pairs.empty()) return;
  refuse("the data have no test part: give others with --data");
}

int train(options& o, program p);
int explain(options const& o, program const& p);

/// Makes a program from the options.  If `needs_train`, the program has training data.  If `measures`, it has the
/// further scores.
using program_maker = std::function<program(bool needs_train, bool measures)>;
/// Returns the verbs train, evaluate, predict and explain.
std::vector<verb> verbs_of(options& o, program_maker const& make);

}  // namespace triad::programs::sequences
