// Trains a small Edge Transformer, and prints a number that depends on every bit of its parameters. The file is
// compiled twice. The first program compiles the kernels itself, and the second links compiled kernels. Both programs
// must print the same number.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "triad/batches/graph_loader.hpp"
#include "triad/batches/room_for.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/models/edge_transformer.hpp"
#include "triad/train/initialize.hpp"
#include "triad/train/trainer.hpp"

using namespace triad;

int main() {
  cpu::backend ex;
  edge_transformer<float> const model(
      {.labels = 5, .targets = 4, .layers = 2, .layer = {.width = 24, .heads = 2, .hidden = 40, .dropout = 0.1}});
  graph_dims const room = room_for_graphs(3, 25, 25);
  graph_loader<cpu::backend> batch(room);
  trainer learner(ex, model, {.max_norm = 1, .key = 7, .capacity = room});
  initialize(learner.parameters(), 1);
  random_stream random(2, 0);
  for (int step = 0; step < 5; ++step) {
    batch.clear();
    for (index_t const n : {5, 9, 25}) {  // the small graphs are computed as a whole, the large one in tiles
      auto* const label = batch.add(n, 0, n - 1, random.below(4));
      for (index_t e = 0; e < n * n; ++e) label[e] = random.below(5);
    }
    auto const [questions, answers] = batch.upload();
    learner.update(questions, answers, 1e-2);
  }
  std::uint64_t sum = 0;
  auto const values = learner.parameters().flat_values();
  for (index_t i = 0; i < values.extent(0); ++i) {
    std::uint32_t word;
    float const value = values(i);
    std::memcpy(&word, &value, sizeof word);
    sum = sum * 6364136223846793005u + word;
  }
  std::printf("loss %.9g, parameters %016llx\n", static_cast<double>(learner.loss()),
              static_cast<unsigned long long>(sum));
}
