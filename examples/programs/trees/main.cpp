// The program trees, which transforms trees into trees.
// SPDX-License-Identifier: Apache-2.0
#include "trees.hpp"

int main(int argc, char** argv) {
  using namespace triad::programs;
  using namespace triad::programs::trees;
  return run_program<own_options>(
      "trees",
      "From tree to tree.  A Differentiable Tree Machine learns programs of car, cdr and cons from JSON lines, and "
      "shows them.",
      [](own_options& o) {
        auto verbs = verbs_of(o, [&o](bool trained) { return data_of(o, trained); });
        verbs.push_back({"inspect", "Say what a file of trees holds", [&o] { return inspect(o.file, o.binarise); }});
        return verbs;
      },
      argc, argv, "examples/programs/trees/README.md");
}
