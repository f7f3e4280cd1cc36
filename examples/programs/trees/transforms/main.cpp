// tree-transforms: sentences of the Basic Sentence Transforms from tree to tree.
// SPDX-License-Identifier: Apache-2.0
#include "transforms.hpp"

int main(int argc, char** argv) {
  using namespace triad::programs;
  using namespace triad::programs::transforms;
  return run_program<options>(
      "tree-transforms",
      "Basic Sentence Transforms: from one tree to another.  A Differentiable Tree Machine learns programs of car, "
      "cdr and cons, and shows them.",
      [](options& o) {
        auto all = trees::verbs_of(
            o, [&o](bool trained) { return data_of(o, trained); },
            "Train on a data set or on generated rows, and score all splits");
        all.push_back(
            {"generate", "Write the rows of all splits, generated or of --data", [&o] { return generate(o); }});
        return all;
      },
      argc, argv, "examples/programs/trees/transforms/README.md");
}
