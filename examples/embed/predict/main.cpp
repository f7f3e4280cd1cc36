// Loads the checkpoint of a `clutrr train` run and asks a question: the mother of ann is bea, the brother of bea is
// carl; what is carl to ann?
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "triad/batches/graph_loader.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/io/checkpoint.hpp"
#include "triad/models/edge_transformer.hpp"
#include "triad/train/trainer.hpp"

namespace t = triad;
using words = std::vector<std::string>;

int main(int count, char** arguments) try {
  t::checkpoint const file(count > 1 ? arguments[1] : "model.safetensors");
  for (auto const& [name, value] :
       {std::pair("model", "edge-transformer"), {"attention", "full"}, {"form", "released"}})
    if (file.setting<std::string>(name) != value)
      throw t::data_error(file.tensors().file() + ": its " + name + " is not " + value +
                          ", which is all that is made here");
  auto const size = [&](char const* name) { return file.setting(name, t::index_t{1}, t::largest_size); };
  auto const relations = file.vocabulary().at("edges").get<words>(),
             answers = file.vocabulary().at("targets").get<words>();
  auto const label = [&](std::string const& word) {
    auto const at = std::find(relations.begin(), relations.end(), word) - relations.begin();
    if (at == std::ssize(relations)) throw t::data_error("the model knows no relation " + word);
    return at + 1;
  };
  t::edge_transformer<float> const model(
      {.labels = std::ssize(relations) + 2,
       .targets = std::ssize(answers),
       .layers = size("layers"),
       .tied = file.setting<bool>("tied"),
       .layer = {.width = size("width"), .heads = size("heads"), .hidden = size("width") * size("hidden_factor")}});
  t::cpu::backend ex;
  t::trainer network(ex, model, {.memory = t::keep::nothing, .capacity = t::dims_of(3)});
  file.load(network.parameters());
  t::graph_loader<t::cpu::backend> graph(t::dims_of(3));
  auto* const labels =
      graph.add(3, 0, 2, -1);  // ann, bea, carl are 0, 1, 2: what is 2 to 0?  The label of edge (i, j) is at 3 i + j.
  labels[3 * 0 + 1] = label("mother");
  labels[3 * 1 + 2] = label("brother");
  t::index_t const best = network.classes(graph.upload().first).front();
  std::printf("carl is ann's %s\n", answers.at(static_cast<std::size_t>(best)).c_str());
} catch (std::exception const& e) {
  std::fprintf(stderr, "predict: %s\n", e.what());
  return 1;
}
