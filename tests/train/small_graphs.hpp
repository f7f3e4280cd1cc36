// Small graphs, a model that can learn them, and a trainer, for tests of training and evaluation.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "triad/batches/batches.hpp"
#include "triad/batches/graph_loader.hpp"
#include "triad/batches/room_for.hpp"
#include "triad/models/edge_transformer.hpp"
#include "triad/train/initialize.hpp"
#include "triad/train/trainer.hpp"

namespace triad::test {

/// A path of `nodes` - 1 edges. The answer is the label of the first edge minus one.
struct small_graph {
  index_t nodes, first;
};
inline std::vector<small_graph> small_graphs() {
  std::vector<small_graph> all;
  for (index_t n = 2; n <= 4; ++n)
    for (index_t first = 1; first <= 3; ++first) all.push_back({n, first});
  return all;
}
inline auto const add_small_graph = [](auto& batch, small_graph const& g) {
  auto* const label = batch.add(g.nodes, 0, g.nodes - 1, g.first - 1);
  for (index_t i = 0; i + 1 < g.nodes; ++i) label[i * g.nodes + i + 1] = i == 0 ? g.first : 1;
};

/// Returns a copy of a model's results.
template <class T>
std::vector<T> numbers(tensor<T, dyn, dyn> v) {
  return {v.data_handle(), v.data_handle() + v.size()};
}

template <class Ex, class T = float>
struct small_run {
  Ex ex{};
  std::vector<small_graph> data = small_graphs();
  trainer<edge_transformer<T>, Ex> learner;
  graph_loader<Ex> loader;

  explicit small_run(keep kept = keep::everything, double dropout = 0, index_t layers = 2)
      : learner(ex,
                edge_transformer<T>({.labels = 4,
                                     .targets = 3,
                                     .layers = layers,
                                     .layer = {.width = 8, .heads = 2, .hidden = 12, .dropout = dropout}}),
                {.max_norm = 1, .key = 3, .memory = kept, .capacity = room_for(small_graphs(), 9)}),
        loader(room_for(small_graphs(), 9), memory_of(ex)) {
    initialize(learner.parameters(), 5);
  }
  /// Returns the batches of an epoch.
  auto pass(std::uint64_t epoch, index_t most = 4) {
    return batches(loader, data, add_small_graph, {.shuffle = 1, .epoch = epoch, .most = most});
  }
};

}  // namespace triad::test
