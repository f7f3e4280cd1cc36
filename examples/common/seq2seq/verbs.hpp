// The verbs that all sequence-to-sequence programs have; a program adds its data and what counts as right.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "data.hpp"
#include "options.hpp"

namespace seq2seq {

/// Something measured of a model on a part of the data, in percent, or from 0 to 100 as BLEU.
struct figure {
  std::string name;
  double value;
};

/// What a program adds to the verbs.
struct program {
  std::string toml;      // its own options, for config.toml
  std::string settings;  // those of its options that decide what training computes
  data_set data;
  std::function<bool(std::string const& hypothesis, std::string const& reference)> right = std::equal_to<>();
  /// Of one part, beside the share of right translations.
  std::function<std::vector<figure>(test_part const&, std::vector<std::string> const& hypotheses)> figures{};
};

/// Throws data_error where there is nothing to measure.
inline void expect_tests(program const& p) {
  for (auto const& part : p.data.tests)
    if (!part.pairs.empty()) return;
  throw triad::data_error("the data have no test part: give others with --data");
}

/// What verbs other than train are asked.
struct query {
  std::string checkpoint;  // a run's folder
  std::string sentence;    // predict
  int n_best = 1;
  bool unknown = false;  // predict: unknown words become <unk>
  int count = 200;       // explain: pairs
};

// Each returns the program's exit status; bad input throws data_error.
int train(options const& o, program const& p);
int evaluate(options const& o, program const& p, query const& q);
int predict(options const& o, query const& q);
int explain(options const& o, program const& p, query const& q);

}  // namespace seq2seq
