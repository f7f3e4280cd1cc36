// The program in docs/operations/parallel.md. All processes that mpirun starts train one model together, and have
// bit-identical parameters.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <vector>

#include "triad/parallel/mpi.hpp"
#include "triad/train/initialize.hpp"
#include "triad/triad.hpp"

using namespace triad;

/// Adds a path of steps to the right. The question is the relation between the first and the last node.
template <class Loader>
void add_path(Loader& loader, std::uint64_t number) {
  random_stream random(7, number);
  auto const steps = static_cast<index_t>(1 + random.below(5)), nodes = steps + 1;
  auto* const label = loader.add(nodes, 0, steps, steps % 3);
  for (index_t i = 0; i < nodes * nodes; ++i) label[i] = 0;
  for (index_t i = 0; i < steps; ++i) label[i * nodes + i + 1] = 1;
}

/// Trains a model. Returns whether the model has learned something.
bool train(mpi& processes) {
  cpu::backend ex(1);
  constexpr std::size_t batch = 30;
  auto const room = room_for_graphs(batch, 6, 6);
  edge_transformer_options const sizes{
      .labels = 2, .targets = 3, .layers = 2, .layer = {.width = 32, .heads = 2, .hidden = 64, .dropout = 0.1}};
  using model = edge_transformer<float>;
  trainer<model, cpu::backend, mpi> learner(ex, model(sizes), {.max_norm = 1, .capacity = room, .shares = 4},
                                            processes);
  initialize(learner.parameters(), 1);
  graph_loader<cpu::backend> loader(room);

  for (std::uint64_t update = 0; update < 40; ++update)
    learner.update_in_shares(
        batch,
        [&](std::size_t first, std::size_t last) {
          loader.clear();
          for (auto i = first; i < last; ++i) add_path(loader, update * batch + i);
          return loader.upload();
        },
        3e-3);

  double sum = 0;
  auto const values = learner.parameters().flat_values();
  for (index_t i = 0; i < values.extent(0); ++i) sum += std::abs(static_cast<double>(values(i)));
  if (processes.rank() == 0) std::printf("loss %a, parameters %a\n", static_cast<double>(learner.loss()), sum);
  return learner.loss() < 1.1f;  // a model that guesses has a loss of log 3
}

int main(int argc, char** argv) {
  mpi_session const session(&argc, &argv);
  mpi processes;
  try {
    return train(processes) ? 0 : 1;
  } catch (std::exception const& e) {
    std::fprintf(stderr, "process %d: %s\n", processes.rank(), e.what());
    processes.abort(1);  // otherwise the other processes would wait for ever
  }
}
