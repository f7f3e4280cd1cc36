// The program's verbs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "options.hpp"

namespace clutrr {

/// What verbs other than train are asked.
struct query {
  std::string checkpoint;             // a run's folder
  bool data_of_run = false;           // evaluate: --data is what the run was trained on
  std::string facts;                  // predict, explain: "ann:mother:bea bea:brother:carl"
  std::string asked;                  // "ann:carl"
  int k = 4;                          // explain without facts: a generated chain of this length
  int number = 0;                     // explain: which one
  std::vector<int> lengths{2, 3, 4};  // generate
  int count = 1000;                   // generate: for each k
};

// Each returns the program's exit status; bad input throws data_error.
int train(options const& o);
int evaluate(options const& o, query const& q);
int predict(options const& o, query const& q);
int explain(options const& o, query const& q);
int generate(options const& o, query const& q);

}  // namespace clutrr
