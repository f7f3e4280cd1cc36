// A baseline of the Edge Transformer's over labelled graphs: a graph attention network (GAT), whose nodes attend to
// their neighbours alone.
// SPDX-License-Identifier: Apache-2.0
//
//   g = embedding(label);  edge score = g ws', edge value = g wv'     (rows, h), (rows, d); once for all layers
//   x_0 = 0;  x_{k+1} = graph_attention_layer(x_k);                   x (nodes, d)
//   logits = readout(x_L(source), x_L(target))                        (q, targets)
//
// A state knows the labels of paths of L edges from its node, and of L - 1 edges towards it.  Masks are not read:
// padding has label 0, so no node attends to it.
#pragma once

#include <string_view>

#include "triad/batches/graph_queries.hpp"
#include "triad/layers/embedding.hpp"
#include "triad/layers/feed_forward.hpp"
#include "triad/layers/graph_attention.hpp"
#include "triad/layers/relation_attention.hpp"
#include "triad/layers/repeat.hpp"
#include "triad/ops/elementwise.hpp"
#include "triad/ops/gather.hpp"
#include "triad/ops/matmul.hpp"

namespace triad {

struct graph_attention_network_options {
  index_t labels = 0;   // rows of the embedding
  index_t targets = 0;  // logits
  index_t layers = 1;
  bool tied = true;
  graph_attention_layer_options layer{};
};

template <class T, index_t D = dyn, index_t H = dyn>
struct graph_attention_network : answers_questions<graph_attention_network<T, D, H>, T> {
  using layer_type = graph_attention_layer<T, D, H>;
  using value_type = T;
  using input = graph_queries;
  using output = tensor<T, dyn, dyn>;  // (q, targets)
  using states = tensor<T, dyn, D>;
  using readout_type = feed_forward<T, dyn, dyn, dyn>;

  static constexpr char const* name = "graph_attention_network";

  embedding<T, dyn, D> labels;
  repeat<T, layer_type> layers;
  readout_type readout;

  explicit graph_attention_network(graph_attention_network_options const& z)
      : labels{extents_of<dyn, D>(name, {"labels", z.labels}, {"width", z.layer.width})},
        layers{layer_type(z.layer), extents_of<dyn>(name, {"layers", z.layers, most_repeats}), z.tied},
        readout(2 * width(), 2 * width(), checked_size(name, {"targets", z.targets})) {}

  constexpr index_t width() const { return layers.layer.width(); }
  constexpr index_t heads() const { return layers.layer.heads(); }
  constexpr index_t targets() const { return readout.outer.out(); }
  constexpr linear<T, D, H> edge_score() const { return {extents<D, H>(width(), heads()), false}; }
  constexpr linear<T, D, D> edge_value() const { return {extents<D, D>(width(), width()), false}; }

  /// Whether the parameter has a gradient: an optimiser leaves the others alone.  The first layer meets states of zero,
  /// so what is multiplied with them has none, unless a later layer shares it.
  bool has_gradient(std::string_view path) const {
    if (layers.tied && layers.count() > 1) return true;
    for (std::string_view dead : {"layers.0.value.", "layers.0.query", "layers.0.key"})
      if (path.starts_with(dead)) return false;
    return true;
  }

  template <class S>
  struct fields {
    fields_of<triad::embedding<T, dyn, D>, S> embedding;
    fields_of<linear<T, D, H>, S> edge_score;
    fields_of<linear<T, D, D>, S> edge_value;
    fields_of<repeat<T, layer_type>, S> layers;
    fields_of<readout_type, S> readout;
    template <class V>
    void each(V&& f) {
      f("embedding", embedding);
      f("edge_score", edge_score);
      f("edge_value", edge_value);
      f("layers", layers);
      f("readout", readout);
    }
  };
  struct saved {
    tensor<T, dyn, H> edge_score;                  // (rows, h)
    states edge_value;                             // (rows, d)
    typename repeat<T, layer_type>::saved layers;  // with x_0
    states last;                                   // (nodes, d): x_L
    tensor<T, dyn, dyn> asked;                     // (q, 2 d): what the readout sees
    typename readout_type::saved readout;
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(labels, place), plan<S>(edge_score(), place), plan<S>(edge_value(), place), plan<S>(layers, place),
            plan<S>(readout, place)};
  }

