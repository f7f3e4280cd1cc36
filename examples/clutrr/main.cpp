// clutrr: train, evaluate, predict, explain, generate.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "triad/core/errors.hpp"

namespace {

/// The options of a config file as arguments, but for those that the command line gives itself.
std::vector<std::string> configured(CLI::App const& train, std::string const& file) {
  std::vector<std::string> arguments;
  for (auto const& item : CLI::ConfigTOML().from_file(file)) {
    auto const* const option = train.get_option_no_throw("--" + item.name);
    if (option == nullptr) throw triad::data_error(file + ": no option of clutrr train is called " + item.name);
    if (option->count() > 0 || item.inputs.empty()) continue;
    std::string value;
    for (auto const& part : item.inputs) value += (value.empty() ? "" : ",") + part;
    arguments.push_back("--" + item.name + "=" + value);
  }
  return arguments;
}

/// Parses twice: the preset, model and config file that the first reading finds make the defaults of the second, so that what
/// is given beside them overrides them.
void parse(CLI::App& app, CLI::App& train, clutrr::options& o, int argc, char** argv) {
  app.parse(argc, argv);
  std::vector<std::string> arguments(argv + 1, argv + argc);
  auto const more = o.config.empty() ? std::vector<std::string>() : configured(train, o.config);
  for (auto const& argument : more) {
    if (argument.starts_with("--preset=")) o.preset = argument.substr(9);
    if (argument.starts_with("--model=")) o.model = argument.substr(8);
  }
  arguments.insert(arguments.end(), more.begin(), more.end());
  clutrr::options fresh;
  fresh.preset = o.preset;
  fresh.model = o.model;
  clutrr::apply_preset(fresh);
  o = fresh;
  app.clear();
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  app.parse(arguments);
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
    parse(app, *train, o, argc, argv);
    if (train->parsed()) return clutrr::train(o);
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
