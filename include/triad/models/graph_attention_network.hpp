// A graph attention network (GAT) for labelled graphs, a baseline of the Edge Transformer.  A node attends only to its
// neighbours.
// SPDX-License-Identifier: Apache-2.0
//
//   g = embedding(label);  edge score = g ws', edge value = g wv'     (rows, h), (rows, d); the same for all layers
//   x_0 = 0;  x_{k+1} = graph_attention_layer(x_k);                   x (nodes, d)
//   logits = readout(x_L(source), x_L(target))                        (q, targets)
//
// After L layers, the state of a node depends on the labels along paths of up to L edges that begin at the node, and
// along paths of up to L - 1 edges that end at the node.  Masks are not read: edges of padding have label 0, so no node
// attends to padding.
#pragma once

#include <string_view>

#include "triad/batches/graph_queries.hpp"
#include "triad/layers/graph_attention.hpp"
#include "triad/layers/relation_attention.hpp"
#include "triad/models/graph_model.hpp"
#include "triad/ops/elementwise.hpp"
#include "triad/ops/gather.hpp"
#include "triad/ops/matmul.hpp"

namespace triad {

struct graph_attention_network_options {
  index_t labels = 0;   // the number of rows of the embedding
  index_t targets = 0;  // the number of logits
  index_t layers = 1;
  bool tied = true;
  graph_attention_layer_options layer{};
};

namespace detail {
/// Two maps of the embedding of an edge's label.  The attention adds the result of one map to the attention score of
/// the edge.  It adds the result of the other map to the value of the edge's second node.
template <class T, index_t D, index_t H>
struct edge_maps {
  linear<T, D, H> score;
  linear<T, D, D> value;

  template <class S>
  struct fields {
    fields_of<linear<T, D, H>, S> score;
    fields_of<linear<T, D, D>, S> value;
    template <class V>
    void each(V&& f) {
      f("edge_score", score);
      f("edge_value", value);
    }
  };
  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(score, place), plan<S>(value, place)};
  }
};
template <class Model, class T, index_t D, index_t H>
using graph_attention_parts = graph_baseline<Model, T, D, graph_attention_layer<T, D, H>, dyn, edge_maps<T, D, H>>;
}  // namespace detail

template <class T, index_t D = dyn, index_t H = dyn>
struct graph_attention_network : detail::graph_attention_parts<graph_attention_network<T, D, H>, T, D, H> {
  using parts = detail::graph_attention_parts<graph_attention_network, T, D, H>;
  using input = graph_queries;
  using output = typename parts::output;
  using states = typename parts::states;
  template <class S>
  using fields = typename parts::template fields<S>;
  using parts::labels, parts::layers, parts::readout, parts::width, parts::as_pairs;

  explicit graph_attention_network(graph_attention_network_options const& options)
      : parts("graph_attention_network", options, 2) {}

  constexpr index_t heads() const { return layers.layer.heads(); }
  constexpr detail::edge_maps<T, D, H> maps() const {
    return {{extents<D, H>(width(), heads()), false}, {extents<D, D>(width(), width()), false}};
  }

  /// Whether the parameter with this path has a gradient.  Optimisers skip parameters without a gradient.  All node
  /// states are zero before the first layer.  So the parameters of the first layer that are multiplied with these
  /// states have no gradient, unless a later layer shares the parameters.
  bool has_gradient(std::string_view path) const {
    if (layers.tied && layers.count() > 1) return true;
    for (std::string_view dead : {"layers.0.value.", "layers.0.query", "layers.0.key"})
      if (path.starts_with(dead)) return false;
    return true;
  }

  struct saved : parts::saved {
    tensor<T, dyn, H> edge_score;  // (rows, h)
    states edge_value;             // (rows, d)
    states last;                   // (nodes, d): x_L
  };

  saved plan_saved(arena& place, graph_dims dims, keep kept = keep::everything) const {
    auto const of_parts = parts::plan_queried(place, dims, kept, layers.plan_saved(place, dims, kept), 2 * width());
    return {of_parts, place.make<tensor<T, dyn, H>>(dims.rows, heads()), place.make<states>(dims.rows, width()),
            place.make<states>(dims.nodes, width())};
  }

  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output logits) const {
    {  // edges with equal labels have equal results, so the maps are applied to the table of labels
      auto const frame = c.scratch->open();
      auto const scores = score_table(*c.scratch);
      auto const values = value_table(*c.scratch);
      maps().score.forward(ex, c, w.maps.score, w.embedding.table, {}, scores);
      maps().value.forward(ex, c, w.maps.value, w.embedding.table, {}, values);
      detail::by_known_labels(in.graphs, [&] { gather_rows(ex, scores, in.label, s.edge_score); });
      gather_rows(ex, values, in.label, s.edge_value);
    }
    fill(ex, T(0), s.layers.state(0));
    layers.forward(ex, c.child(0), w.layers, stack_input(in, s), s.layers, s.last);
    gather_rows(ex, s.last, ends(in), as_pairs(s.queried));
    readout.forward(ex, c.child(1), w.readout, s.queried, s.readout, logits);
  }

  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, const_view<output> dlogits,
                fields<T> gradient) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    index_t const rows = in.graphs.dims.rows;
    auto const queried = scratch.make<tensor<T, dyn, dyn>>(s.queried.extent(0), 2 * width());
    auto const last = scratch.make<states>(in.graphs.dims.nodes, width()),
               d_values = scratch.make<states>(rows, width());
    auto const d_scores = scratch.make<tensor<T, dyn, H>>(rows, heads());
    readout.backward(ex, c.child(1), w.readout, s.queried, s.readout, dlogits, queried, gradient.readout);

    layers.backward(ex, c.child(0), w.layers, stack_input(in, s), s.layers,
                    scatter_rows(ex, c.scratch, as_pairs(queried), ends(in), last), no_rows<T, D>(), gradient.layers,
                    [&](index_t k) {
                      bool const first = k + 1 == layers.count();  // the backward pass begins at the last layer
                      return typename parts::layer_type::edges_gradient{
                          d_scores, d_values, first ? edge_gradients::overwritten : edge_gradients::added};
                    });
    auto const to_labels = [&](auto map, auto weights, auto d_rows, auto d_table, auto d_weights) {
      fill(ex, T(0), d_table);
      scatter_add_rows(ex, c.scratch, d_rows, in.label, d_table);
      map.backward_params(ex, c, w.embedding.table, d_table, d_weights);
      matmul_add(ex, d_table, weights.weight, gradient.embedding.table);
    };
    to_labels(maps().score, w.maps.score, d_scores, score_table(scratch), gradient.maps.score);
    to_labels(maps().value, w.maps.value, d_values, value_table(scratch), gradient.maps.value);
  }

 private:
  tensor<T, dyn, H> score_table(arena& place) const {
    return place.make<tensor<T, dyn, H>>(labels.shape.extent(0), heads());
  }
  states value_table(arena& place) const { return place.make<states>(labels.shape.extent(0), width()); }
  static node_pairs ends(input const& in) { return {in.query_source, in.query_target}; }
  static graph_attention_input<T, D, H> stack_input(input const& in, saved const& s) {
    return {s.layers.state(0), s.edge_score, s.edge_value, in.graphs, in.label};
  }
};

}  // namespace triad
