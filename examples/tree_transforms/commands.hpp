// The program's verbs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "options.hpp"

namespace tree_transforms {

/// What verbs other than train are asked.
struct query {
  std::string checkpoint;      // a run's folder
  std::string tree;            // predict, explain: an s-expression
  std::string split = "test";  // explain: of which split
  int row = 0;                 // explain: its row, from 1; 0: the programs of all rows
  double threshold = 0.9;      // a program is extracted where each of its choices has this weight
  bool programs = false;       // evaluate: extract programs and run them
  bool discrete = false;       // evaluate: run the likeliest choices
  bool as_json = false;        // predict
  std::string json, dot, svg;  // explain: files
};

// Each returns the program's exit status; bad input throws data_error.
int train(options const& o);
int evaluate(options const& o, query const& q);
int predict(options const& o, query const& q);
int explain(options const& o, query const& q);
int generate(options const& o, query const& q);

}  // namespace tree_transforms
