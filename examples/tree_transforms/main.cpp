// tree-transforms: train, evaluate, predict, explain, generate.
// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

int main(int argc, char** argv) {
  CLI::App app{"Basic Sentence Transforms: from one tree to another.  A Differentiable Tree Machine learns programs of car, cdr and cons, and shows them."};
  app.require_subcommand(1);
  tree_transforms::options o;
  tree_transforms::query q;
  auto* const train = app.add_subcommand("train", "Train on a data set or on generated rows, and score all splits");
  auto* const evaluate = app.add_subcommand("evaluate", "Score a trained machine, and the programs behind its answers");
  auto* const predict = app.add_subcommand("predict", "Transform a tree, or each line of standard input");
  auto* const explain = app.add_subcommand("explain", "The program that a trained machine runs on a tree, or all programs of a split");
  auto* const generate = app.add_subcommand("generate", "Write generated rows of all splits");
  tree_transforms::add_train_options(*train, o);
  tree_transforms::add_query_options(*evaluate, *predict, *explain, *generate, o, q);
  return triad::examples::run_program(app, "tree-transforms", [&] {
    triad::examples::parse(app, *train, o, argc, argv);
    if (train->parsed()) return tree_transforms::train(o);
    if (evaluate->parsed()) return tree_transforms::evaluate(o, q);
    if (predict->parsed()) return tree_transforms::predict(o, q);
    if (explain->parsed()) return tree_transforms::explain(o, q);
    return tree_transforms::generate(o);
  });
}
