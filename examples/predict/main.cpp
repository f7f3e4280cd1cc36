// Loads the checkpoint of a `clutrr train` run and answers one question: the mother of ann is bea, the brother of bea is carl; who is carl to ann?
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <string>

#include "triad/cpu/cpu.hpp"
#include "triad/io/checkpoint.hpp"
#include "triad/models/edge_transformer.hpp"
#include "triad/models/graph_loader.hpp"
#include "triad/train/trainer.hpp"

int main(int, char** arguments) {
  triad::checkpoint const file(arguments[1]);  // RUN/model.safetensors
  auto const size = [&](char const* name) { return file.setting<triad::index_t>(name); };
  auto const relations = file.vocabulary().at("edges").get<std::vector<std::string>>(), answers = file.vocabulary().at("targets").get<std::vector<std::string>>();
  auto const label = [&](char const* word) { return std::find(relations.begin(), relations.end(), word) - relations.begin() + 1; };
  triad::edge_transformer<float> const model({.labels = std::ssize(relations) + 2, .targets = std::ssize(answers), .layers = size("layers"), .tied = file.setting<bool>("tied"),
                                              .layer = {.width = size("width"), .heads = size("heads"), .hidden = size("width") * size("hidden_factor")}});
  triad::cpu::backend ex;
  triad::trainer<triad::edge_transformer<float>, triad::cpu::backend> network(ex, model, {.memory = triad::keep::nothing, .capacity = triad::dims_of(3)});
  file.load(network.parameters());
  triad::graph_loader<triad::cpu::backend> graph(triad::dims_of(3));
  auto* const labels = graph.add(3, 0, 2, -1);  // three people; what is person 2 to person 0?
  labels[0 * 3 + 1] = label("mother"), labels[1 * 3 + 2] = label("brother");
  auto const logits = network.infer(graph.upload());
  auto const* const first = logits.data_handle();
  std::printf("carl is ann's %s\n", answers[static_cast<std::size_t>(std::max_element(first, first + logits.size()) - first)].c_str());
}
