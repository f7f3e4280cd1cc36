// clutrr: train, evaluate, predict, explain, generate.
// SPDX-License-Identifier: Apache-2.0
#include "../common/program.hpp"
#include "command_line.hpp"

int main(int argc, char** argv) {
  CLI::App app{"CLUTRR: how are two people of a family related?  An Edge Transformer learns it from short chains and answers long ones."};
  app.require_subcommand(1);
  clutrr::options o;
  clutrr::query q;
  auto* const train = app.add_subcommand("train", "Train on a data set or on generated chains, and evaluate by chain length");
  auto* const evaluate = app.add_subcommand("evaluate", "Accuracy of a trained model by chain length");
  auto* const predict = app.add_subcommand("predict", "Answer every question of a CSV file, or one given by --facts");
  auto* const explain = app.add_subcommand("explain", "Show which middle people the attention used for one question");
  auto* const generate = app.add_subcommand("generate", "Write generated chains as CSV files");
  clutrr::add_train_options(*train, o);
  clutrr::add_query_options(*evaluate, *predict, *explain, *generate, o, q);
  return triad::examples::run_program(app, "clutrr", [&] {
    triad::examples::parse(app, *train, o, argc, argv);
    if (train->parsed()) return clutrr::train(o);
    if (evaluate->parsed()) return clutrr::evaluate(o, q);
    if (predict->parsed()) return clutrr::predict(o, q);
    if (explain->parsed()) return clutrr::explain(o, q);
    return clutrr::generate(o, q);
  });
}
