// tree-transforms: train, evaluate, predict, explain, generate.
// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

int main(int argc, char** argv) {
  return triad::examples::run_verbs<tree_transforms::options, tree_transforms::query>(
      {.name = "tree-transforms",
       .about = "Basic Sentence Transforms: from one tree to another.  A Differentiable Tree Machine learns programs "
                "of car, "
                "cdr and cons, and shows them.",
       .train = "Train on a data set or on generated rows, and score all splits",
       .evaluate = "Score a trained machine, and the programs behind its answers",
       .predict = "Transform a tree, or each line of standard input",
       .explain = "The program that a trained machine runs on a tree, or all programs of a split",
       .generate = "Write generated rows of all splits"},
      argc, argv);
}
