// The verbs that all tree-to-tree programs have; a program adds its data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "../apps/questions.hpp"
#include "../apps/verbs.hpp"
#include "data.hpp"
#include "options.hpp"

namespace trees {

/// What a run is told, and what a trained machine is asked.
struct program_options : options {
  std::vector<std::string> part_names;  // of its data, where no others can be asked for

  triad::apps::questions questions;  // predict
  bool as_json = false;              // the same
  std::string tree;                  // predict, explain: an s-expression
  std::string split;                 // explain: of which part; empty: the first test
  int row = 0;                       // explain: its row, from 1; 0: the programs of all rows
  std::string json, dot, svg;        // explain: files
  double threshold = 0.9;            // a program is extracted where each of its choices has this weight
  bool programs = false;             // evaluate: extract programs and run them
  bool discrete = false;             // evaluate: run the likeliest choices

  void each(triad::apps::option_list& f) override;
};

/// What a program adds to the verbs.
struct program {
  std::string name;  // of its data, for people
  data_set data;
};

/// Makes a program of the options; trained: for a machine whose depth is what it is, not for training.
using program_maker = std::function<program(bool trained)>;
/// train, evaluate, predict and explain.
std::vector<triad::apps::verb> verbs_of(program_options& o, program_maker const& make);

int explain(program_options& o, program_maker const& make);
int train(program_options& o, program_maker const& make);

/// How deep the rows may be that are read.
inline depth_limit limit_of(options const& o, bool trained) {
  depth_limit limit{std::min<index_t>(o.depth, deepest_numbered), o.skip_deeper};
  if (trained) limit.advice = "--skip-deeper leaves such rows out";
  return limit;
}

}  // namespace trees
