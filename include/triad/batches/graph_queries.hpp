// What the models of labelled graphs are asked: the graphs, their edge labels, and one pair of nodes each.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/core/batch_views.hpp"
#include "triad/core/graphs.hpp"
#include "triad/ops/cross_entropy.hpp"

namespace triad {

/// A batch of b labelled graphs with one question each: how are `source` and `target` related?
struct graph_queries {
  graph_batch graphs;
  vec<index_t const> label;                       // (rows) of every edge; 0: no edge
  vec<index_t const> query_edge;                  // (b) row of edge (source, target)
  vec<index_t const> query_source;                // (b) row among all nodes
  vec<index_t const> query_target;                // (b)
  triangle_mask mask{};                           // padded forms only
  vec<std::uint8_t const> edge_mask{nullptr, 0};  // (rows) 1: an end of the edge is padding; or (0)

  /// What core/batch_views.hpp asks for.
  template <class F>
  void each(F&& f) {
    graphs.each(f);
    f(label, graphs.dims.rows);
    for (auto* view : {&query_edge, &query_source, &query_target}) f(*view, graphs.dims.graphs);
    f.maybe(edge_mask);
    mask.each(f);
  }
  /// A batch of these sizes without memory, to measure with.
  static graph_queries measured(graph_dims const& dims) {
    graph_queries full;
    full.graphs.dims = dims;
    return without_memory(full);
  }
};

/// What a trainer asks of a model that answers one question a graph: base of the models, which have targets() logits.
template <class Model, class T>
struct answers_questions {
  using output = tensor<T, dyn, dyn>;  // (b, targets)
  using answers = vec<index_t const>;  // (b); negative: not asked

  output plan_output(arena& place, graph_dims const& dims) const {
    return place.make<output>(dims.graphs, static_cast<Model const&>(*this).targets());
  }
  /// Questions and answers of these sizes without memory, to measure with.
  static auto measured_input(graph_dims const& dims) { return Model::input::measured(dims); }
  static answers measured_answers(graph_dims const& dims) { return answers(nullptr, dims.graphs); }
  /// Mean cross entropy and its gradient.
  template <backend Ex>
  void loss(Ex& ex, arena&, graph_queries const&, output logits, answers const& right, vec<T> loss,
            output dlogits) const {
    cross_entropy(ex, logits, right, loss, dlogits);
  }
};

}  // namespace triad
