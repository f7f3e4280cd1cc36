// The verbs of all tree-to-tree programs.  Each program supplies its data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "data.hpp"
#include "options.hpp"
#include "shared/cli/verbs.hpp"
#include "shared/data/questions.hpp"

namespace triad::programs::trees {

/// The options of all verbs.
struct program_options : options {
  std::vector<std::string> part_names;  // the only names that --split accepts; empty: any name

  programs::questions questions;  // predict
  bool as_json = false;           // predict: answers as JSON
  bool probabilities = false;     // predict: also prints the smallest weight of a choice
  std::string tree;               // predict, explain: an s-expression
  std::string split;              // explain: name of the part; empty: the first test part
  int row = 0;                    // explain: number of a row in the part, from 1; 0: all rows
  std::string json, dot, svg;     // explain: output files
  bool training = false;          // explain: shows how the choices change in training
  double threshold = 0.9;         // evaluate, explain: smallest weight of a choice in an extracted program
  bool programs = false;          // evaluate: extracts programs and runs them
  bool discrete = false;          // evaluate: the same as `programs`

  void each(option_list& f) override;
};

struct named_data {
  std::string name;  // for messages
  data_set data;
};

/// Reads the data that the options name.  If `trained`, the data are for a trained machine, whose depth is fixed.
using data_reader = std::function<named_data(bool trained)>;
/// Returns the verbs train, evaluate, predict and explain.  `of_train` is the help text of train.
std::vector<verb> verbs_of(program_options& o, data_reader const& read,
                           char const* of_train = "Train, and score all parts of the data");

int explain(program_options& o, data_reader const& read);
int train(program_options& o, data_reader const& read);

/// Returns the depth limit for reading rows.
inline depth_limit limit_of(options const& o, bool trained) {
  return {std::min<index_t>(o.depth, deepest_numbered), o.skip_deeper, trained};
}

}  // namespace triad::programs::trees
