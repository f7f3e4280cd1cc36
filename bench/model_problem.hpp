// An Edge Transformer in training on graphs with random labels, with its batch, its work counted, and its check.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <vector>

#include "compare.hpp"
#include "problem.hpp"
#include "triad/models/edge_transformer.hpp"
#include "triad/models/graph_loader.hpp"
#include "triad/reference/reference.hpp"
#include "triad/train/trainer.hpp"

namespace bench {

/// What is trained, and how.
struct model_settings {
  triad::edge_transformer_sizes sizes;
  std::vector<index_t> nodes;  // of each graph
  triad::keep memory = triad::keep::everything;
  bool chains = true;  // of facts, as in CLUTRR; false: every edge has a label

  triad::graph_dims dims() const {
    triad::graph_dims all;
    for (auto const n : nodes) all = all + triad::dims_of(n);
    return all;
  }
};

inline constexpr index_t labels = 21, targets = 20;  // CLUTRR's relations, and no edge

/// n = 3, 4, 5 in turn: chains of 2, 3 and 4 facts.
inline model_settings clutrr(index_t batch) {
  model_settings s{{.labels = labels, .targets = targets, .layers = 8,
                    .layer = {.width = 200, .heads = 4, .hidden = 800, .dropout = 0.2}}, {}};
  for (index_t g = 0; g < batch; ++g) s.nodes.push_back(3 + g % 3);
  return s;
}

/// One graph, layers run again in backward.
inline model_settings large(index_t nodes) {
  return {{.labels = labels, .targets = targets, .layers = 8, .layer = {.width = 128, .heads = 4, .hidden = 512}},
          {nodes}, triad::keep::inputs, false};
}

template <class T, class Ex>
class model_problem {
  using model = triad::edge_transformer<T>;
  using trainer = triad::trainer<model, Ex>;

 public:
  model_problem(Ex& ex, model_settings const& s)
      : trainer_(ex, model(s.sizes), options(s)), loader_(s.dims(), triad::memory_of(ex)), on_host_(model(s.sizes), triad::holding::gradients) {
    set_parameters(on_host_.mutable_values());
    auto const from = on_host_.flat_values(), to = trainer_.parameters().flat_values();
    trainer_.parameters().where().from_host(to.data_handle(), from.data_handle(), from.size() * sizeof(T));
    triad::random_stream random(5, 0);
    for (auto const n : s.nodes) {
      auto const answer = random.below(static_cast<std::uint32_t>(s.sizes.targets));
      auto* const label = loader_.add(n, 0, n - 1, static_cast<index_t>(answer));
      for (index_t i = 0; i < n; ++i)
        for (index_t j = 0; j < n; ++j)
          if (!s.chains || j == i + 1) label[i * n + j] = 1 + random.below(static_cast<std::uint32_t>(s.sizes.labels) - 1);
    }
  }

  static triad::trainer_bytes bytes(Ex& ex, model_settings const& s) { return trainer::plan(ex, model(s.sizes), options(s)); }

  /// A whole step: forward, loss, backward, clipping, Adam.
  void step() {
    auto const in = loader_.upload();
    trainer_.update(in, loader_.uploaded_answers(), 1e-3);
  }
  /// Its gradient alone.
  void differentiate() {
    auto const in = loader_.upload();
    trainer_.compute_gradient(in, loader_.uploaded_answers());
  }
  T loss() const { return trainer_.loss(); }
  /// Copied to the host, until the next call.
  auto gradients() {
    auto const from = trainer_.parameters().flat_gradients(), to = on_host_.flat_gradients();
    trainer_.parameters().where().to_host(to.data_handle(), from.data_handle(), to.size() * sizeof(T));
    return on_host_.gradients();
  }

 private:
  static triad::trainer_options options(model_settings const& s) { return {.max_norm = 1, .key = 3, .memory = s.memory, .capacity = s.dims()}; }

  trainer trainer_;
  triad::graph_loader<Ex> loader_;
  triad::parameter_set<model, triad::reference::backend> on_host_;
};

/// Loss and gradients, with dropout, of one backend against another in double.
template <class Ex, class Judge>
verdict check_model(Ex& ex, Judge& judge, model_settings const& s) {
  model_problem<float, Ex> found(ex, s);
  model_problem<double, Judge> expected(judge, s);
  found.differentiate();
  expected.differentiate();
  float const loss = found.loss();
  double const expected_loss = expected.loss();
  if (auto wrong = compare("the loss", &loss, &expected_loss, 1)) return wrong;
  return compare_fields(found.gradients(), expected.gradients());
}

/// A training step without what the floor leaves out; the last layer is read at one edge a graph.  Recomputation counts forward twice
/// in every layer but the last.
inline work_model count_work(model_settings const& s) {
  auto const& z = s.sizes;
  auto const dims = s.dims();
  index_t const d = z.layer.width, reads = z.prune ? dims.graphs : dims.rows;
  double const full = static_cast<double>(z.layers - 1);
  work_model model;
  std::map<index_t, index_t> graphs;  // of n nodes
  for (auto const n : s.nodes) ++graphs[n];
  auto const triangles = [&](bool train, double times) {
    for (auto const& [n, count] : graphs) model.triangle(z.layer.variant, count, n, d, z.layer.heads, train, times);
  };
  auto const layers = [&](bool train, double times) {
    model.projections(z.layer.variant, dims.rows, d, train, times);
    model.feed_forward(dims.rows, d, z.layer.hidden, d, train, times);
    triangles(train, times);
  };
  layers(true, full);
  if (s.memory == triad::keep::inputs) layers(false, full);
  model.projections(z.layer.variant, dims.rows, d, true, 1, reads);
  model.feed_forward(reads, d, z.layer.hidden, d, true);
  triangles(true, 1);
  model.feed_forward(dims.graphs, d, d, z.targets, true);
  return model;
}

}  // namespace bench
