// Continues a run on another machine.  A new trainer with another number of threads loads a checkpoint, and ends with
// the same bits as an uninterrupted run.  A run can also continue on another backend.
// SPDX-License-Identifier: Apache-2.0
//
// Suppose that a machine is needed for other work, or that a job's time limit is over.  What must be copied to the next
// machine?  A checkpoint has the parameters, Adam's moments, the number of the update and the key of dropout.  The
// program makes the data and their order from a seed and the number of the epoch.  The checkpoint has both numbers, so
// this one file is enough.
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "triad/io/checkpoint.hpp"
#include "triad/triad.hpp"

using namespace triad;

// The task: chains of two edges around a clock of 3 hours.  The data may be any type with size() and [].
struct chain_of_hours {
  index_t nodes;
  std::vector<labelled_edge> edges;
  index_t answer;
};
std::vector<chain_of_hours> chains(std::size_t count) {
  random_stream random(1, 0);
  std::vector<chain_of_hours> all(count, chain_of_hours{3, {}, 0});
  for (auto& one : all)
    for (index_t at = 0; at < 2; ++at) {
      index_t const on = random.below(3);
      one.edges.push_back({at, on + 1, at + 1});
      one.answer = (one.answer + on) % 3;
    }
  return all;
}
auto const add_one = [](auto& batch, chain_of_hours const& h) {
  batch.add({.nodes = h.nodes, .edges = h.edges, .ask = {0, h.nodes - 1}, .answer = h.answer});
};

// ---- One call is one job.  It loads the file `from` if one is given, trains up to epoch `last`, and saves. ----
struct job {
  std::string machine;  // "cpu:1", "cpu:2", "reference"
  std::string from, to;
  std::uint64_t last;
};
double run(job const& j) {
  return with_backend<cpu::backend, reference::backend>(j.machine, [&](auto& ex) {
    std::uint64_t const updates_an_epoch = 8;
    auto const data = chains(256);
    graph_dims const room = room_for(data, 32);
    // Dropout computes its random numbers from a key, the update's number and the position.  There is no generator with
    // a state, so the mask of update 17 is the same on every machine.
    edge_transformer<float> const model(
        {.labels = 4, .targets = 3, .layers = 2, .layer = {.width = 16, .heads = 2, .hidden = 32, .dropout = 0.05}});
    std::uint64_t key = 7, first_epoch = 0;
    if (!j.from.empty()) key = checkpoint(j.from).key();
    trainer learner(ex, model, {.max_norm = 1, .key = key, .capacity = room});
    if (j.from.empty()) {
      initialize(learner.parameters(), 1);
    } else {
      checkpoint const file(j.from);
      file.resume(learner);  // loads parameters, moments and the step, from which the schedule and dropout continue
      first_epoch = file.step() / updates_an_epoch;
    }
    graph_loader<std::remove_reference_t<decltype(ex)>> loader(room);
    fit(learner,
        [&](std::uint64_t epoch) { return batches(loader, data, add_one, {.shuffle = 1, .epoch = epoch, .most = 32}); },
        {.epochs = j.last - first_epoch, .first_epoch = first_epoch, .schedule = linear_warmup{5e-3, 8, 200}});
    save_checkpoint(j.to, {}, learner);
    return evaluate(learner, loader, data, add_one, {.most = 32}).loss;
  });
}

std::string bytes_of(std::string const& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

int main() try {
  std::filesystem::path const folder("two_machines");
  std::filesystem::create_directories(folder);
  auto const file = [&](char const* name) { return (folder / name).string(); };

  double const loss = run({"cpu:1", "", file("whole"), 20});  // twenty epochs without a break
  run({"cpu:1", "", file("half"), 10});                       // the first ten epochs
  run({"cpu:2", file("half"), file("moved"), 20});            // the other ten on another machine, with two threads
  double const elsewhere = run({"reference", file("half"), file("on the reference"), 20});  // or by plain loops

  // Kernels add numbers in an order that does not depend on the number of threads.  So every parameter, every moment,
  // the step and the key are identical in the two files.
  bool const same_bits = bytes_of(file("whole")) == bytes_of(file("moved"));
  // The reference backend adds numbers in another order, so its results agree only up to rounding.  The same may be
  // true on another kind of processor.
  bool const close = std::abs(elsewhere - loss) < 0.01;
  bool const other_bits = bytes_of(file("whole")) != bytes_of(file("on the reference"));
  // Checks that training changed the parameters after epoch ten.  If it did not, the comparisons above would show
  // nothing.
  bool const moved_on = bytes_of(file("half")) != bytes_of(file("moved"));
  std::printf("two threads: %s; the reference: loss %.6f beside %.6f\n", same_bits ? "the same bits" : "other bits",
              elsewhere, loss);
  std::filesystem::remove_all(folder);
  return same_bits && close && other_bits && moved_on && loss < 0.5 ? 0 : 1;
} catch (std::exception const& e) {
  std::fprintf(stderr, "continued_run: %s\n", e.what());
  return 1;
}
