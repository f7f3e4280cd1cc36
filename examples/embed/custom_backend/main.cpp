// Counts the flops of one training step of a small Edge Transformer, and compares them with the formula.
// SPDX-License-Identifier: Apache-2.0
//
// Flops for each layer and each graph of n nodes, with width d and feed-forward width f, if all edges are read:
//
//   products    (8 + 2) n^2 d^2 + 4 n^2 d f forward: four projections, the output projection, and two products of the
//               feed-forward block.  Backward has two products for each of these, so the total is three times that.
//   triangle    (5 + 14) n^3 d
//
// Only one edge of the last layer is read.  The last layer still projects all edges, which costs 8 n^2 d^2 flops, but
// computes everything else only for that edge: n^2 becomes 1 in the other terms.  The readout of one edge takes 2 d^2 +
// 2 d v flops in the forward pass for v targets.  Both passes together take three times as many.
#include <cstdio>

#include "flop_counter.hpp"
#include "triad/batches/graph_loader.hpp"
#include "triad/models/edge_transformer.hpp"
#include "triad/train/initialize.hpp"
#include "triad/train/trainer.hpp"

namespace {

using namespace triad;

struct flops {
  double products, triangles;
};

flops by_formula(edge_transformer_options const& z, graph_dims const& batch) {
  auto const real = [](index_t v) { return static_cast<double>(v); };
  double const d = real(z.layer.width), f = real(z.layer.hidden), rows = real(batch.rows), graphs = real(batch.graphs);
  double const after_triangle = 2 * d * d + 4 * d * f, full = real(z.layers - 1);
  double const layers = full * rows * (8 * d * d + after_triangle) + rows * 8 * d * d + graphs * after_triangle;
  double const readout = graphs * (2 * d * d + 2 * d * real(z.targets));
  return {3 * (layers + readout), 19 * real(z.layers) * real(batch.triangles) * d};
}

}  // namespace

int main() {
  edge_transformer_options const sizes{
      .labels = 16, .targets = 18, .layers = 4, .layer = {.width = 48, .heads = 4, .hidden = 192, .dropout = 0.2}};
  graph_dims const room = dims_of(9) + dims_of(5) + dims_of(12);
  using model = edge_transformer<float>;

  counting::backend ex;
  trainer<model, counting::backend> learner(ex, model(sizes), {.max_norm = 1, .capacity = room});
  initialize(learner.parameters(), 1);
  graph_loader<counting::backend> batch(room);
  for (index_t n : {9, 5, 12}) {
    auto* const label = batch.add(n, 0, n - 1, n);
    for (index_t i = 0; i + 1 < n; ++i) label[i * n + i + 1] = 1 + i;
  }
  auto const [questions, answers] = batch.upload();
  learner.update(questions, answers, 1e-3);

  auto const expected = by_formula(sizes, room);
  std::printf("flops of one step   counted      formula\n");
  std::printf("products       %12.0f %12.0f\n", ex.products, expected.products);
  std::printf("triangles      %12.0f %12.0f\n", ex.triangles, expected.triangles);
  return ex.products == expected.products && ex.triangles == expected.triangles ? 0 : 1;
}
