// The program's verbs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "options.hpp"

namespace cogs {

/// What verbs other than train are asked.
struct query {
  std::string checkpoint;  // a run's folder
  std::string sentence;    // predict, explain
  bool argmax = false;     // each token's own best parent, as published, instead of the best tree
  int count = 1000;        // generate: training sentences
};

// Each returns the program's exit status; bad input throws data_error.
int train(options const& o);
int evaluate(options const& o, query const& q);
int predict(options const& o, query const& q);
int explain(options const& o, query const& q);
int generate(options const& o, query const& q);

}  // namespace cogs
