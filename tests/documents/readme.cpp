// The example of README.md: an Edge Transformer that learns to add along short chains, and adds along longer ones.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <numeric>
#include <vector>

#include "triad/train/initialize.hpp"
#include "triad/train/schedule.hpp"
#include "triad/triad.hpp"

using namespace triad;

int main() {
  cpu::backend ex;  // all processors; reference::backend runs the same program in plain loops
  edge_transformer<float> const model({.labels = 6, .targets = 5, .layers = 4, .layer = {.width = 32, .heads = 2, .hidden = 64}});
  graph_dims const room{64, 64 * 49, 64 * 7, 64 * 343, 7};  // graphs, edges, nodes, triangles, nodes of the largest
  graph_loader<cpu::backend> batch(room);
  trainer<edge_transformer<float>, cpu::backend> learner(ex, model, {.max_norm = 1, .capacity = room});
  initialize(learner.parameters().mutable_values(), 1);

  // A chain of k edges, each h hours on around a clock of 5: its label is h + 1.  How far is the last node from the first?
  random_stream random(1, 0);
  auto const fill_with_chains = [&](index_t k) {
    batch.clear();
    for (int graph = 0; graph < 64; ++graph) {
      std::vector<index_t> hours(static_cast<std::size_t>(k));
      for (auto& h : hours) h = random.below(5);
      auto* label = batch.add(k + 1, 0, k, std::accumulate(hours.begin(), hours.end(), index_t{0}) % 5);
      for (index_t i = 0; i < k; ++i) label[i * (k + 1) + i + 1] = hours[static_cast<std::size_t>(i)] + 1;
    }
    return batch.upload();
  };

  linear_warmup const schedule{.peak = 3e-3, .warmup = 20, .total = 600};
  for (std::uint64_t step = 0; step < 600; ++step) {
    auto const questions = fill_with_chains(2 + static_cast<index_t>(step % 3));
    learner.update(questions, batch.uploaded_answers(), schedule.rate(step));
  }
  for (index_t k = 2; k <= 6; ++k) {
    std::vector<index_t> best(64);
    argmax_rows(ex, learner.infer(fill_with_chains(k)), make_vec(best.data(), 64));
    int right = 0;
    for (std::size_t g = 0; g < 64; ++g) right += best[g] == batch.answers()[g];
    std::printf("chains of %d edges: %d of 64 right\n", static_cast<int>(k), right);
  }
}
