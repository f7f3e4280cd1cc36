// Two sentences, of 3 and of 2 tokens, and five pairs of their tokens, for tests of the heads of dependency parsers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tests/ragged.hpp"
#include "triad/batches/token_sequences.hpp"

namespace triad::test {

struct token_sentences {
  ragged graphs{{3, 2}};
  std::vector<index_t> self{0, 4, 8, 9, 12};
  // The pairs are (0, 2), (1, 1), (2, 2) and again (2, 2) in the first sentence, and (1, 0) in the second.
  std::vector<index_t> edge{2, 4, 8, 8, 9 + 2}, child{0, 1, 2, 2, 4}, parent{2, 1, 2, 2, 3};

  token_sequences<double> input() const {
    token_sequences<double> in{};
    in.graphs = graphs.batch();
    in.self = make_vec(self.data(), 5);
    return in;
  }
  token_pairs pairs() const {
    return {make_vec(edge.data(), 5), make_vec(child.data(), 5), make_vec(parent.data(), 5)};
  }
};

}  // namespace triad::test
