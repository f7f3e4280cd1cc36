// The program of docs/training.md: small graphs of one's own, a validation loss, attention weights, a checkpoint.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>
#include <vector>

#include "triad/triad.hpp"

using namespace triad;

namespace {

// A path of three edges; the answer is the label of the first.
void add_path(graph_loader<cpu::backend>& batch, index_t first) {
  auto* const label = batch.add(4, 0, 3, first - 1);
  label[0 * 4 + 1] = first, label[1 * 4 + 2] = 1, label[2 * 4 + 3] = 1;
}

int failed(char const* what) {
  std::fprintf(stderr, "docs/training.md: %s\n", what);
  return 1;
}

}  // namespace

int main() {
  cpu::backend ex;
  edge_transformer<float> const model(
      {.labels = 5, .targets = 3, .layers = 2, .layer = {.width = 16, .heads = 2, .hidden = 32}});
  graph_dims const room = room_for(9, 4, 5);
  graph_loader<cpu::backend> batch(room);
  trainer learner(ex, model, {.max_norm = 1, .key = 7, .capacity = room});
  initialize(learner.parameters().mutable_values(), 1);
  for (index_t g = 0; batch.has_room(4); ++g) add_path(batch, 1 + g % 3);
  auto const questions = batch.upload();
  auto const right = batch.uploaded_answers();
  index_t const graphs = batch.dims().graphs;
  for (int step = 0; step < 100; ++step) learner.update(questions, right, 3e-3);

  // Accuracy, and a loss without an update.
  std::vector<index_t> best(static_cast<std::size_t>(graphs));
  std::vector<float> gradient(static_cast<std::size_t>(graphs) * 3);
  float loss = 0;
  auto const logits = learner.infer(questions);
  argmax_rows(ex, logits, make_vec(best.data(), graphs));
  cross_entropy(ex, logits, right, make_vec(&loss, 1), tensor<float, dyn, dyn>(gradient.data(), graphs, 3));
  accuracy found;
  found.add(make_vec<index_t const>(best.data(), graphs), make_vec<index_t const>(batch.answers().data(), graphs));
  if (found.fraction() < 1 || loss > 0.1F) return failed("the model has not learned its nine graphs");

  index_t const k = 0, graph = 2, i = 0, j = 3;
  std::vector<float> numbers(2 * 4);
  auto const weights = make_matrix(numbers.data(), 2, 4, 4);
  buffer<host_memory> const memory(1 << 16);
  auto scratch = memory.place();
  learner.infer(questions);
  model.attention_weights(ex, learner.inspection_call(scratch), questions, learner.saved(questions.graphs.dims), k,
                          graph, i, j, weights);
  for (index_t head = 0; head < 2; ++head) {
    float sum = 0;
    for (index_t l = 0; l < 4; ++l) sum += weights(head, l);
    if (std::abs(sum - 1) > 1e-5F) return failed("attention weights do not sum to one");
  }
}
