// The task's verbs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "options.hpp"

namespace dependency {

/// What verbs other than train are asked.
struct query {
  std::string checkpoint;  // a run's folder
  std::string sentence;    // predict, explain: words separated by spaces
  std::string file;        // predict: CoNLL-U, whose heads are not looked at
  bool unknown = false;    // predict, explain: unknown words become <unk>
};

// Each returns the program's exit status; bad input throws data_error.
int train(options const& o);
int evaluate(options const& o, query const& q);
int predict(options const& o, query const& q);
int explain(options const& o, query const& q);

}  // namespace dependency