  /// q = dims.questions() questions.
  saved plan_saved(arena& place, graph_dims dims, keep kept = keep::everything) const {
    index_t const q = dims.questions();
    return {place.make<tensor<T, dyn, H>>(dims.rows, heads()),
            place.make<states>(dims.rows, width()),
            layers.plan_saved(place, dims, kept),
            place.make<states>(dims.nodes, width()),
            place.make<tensor<T, dyn, dyn>>(q, 2 * width()),
            readout.plan_saved(place, row_dims(q), kept)};
  }

  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output logits) const {
    {  // Edges with one label have one score and one value: the maps are applied to the table.
      auto const frame = c.scratch->open();
      auto const scores = score_table(*c.scratch);
      auto const values = value_table(*c.scratch);
      edge_score().forward(ex, c, w.edge_score, w.embedding.table, {}, scores);
      edge_value().forward(ex, c, w.edge_value, w.embedding.table, {}, values);
      detail::by_known_labels(in.graphs, [&] { gather_rows(ex, scores, in.label, s.edge_score); });
      gather_rows(ex, values, in.label, s.edge_value);
    }
    fill(ex, T(0), s.layers.state(0));
    layers.forward(ex, c.child(0), w.layers, stack_input(in, s), s.layers, s.last);
    gather_rows(ex, s.last, ends(in), as_pairs(s.asked));
    readout.forward(ex, c.child(1), w.readout, s.asked, s.readout, logits);
  }

  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, const_view<output> dlogits,
                fields<T> gradient) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    index_t const rows = in.graphs.dims.rows;
    auto const asked = scratch.make<tensor<T, dyn, dyn>>(s.asked.extent(0), 2 * width());
    auto const last = scratch.make<states>(in.graphs.dims.nodes, width()),
               d_values = scratch.make<states>(rows, width());
    auto const d_scores = scratch.make<tensor<T, dyn, H>>(rows, heads());
    readout.backward(ex, c.child(1), w.readout, s.asked, s.readout, dlogits, asked, gradient.readout);

    layers.backward(ex, c.child(0), w.layers, stack_input(in, s), s.layers,
                    scatter_rows(ex, c.scratch, as_pairs(asked), ends(in), last), no_rows<T, D>(), gradient.layers,
                    [&](index_t k) {
                      bool const first = k + 1 == layers.count();  // of all that add to it
                      return typename layer_type::edges_gradient{
                          d_scores, d_values, first ? edge_gradients::overwritten : edge_gradients::added};
                    });
    auto const to_labels = [&](auto map, auto weights, auto d_rows, auto d_table, auto d_weights) {
      fill(ex, T(0), d_table);
      scatter_add_rows(ex, c.scratch, d_rows, in.label, d_table);
      map.backward_params(ex, c, w.embedding.table, d_table, d_weights);
      matmul_add(ex, d_table, weights.weight, gradient.embedding.table);
    };
    to_labels(edge_score(), w.edge_score, d_scores, score_table(scratch), gradient.edge_score);
    to_labels(edge_value(), w.edge_value, d_values, value_table(scratch), gradient.edge_value);
  }

 private:
  tensor<T, dyn, H> score_table(arena& place) const {
    return place.make<tensor<T, dyn, H>>(labels.shape.extent(0), heads());
  }
  states value_table(arena& place) const { return place.make<states>(labels.shape.extent(0), width()); }
  /// (q, 2 d) as (2 q, d)
  states as_pairs(tensor<T, dyn, dyn> both) const { return states(both.data_handle(), 2 * both.extent(0), width()); }
  static node_pairs ends(input const& in) { return {in.query_source, in.query_target}; }
  static graph_attention_input<T, D, H> stack_input(input const& in, saved const& s) {
    return {s.layers.state(0), s.edge_score, s.edge_value, in.graphs, in.label};
  }
};

}  // namespace triad
