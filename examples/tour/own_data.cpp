// Trains a model of labelled graphs on your own data, saves a checkpoint, and answers a question.
// SPDX-License-Identifier: Apache-2.0
//
// docs/guide/1-training.md explains this program, with a table for each step.  The model learns on chains of 2 to 4
// edges and is tested on chains of 5 and 6.
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "triad/io/checkpoint.hpp"
#include "triad/triad.hpp"

namespace t = triad;

// ---- 1.  The data: whatever your program has, in any container with size() and [].  Here, a chain of nodes around a
// clock of 3 hours.  Label h + 1 of an edge means h hours forward, and label h + 4 means h hours back.  The question:
// how many hours is it from the first node to the last?
struct hours {
  t::index_t nodes;
  std::vector<t::labelled_edge> edges;
  t::index_t answer;
};
t::index_t backwards(t::index_t label) { return label + 3; }

std::vector<hours> chains(std::size_t count, std::vector<t::index_t> const& lengths, std::uint64_t seed) {
  t::random_stream random(seed, 0);
  std::vector<hours> all;
  for (std::size_t i = 0; i < count; ++i) {
    hours one{lengths[i % lengths.size()] + 1, {}, 0};
    for (t::index_t at = 0; at + 1 < one.nodes; ++at) {
      t::index_t const on = random.below(3);
      one.edges.push_back({at, on + 1, at + 1});
      one.answer = (one.answer + on) % 3;
    }
    all.push_back(one);
  }
  return all;
}

// One function turns a sample into a graph: its edges, the two nodes of the question, and the answer.
auto const add_one = [](auto& batch, hours const& h) {
  batch.add({.nodes = h.nodes, .edges = h.edges, .ask = {0, h.nodes - 1}, .answer = h.answer, .inverse = backwards});
};

t::edge_transformer<float> network(t::index_t layers, t::index_t width) {
  return t::edge_transformer<float>(
      {.labels = 7, .targets = 3, .layers = layers, .layer = {.width = width, .heads = 2, .hidden = 2 * width}});
}

int main() try {
  // ---- 2.  Memory for a batch, the model, and the trainer.  All memory is planned here, for the largest batch of the
  // data.
  t::cpu::backend ex;
  auto const train = chains(1200, {2, 3, 4}, 1), valid = chains(99, {2, 3, 4}, 2), longer = chains(100, {5, 6}, 3);
  t::graph_dims const room = t::larger(t::room_for(train, 60), t::room_for(longer, 60));
  t::graph_loader<t::cpu::backend> loader(room);
  t::trainer learner(ex, network(4, 32), {.max_norm = 1, .key = 7, .capacity = room});
  t::initialize(learner.parameters(), 1);
  std::fputs(t::summary(learner).text().c_str(), stdout);

  // ---- 3.  Training, with an order of the samples for each epoch, a learning rate, and a condition to stop.
  auto const epoch_of = [&](std::uint64_t epoch) {
    return t::batches(loader, train, add_one, {.shuffle = 1, .epoch = epoch, .most = 60});
  };
  auto const search = t::find_rate(learner, epoch_of, {.lowest = 1e-5, .highest = 0.1, .updates = 60});
  auto const validate = [&](t::epoch_record const& e) {
    auto const v = t::evaluate(learner, loader, valid, add_one, {.most = 60});
    std::printf("epoch %d: loss %.3f, of other data %.3f, accuracy %.2f\n", static_cast<int>(e.epoch), e.loss, v.loss,
                v.accuracy);
    return v.loss;
  };
  std::ofstream log("metrics.csv");
  log << "step,loss,norm,validation\n";
  auto const write = [&](t::epoch_record const& e) {
    log << e.last.step << ',' << e.loss << ',' << e.largest_norm << ',' << *e.validation << std::endl;
  };
  auto const result = t::fit(learner, epoch_of,
                             {.epochs = 20,
                              .schedule = t::linear_warmup{.peak = search.rate, .warmup = 40, .total = 400},
                              .each_epoch = validate,
                              .patience = 6,
                              .after_epoch = write});
  std::printf("the best of %zu epochs is %d\n", result.epochs.size(), static_cast<int>(result.best_epoch));

  // ---- 4.  What the model has learned: the accuracy for each length, and the attention of the last layer at edge (0,
  // 5) of one graph.
  auto const tested =
      t::evaluate(learner, loader, longer, add_one, {.group = [](auto const& h) { return h.nodes - 1; }, .most = 60});
  for (auto const& [edges, of_length] : tested.by)
    std::printf("chains of %d edges: %.2f right\n", static_cast<int>(edges), of_length.fraction());

  loader.clear();
  add_one(loader, longer[0]);
  auto const weights = learner.attention(loader.upload().first, {.layer = 3, .graph = 0, .edge = {0, 5}});
  for (t::index_t l = 0; l < weights.terms(); ++l)
    std::printf("over node %d: %.2f and %.2f\n", static_cast<int>(l), static_cast<double>(weights(0, l)),
                static_cast<double>(weights(1, l)));

  // ---- 5.  A program that loads the checkpoint reads the sizes from the file, and needs no trainer.
  t::save_checkpoint("training.safetensors", {.configuration = {{"layers", 4}, {"width", 32}}}, learner);
  t::checkpoint const file("training.safetensors");
  auto const answer = t::with_backend<t::cpu::backend, t::reference::backend>("cpu:1", [&](auto& on) {
    auto const size = [&](char const* name) { return file.setting(name, t::index_t{1}, t::largest_size); };
    t::runner predictor(on, network(size("layers"), size("width")), t::room_for(longer, 1));
    file.load(predictor.parameters());
    t::graph_loader<std::remove_reference_t<decltype(on)>> one(t::room_for(longer, 1));
    add_one(one, longer[0]);
    return predictor.classes(one.upload().first).front();
  });
  std::printf("the last node is %d hours on, and %d is right\n", static_cast<int>(answer),
              static_cast<int>(longer[0].answer));

  // Checks that the loaded model gives the same answer as the trainer, that the model has learned its task, and that
  // the log has a line for each epoch.
  t::index_t const of_learner = learner.classes(loader.upload().first).front();
  bool const learned = t::evaluate(learner, loader, valid, add_one, {.most = 60}).accuracy > 0.95;
  std::ifstream written("metrics.csv");
  std::size_t lines = 0;
  for (std::string line; std::getline(written, line);) ++lines;
  return learned && answer == of_learner && lines == result.epochs.size() + 1 ? 0 : 1;
} catch (std::exception const& e) {
  std::fprintf(stderr, "own_data: %s\n", e.what());
  return 1;
}
