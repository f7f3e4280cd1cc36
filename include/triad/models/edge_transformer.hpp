// The Edge Transformer over labelled graphs: labels to edge states, layers, and a readout at one edge of each graph.
// SPDX-License-Identifier: Apache-2.0
//
//   x_0(i, j) = e(label(i, j));  x_{k+1} = layer(x_k);  logits = readout(x_L(source, target))
//
// Only one edge of each graph is read, so the last layer computes its output projection and feed-forward block there
// alone.
#pragma once

#include <string>

#include "triad/batches/graph_queries.hpp"
#include "triad/layers/edge_transformer_layer.hpp"
#include "triad/layers/embedding.hpp"
#include "triad/layers/repeat.hpp"

namespace triad {

struct edge_transformer_options {
  index_t labels = 0;          // rows of the embedding
  index_t targets = 0;         // logits
  index_t layers = not_given;  // left out: the type's, or one
  bool tied = true;
  edge_transformer_layer_options layer{};
  bool prune = true;  // false: the last layer is computed at every edge, as the released program does; the same logits
};

template <class T, index_t D = dyn, index_t H = dyn, index_t F = dyn, form Form = form::released, index_t L = dyn>
struct edge_transformer : answers_questions<edge_transformer<T, D, H, F, Form, L>, T> {
  using layer_type = edge_transformer_layer<T, D, H, F, Form>;
  using value_type = T;
  using input = graph_queries;
  using output = tensor<T, dyn, dyn>;  // (b, targets)
  using states = tensor<T, dyn, D>;    // (rows, d)
  using stack_type = repeat<T, layer_type, L>;

  embedding<T, dyn, D> labels;
  stack_type layers;
  feed_forward<T, D, D, dyn> readout;

  explicit edge_transformer(edge_transformer_options const& z)
      : labels{extents_of<dyn, D>("edge_transformer", {"labels", z.labels}, {"width", z.layer.width})},
        layers{layer_type(z.layer),
               extents_of<L>("edge_transformer",
                             {"layers", L == dyn && z.layers == not_given ? 1 : z.layers, most_repeats}),
               z.tied, z.prune},
        readout(z.layer.width, z.layer.width, checked_size("edge_transformer", {"targets", z.targets})) {}

  constexpr index_t width() const { return layers.layer.width(); }
  constexpr index_t targets() const { return readout.outer.out(); }

  template <class S>
  struct fields {
    fields_of<triad::embedding<T, dyn, D>, S> embedding;
    fields_of<stack_type, S> layers;
    fields_of<feed_forward<T, D, D, dyn>, S> readout;
    template <class V>
    void each(V&& f) {
      f("embedding", embedding);
      f("layers", layers);
      f("readout", readout);
    }
  };
  struct saved {
    typename stack_type::saved layers;  // with x_0
    states asked;                       // (b, d): what the readout sees
    typename feed_forward<T, D, D, dyn>::saved readout;
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(labels, place), plan<S>(layers, place), plan<S>(readout, place)};
  }

  /// b = dims.graphs questions.
  saved plan_saved(arena& place, graph_dims dims, keep kept = keep::everything) const {
    index_t const b = dims.graphs;
    return {layers.plan_wanted(place, dims, kept, b), place.make<states>(b, width()),
            readout.plan_saved(place, row_dims(b), kept)};
  }

  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output logits) const {
    try {
      labels.forward(ex, c, w.embedding, in.label, {}, s.layers.state(0));
    } catch (index_out_of_range const& e) {
      refuse_label(in, e);
    }
    layers.forward(ex, c.child(0), w.layers, stack_input(in, s), s.layers, s.asked);
    readout.forward(ex, c.child(1), w.readout, s.asked, s.readout, logits);
  }

  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, const_view<output> dlogits,
                fields<T> gradient) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    auto const asked = scratch.make<states>(s.asked.extent(0), width()),
               dx0 = scratch.make<states>(in.graphs.dims.rows, width());
    readout.backward(ex, c.child(1), w.readout, s.asked, s.readout, dlogits, asked, gradient.readout);
    layers.backward(ex, c.child(0), w.layers, stack_input(in, s), s.layers, asked, dx0, gradient.layers);
    labels.backward(ex, c, w.embedding, in.label, {}, dx0, gradient.embedding);
  }

  /// weights (h, n) of layer k, from 0, for edge (i, j) of one graph, after a forward pass with keep::everything; flat:
  /// (h, 2n). A contract_violation where there is no such layer, graph or node, or where their states were not kept.
  template <backend Ex>
  void attention_weights(Ex& ex, call const& c, input const& in, saved const& s, index_t k, index_t graph, index_t i,
                         index_t j, matrix<T> weights) const {
    auto const text = [](index_t v) { return std::to_string(v); };
    TRIAD_EXPECTS(
        k >= 0 && k < layers.count(),
        "attention_weights: layer " + text(k) + " is asked for, and the layers are 0 to " + text(layers.count() - 1));
    TRIAD_EXPECTS(s.layers.keeps(k),
                  "attention_weights: the memory of layer " + text(k) + " of " + text(layers.count()) +
                      " was given to another layer, since not everything was kept; plan with keep::everything");
    TRIAD_EXPECTS(graph >= 0 && graph < in.graphs.dims.graphs,
                  "attention_weights: graph " + text(graph) + " is asked for, of " + text(in.graphs.dims.graphs));
    index_t const n = in.graphs.dims.max_nodes;
    TRIAD_EXPECTS(i >= 0 && i < n && j >= 0 && j < n, "attention_weights: edge (" + text(i) + ", " + text(j) +
                                                          ") is asked for, and no graph has more than " + text(n) +
                                                          " nodes");
    auto const at = s.layers.at(k).attention;
    layers.layer.attention.weights(ex, c.child(0).child(k).child(0), stack_input(in, s), at, graph, i, j, weights);
  }

 private:
  /// Says which edge of which graph has a label that the model does not know; only hosts find one.
  [[noreturn]] static void refuse_label(input const& in, index_out_of_range const& e) {
    index_t g = 0;
    while (g + 1 < in.graphs.dims.graphs && in.graphs.edge(g + 1) <= e.row) ++g;
    index_t const n = in.graphs.size(g), at = e.row - in.graphs.edge(g);
    auto const text = [](index_t v) { return std::to_string(v); };
    throw contract_violation("edge_transformer: edge (" + text(at / n) + ", " + text(at % n) + ") of graph " + text(g) +
                             " has label " + text(e.index) + ", and the model knows 0 to " + text(e.rows - 1) +
                             "; build it with more labels, or mend the data");
  }
  edge_input<T, D> stack_input(input const& in, saved const& s) const {
    return {s.layers.state(0), in.graphs, in.mask, in.query_edge};
  }
};

}  // namespace triad
