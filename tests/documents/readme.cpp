// The example of README.md: an Edge Transformer that learns to add along short chains, and adds along longer ones.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "triad/train/initialize.hpp"
#include "triad/train/schedule.hpp"
#include "triad/triad.hpp"

using namespace triad;

int main() {
  cpu::backend ex;
  edge_transformer<float> const model(
      {.labels = 6, .targets = 5, .layers = 4, .layer = {.width = 32, .heads = 2, .hidden = 64}});
  graph_dims const room = room_for_graphs(64, 7, 7);  // 64 graphs, usually of 7 nodes, of 7 at most
  graph_loader<cpu::backend> batch(room);
  trainer learner(ex, model, {.max_norm = 1, .capacity = room});
  initialize(learner.parameters(), 1);

  // A chain of k edges around a clock of 5 hours; label h + 1: h hours on.  How far is the last node from the first?
  random_stream random(1, 0);
  auto const chains = [&](index_t k) {
    batch.clear();
    for (index_t graph = 0, rest = 0; graph < 64; ++graph, rest = 0) {
      auto* const label = batch.add(k + 1, 0, k, rest = random.below(5));
      for (index_t i = 0; i < k; ++i) {
        index_t const hours = i + 1 < k ? random.below(5) : rest;
        label[i * (k + 1) + i + 1] = hours + 1;
        rest = (rest + 5 - hours) % 5;
      }
    }
    return batch.upload();
  };
  for (index_t step = 0; step < 1000; ++step) {
    auto const [questions, answers] = chains(2 + step % 3);
    learner.update(questions, answers, linear_warmup{5e-3, 20, 1000}.rate(static_cast<std::uint64_t>(step)));
  }

  int wrong = 0;
  for (index_t k = 2; k <= 6; ++k) {
    index_t correct = 0;
    auto const& best = learner.classes(chains(k).first);
    for (std::size_t g = 0; g < 64; ++g) correct += best[g] == batch.answers()[g];
    std::printf("chains of %d edges: %d of 64 right\n", static_cast<int>(k), static_cast<int>(correct));
    if (k <= 4) wrong += 64 - static_cast<int>(correct);
  }
  return wrong > 10;  // of 192 chains as long as those it was trained on
}
