// tree-transforms: its verbs, and all of main().
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../apps/verbs.hpp"
#include "options.hpp"

namespace tree_transforms {

// Each returns the program's exit status; bad input throws data_error.
int train(options& o);
int evaluate(options const& o);
int predict(options const& o);
int explain(options const& o);
int generate(options& o);

struct task_program {
  static int main(int argc, char** argv) {
    return triad::apps::run_program<options>(
        "tree-transforms",
        "Basic Sentence Transforms: from one tree to another.  A Differentiable Tree Machine learns programs of car, "
        "cdr and cons, and shows them.",
        [](options& o) -> std::vector<triad::apps::verb> {
          return {
              {"train", "Train on a data set or on generated rows, and score all splits", [&o] { return train(o); }},
              {"evaluate", "Score a trained machine, and the programs behind its answers",
               [&o] { return evaluate(o); }},
              {"predict", "Transform a tree, or each line of standard input", [&o] { return predict(o); }},
              {"explain", "The program that a trained machine runs on a tree, or all programs of a split",
               [&o] { return explain(o); }},
              {"generate", "Write generated rows of all splits", [&o] { return generate(o); }}};
        },
        argc, argv);
  }
};

}  // namespace tree_transforms
