// Draws pairs of which no two have the same source.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unordered_set>

#include "shared/data/text_pairs.hpp"
#include "shared/report/refuse.hpp"

namespace triad::programs::cognition {

class distinct_pairs {
 public:
  /// Calls draw() until it returns a pair whose source was not drawn before.  Throws data_error if almost all draws
  /// repeat earlier sources.
  template <class Draw>
  text_pair operator()(Draw&& draw) {
    for (int tries = 0; tries < 10000; ++tries)
      if (text_pair pair = draw(); seen_.insert(pair.source).second) return pair;
    refuse("the grammar has hardly any sentences left that were not drawn: ask for fewer (--sentences, --test-size)");
  }

 private:
  std::unordered_set<std::string> seen_;
};

}  // namespace triad::programs::cognition
