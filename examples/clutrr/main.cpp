// clutrr: train, evaluate, predict, explain, generate.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <exception>

#include "command_line.hpp"

namespace {

/// Parses twice where a preset is named: its values become the defaults, and what is given beside it stays.
void parse(CLI::App& app, clutrr::options& o, int argc, char** argv) {
  app.parse(argc, argv);
  if (o.preset.empty() && o.model == "edge-transformer") return;
  clutrr::options fresh;
  fresh.preset = o.preset;
  fresh.model = o.model;
  clutrr::apply_preset(fresh);
  o = fresh;
  app.clear();
  app.parse(argc, argv);
}

}  // namespace

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
  try {
    parse(app, o, argc, argv);
    if (train->parsed()) return clutrr::train(o, train->config_to_str(true, true));
    if (evaluate->parsed()) return clutrr::evaluate(o, q);
    if (predict->parsed()) return clutrr::predict(o, q);
    if (explain->parsed()) return clutrr::explain(o, q);
    return clutrr::generate(o, q);
  } catch (CLI::ParseError const& e) {
    return app.exit(e);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "clutrr: %s\n", e.what());
    return 1;
  }
}
