// What CFQ adds to the verbs of every sequence-to-sequence program: its data, and the order of conjuncts that is free.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cfq/conjuncts.hpp"
#include "data.hpp"
#include "options.hpp"
#include "sequences/program.hpp"
#include "sequences/score.hpp"

namespace triad::programs::cfq_sequences {

inline sequences::program program_of(options const& o, bool needs_train) {
  sequences::program p{data_of(o, needs_train)};
  if (!needs_train)
    p.expect_words = [raw = raw_token(p.data)](sequences::vocabulary const& words) {
      expect_same_form(raw, words.target.words());
    };
  p.figures = [](sequences::test_part const& part, std::vector<std::string> const& found) {
    auto const same = sequences::right_ones(cfq::same_conjuncts, part.pairs, found);
    return std::vector<figure>{{"up to the order of conjuncts", sequences::total(same).percent()}};
  };
  return p;
}

/// train, evaluate, predict and explain.
inline std::vector<verb> verbs_of(options& o) {
  return sequences::verbs_of(o, [&o](bool needs_train, bool) { return program_of(o, needs_train); });
}

}  // namespace triad::programs::cfq_sequences
