// The verbs of all tree-to-tree programs; each program adds its data.
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

/// Options of a run and of questions to a trained machine.
struct program_options : options {
  std::vector<std::string> part_names;  // of its data, where no others can be asked for

  programs::questions questions;  // predict
  bool as_json = false;           // the same
  bool probabilities = false;     // the same
  std::string tree;               // predict, explain: an s-expression
  std::string split;              // explain: of which part; empty: the first test
  int row = 0;                    // explain: its row, from 1; 0: the programs of all rows
  std::string json, dot, svg;     // explain: files
  bool training = false;          // explain: how the choices went in training
  double threshold = 0.9;         // a program is extracted where each of its choices has this weight
  bool programs = false;          // evaluate: extract programs and run them
  bool discrete = false;          // evaluate: run the likeliest choices

  void each(option_list& f) override;
};

struct named_data {
  std::string name;  // for people
  data_set data;
};

/// Reads the data that the options name; trained: for a machine whose depth is what it is, not for training.
using data_reader = std::function<named_data(bool trained)>;
/// train, evaluate, predict and explain; of_train: what --help says of train.
std::vector<verb> verbs_of(program_options& o, data_reader const& read,
                           char const* of_train = "Train, and score all parts of the data");

int explain(program_options& o, data_reader const& read);
int train(program_options& o, data_reader const& read);

/// How deep the rows may be that are read.
inline depth_limit limit_of(options const& o, bool trained) {
  return {std::min<index_t>(o.depth, deepest_numbered), o.skip_deeper, trained};
}

}  // namespace triad::programs::trees
