// cogs: train, evaluate, predict, explain, generate.
// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

int main(int argc, char** argv) {
  CLI::App app{"COGS: from a sentence to the graph of its meaning.  An Edge Transformer, or a Transformer, learns it, and parses sentences of kinds that it never saw."};
  app.require_subcommand(1);
  cogs::options o;
  cogs::query q;
  auto* const train = app.add_subcommand("train", "Train on a data set or on generated sentences, and evaluate by kind of sentence");
  auto* const evaluate = app.add_subcommand("evaluate", "Accuracy of a trained model by kind of sentence");
  auto* const predict = app.add_subcommand("predict", "Parse a sentence, or each line of standard input");
  auto* const explain = app.add_subcommand("explain", "Draw the graph of a sentence with the probabilities of its edges");
  auto* const generate = app.add_subcommand("generate", "Write generated sentences with their graphs");
  cogs::add_train_options(*train, o);
  cogs::add_query_options(*evaluate, *predict, *explain, *generate, o, q);
  return triad::examples::run_program(app, "cogs", [&] {
    triad::examples::parse(app, *train, o, argc, argv);
    if (train->parsed()) return cogs::train(o);
    if (evaluate->parsed()) return cogs::evaluate(o, q);
    if (predict->parsed()) return cogs::predict(o, q);
    if (explain->parsed()) return cogs::explain(o, q);
    return cogs::generate(o, q);
  });
}
