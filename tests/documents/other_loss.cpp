// The program of "Another loss" in docs/guide/5-models.md: an Edge Transformer with label smoothing, and an Edge
// Transformer whose classes have weights.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>
#include <vector>

#include "triad/train/gradient_check.hpp"
#include "triad/train/initialize.hpp"
#include "triad/triad.hpp"

using namespace triad;

/// An Edge Transformer with label smoothing: the right answer has probability 0.9.
template <class T>
struct smoothed : edge_transformer<T> {
  using edge_transformer<T>::edge_transformer;
  using typename edge_transformer<T>::output, typename edge_transformer<T>::answers;

  template <backend Ex>
  void loss(Ex& ex, arena&, graph_queries const&, output logits, answers const& targets, vec<T> loss,
            output d_logits) const {
    cross_entropy(ex, logits, targets, loss, d_logits, {.epsilon = 0.1});
  }
};

/// An Edge Transformer whose classes have weights; m answers, t = targets(r):
///   loss = 1/m sum over r of -weight(t) log p(r, t),   p = softmax(logits)
///   d_logits(r, c) = weight(t)/m (p(r, c) - 1 where c = t)
template <class T>
struct weighted : edge_transformer<T> {
  using typename edge_transformer<T>::output, typename edge_transformer<T>::answers;
  std::vector<T> weight;  // (targets)

  weighted(edge_transformer_options const& o, std::vector<T> w) : edge_transformer<T>(o), weight(std::move(w)) {}

  template <backend Ex>
  void loss(Ex& ex, arena&, graph_queries const&, output logits, answers const& targets, vec<T> loss,
            output d_logits) const {
    softmax(ex, logits, d_logits);
    on_host(ex, [&] {
      index_t const rows = targets.extent(0), classes = d_logits.extent(1);
      index_t m = 0;
      for (index_t r = 0; r < rows; ++r) m += targets(r) >= 0 ? 1 : 0;
      loss(0) = 0;
      for (index_t r = 0; r < rows; ++r) {
        index_t const t = targets(r);  // negative: not asked
        T const w = t < 0 ? T(0) : weight[static_cast<std::size_t>(t)] / static_cast<T>(m);
        if (t >= 0) {
          loss(0) -= w * std::log(std::max(d_logits(r, t), std::numeric_limits<T>::min()));
          d_logits(r, t) -= 1;
        }
        for (index_t c = 0; c < classes; ++c) d_logits(r, c) *= w;
      }
    });
  }
};

static_assert(model<smoothed<float>> && model<weighted<float>>);

namespace {

/// The value of a model's loss at these logits (4, 3), and its gradient.
template <class Model>
double loss_at(Model const& network, std::vector<double> at, std::vector<double>& d) {
  cpu::backend ex;
  arena none;
  double value = 0;
  index_t const targets[] = {2, -1, 0, 2};
  network.loss(ex, none, graph_queries(), tensor<double, dyn, dyn>(at.data(), 4, 3), make_vec(targets, 4),
               make_vec(&value, 1), tensor<double, dyn, dyn>(d.data(), 4, 3));
  return value;
}

bool failed(char const* what) {
  std::fprintf(stderr, "docs/guide/5-models.md: %s\n", what);
  return true;
}

}  // namespace

int main() {
  edge_transformer_options const options{
      .labels = 6, .targets = 3, .layers = 2, .layer = {.width = 16, .heads = 2, .hidden = 32}};

  // The gradients of both losses must equal their derivatives.
  std::vector<double> logits(12), d(12);
  random_stream random(1, 0);
  for (double& x : logits) x = random.uniform(-2, 2);
  auto const check = [&](auto const& network) {
    auto unused = d;
    return gradient_check(
        {{"logits", logits}}, [&](variables const& at) { return loss_at(network, at[0].values, unused); },
        [&](variables const& at, variables& to) { loss_at(network, at[0].values, to[0].values); });
  };
  auto const of_smoothed = check(smoothed<double>(options));
  auto const of_weighted = check(weighted<double>(options, {1, 1, 5}));
  std::printf("%s\n%s\n", of_smoothed.text().c_str(), of_weighted.text().c_str());
  if (!of_smoothed || !of_weighted) return failed("a gradient is not the derivative of its loss");

  // If all weights are 1, the loss is that of the model. A class with weight 2 counts twice.
  auto const own = loss_at(edge_transformer<double>(options), logits, d);
  auto const of = [&](double last) { return loss_at(weighted<double>(options, {1, 1, last}), logits, d); };
  if (std::abs(of(1) - own) > 1e-12) return failed("weights of 1 are another loss");
  if (std::abs(of(2) - of(1) - (of(1) - of(0))) > 1e-12) return failed("a weight is not a factor of its class");
  if (loss_at(smoothed<double>(options), logits, d) == own) return failed("label smoothing changes nothing");

  // The data: on a clock with three hours, each edge adds hours, and the question is the hour of the last node. Answer
  // 2 is rare.
  cpu::backend ex;
  graph_dims const room = room_for_graphs(64, 3, 3);
  graph_loader<cpu::backend> batch(room);
  auto const clocks = [&] {
    batch.clear();
    for (int g = 0; g < 64; ++g) {
      index_t a = 0, b = 0;
      do {
        a = random.below(3);
        b = random.below(3);
      } while ((a + b) % 3 == 2 && random.below(4) > 0);  // keeps one of four
      labelled_edge const edges[] = {{0, 1 + a, 1}, {1, 1 + b, 2}};
      batch.add({.nodes = 3, .edges = edges, .ask = {0, 2}, .answer = (a + b) % 3});
    }
    return batch.upload();
  };
  weighted<float> const network(options, {1, 1, 3});
  trainer learner(ex, network, {.max_norm = 1, .capacity = room});
  initialize(learner.parameters(), 1);
  for (int step = 0; step < 300; ++step) {
    auto const [graphs, targets] = clocks();
    learner.update(graphs, targets, 3e-3);
  }
  std::printf("loss after 300 updates: %.4f\n", static_cast<double>(learner.loss()));
  return learner.loss() > 0.1f && failed("the weighted model does not learn");
}
