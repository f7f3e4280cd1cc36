// Options of the verbs that use a trained model, and reading one.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "commands.hpp"
#include "record.hpp"
#include "trained.hpp"

namespace clutrr {

trained load_trained(std::string const& folder, options o, int max_nodes, bool keeps) {
  auto const path = std::filesystem::is_directory(folder) ? folder + "/model.safetensors" : folder;
  triad::checkpoint const file(path);
  auto words = vocabulary_of(file);
  o = shaped_as(file, std::move(o));
  network_sizes const sizes{words.embedding_rows(), static_cast<int>(words.targets.size()), keeps ? 1 : 64, max_nodes, max_nodes, keeps};
  auto net = make_network(o, sizes);
  net->load(path, {o, words});
  return {std::move(words), std::move(o), std::move(net)};
}

void add_query_options(CLI::App& evaluate, CLI::App& predict, CLI::App& explain, CLI::App& generate, options& o, query& q) {
  for (auto* const verb : {&evaluate, &predict, &explain}) {
    verb->add_option("run", q.checkpoint, "A run's folder, or a model.safetensors")->required();
    add_run_options(*verb, o);
  }
  add_data_options(evaluate, o);
  for (auto* const verb : {&predict, &explain}) {
    verb->add_option("--data", o.data, "CLUTRR CSV file");
    verb->add_option("--facts", q.facts, "Facts as \"ann:mother:bea bea:brother:carl\": the mother of ann is bea, ...");
    verb->add_option("--ask", q.asked, "The question to the facts as \"ann:carl\": what is carl to ann?");
  }
  explain.add_option("--row", q.number, "Which row of the file, or which generated chain, from 0")->check(CLI::NonNegativeNumber);
  explain.add_option("--length", q.k, "Without --data and --facts: k of a generated chain")->check(CLI::Range(2, 40));
  explain.add_option("--out", o.out, "Folder for proof.svg");
  generate.add_option("--out", o.out, "Folder of the new data set")->required();
  generate.add_option("--lengths", q.lengths, "k of the training chains")->delimiter(',')->check(CLI::Range(2, 40));
  generate.add_option("--count", q.count, "Training chains for each k")->check(CLI::PositiveNumber);
  generate.add_option("--test-size", o.test_size, "Test chains for each k = 2..10")->check(CLI::PositiveNumber);
  generate.add_option("--seed", o.seed);
}

}  // namespace clutrr
