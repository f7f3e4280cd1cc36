// Models that map a sentence to a labelled graph of its tokens and of slots.  The Edge Transformer computes states of
// all ordered pairs, and a head labels the pairs, the nodes and the graph.
// SPDX-License-Identifier: Apache-2.0
//
//   x_0 = sequence_edges(tokens and slots, both ends);   x_{k+1} = layer(x_k)                            (rows, d)
//   y = norm(the rows of x_L that the head reads);       scores = head(y)
//
//   edge_sentence_to_graph        labels straight from the states             layers/heads/graph_head.hpp
//   predicate_sentence_to_graph   labels through predicates with roles        layers/heads/predicate_head.hpp
//
// The last layer computes its output projection and its feed-forward block only for the rows that the head reads.  A
// head of your own has the members of graph_head.
#pragma once

#include <string>
#include <utility>

#include "triad/batches/sentence_graph_batch.hpp"
#include "triad/core/sizes.hpp"
#include "triad/layers/edge_transformer_layer.hpp"
#include "triad/layers/heads/graph_head.hpp"
#include "triad/layers/heads/predicate_head.hpp"
#include "triad/layers/inputs/sequence_edges.hpp"
#include "triad/layers/repeat.hpp"
#include "triad/models/sentence_trunks.hpp"

namespace triad {

struct sentence_to_graph_options {
  index_t tokens = 0;     // the number of rows of the tables of tokens, which have a row for each slot
  index_t relations = 0;  // the number of rows of the table of relations (batches/sentence_graph_loader.hpp)
  index_t layers = 1;
  bool tied = false;
  edge_transformer_layer_options layer{};
  double input_dropout = 0;  // the dropout rate of x_0
};

template <class T, class Head, index_t D = dyn, index_t H = dyn, index_t F = dyn, form Form = form::pre_norm>
struct sentence_to_graph {
  using value_type = T;
  using input = sentence_graph_batch<T>;
  using output = graph_scores<T>;
  using answers = graph_answers<T>;
  using planned_with = sentence_graph_dims;
  using layer_type = edge_transformer_layer<T, D, H, F, Form>;
  using states = tensor<T, dyn, D>;
  static constexpr probability_form probabilities = Head::probabilities;
  static constexpr bool has_inner = Head::has_inner;  // whether the head can read the state after an inner layer

  sequence_edges<T, D> encoder;
  repeat<T, layer_type> layers;
  layer_norm_layer<T, D> norm;
  Head head;

  /// `head` is made with the width of the layers.
  sentence_to_graph(sentence_to_graph_options const& z, Head h)
      : encoder{sequence_encoding::relational_ends, checked_size("sentence_to_graph", {"tokens", z.tokens}),
                checked_size("sentence_to_graph", {"relations", z.relations}),
                extents_of<D>("sentence_to_graph", {"width", z.layer.width}),
                dropout_rate("sentence_to_graph", z.input_dropout)},
        layers{layer_type(z.layer), extents_of<dyn>("sentence_to_graph", {"layers", z.layers, most_repeats}), z.tied},
        norm{encoder.shape},
        head(std::move(h)) {
    TRIAD_EXPECTS(head.width() == width(), "sentence_to_graph: the head has the width " + std::to_string(head.width()) +
                                               ", expected " + std::to_string(width()) + ", the width of the layers");
    TRIAD_EXPECTS(head.inner() >= 0 && head.inner() < layers.count(),
                  "sentence_to_graph: the head reads the state after layer " + std::to_string(head.inner()) + " of " +
                      std::to_string(layers.count()) + ", expected a layer before the last");
  }

  constexpr index_t width() const { return layers.layer.width(); }

  template <class S>
  struct fields {
    fields_of<sequence_edges<T, D>, S> encoder;
    fields_of<repeat<T, layer_type>, S> layers;
    fields_of<layer_norm_layer<T, D>, S> norm;
    fields_of<Head, S> head;
    template <class V>
    void each(V&& f) {
      f("encoder", encoder);
      f("layers", layers);
      f("norm", norm);
      f("head", head);
    }
  };
  struct saved {
    typename sequence_edges<T, D>::saved encoder;
    typename repeat<T, layer_type>::saved layers;  // includes x_0
    states read;                                   // (read, d): the rows of x_L that the head reads
    typename layer_norm_layer<T, D>::saved norm;
    states y;  // (read, d)
    typename Head::saved head;
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(encoder, place), plan<S>(layers, place), plan<S>(norm, place), plan<S>(head, place)};
  }
  saved plan_saved(arena& place, sentence_graph_dims const& dims, keep kept = keep::everything) const {
    index_t const read = head.count(dims);
    auto const state = [&] { return place.make<states>(read, width()); };
    return {encoder.plan_saved(place, dims.graphs, kept),
            layers.plan_wanted(place, dims.graphs, kept, read),
            state(),
            norm.plan_saved(place, row_dims(read)),
            state(),
            head.plan_saved(place, dims, kept)};
  }
  output plan_output(arena& place, sentence_graph_dims const& dims) const { return head.plan_output(place, dims); }
  input measured_input(sentence_graph_dims const& dims) const { return input::measured(dims); }
  answers measured_answers(sentence_graph_dims const& dims) const {
    return answers::measured(dims.grid, head.label_counts());
  }

  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output const& scores) const {
    encoder.forward(ex, c.child(2), w.encoder, in, s.encoder, s.layers.state(0));
    layers.forward_with(ex, c.child(0), w.layers, first_input(in, s), s.layers, s.read,
                        [&](index_t k, const_view<states> x) {
                          if constexpr (has_inner)
                            if (k == head.inner()) head.point(ex, c.child(1), w.head, in, x, s.head);
                        });
    norm.forward(ex, c, w.norm, s.read, s.norm, s.y);
    head.forward(ex, c.child(1), w.head, in, s.y, s.head, scores);
  }

  /// Overwrites `loss` (1) and `d`.
  template <backend Ex>
  void loss(Ex& ex, arena& scratch, input const& in, output const& scores, answers const& targets, vec<T> loss,
            output const& d) const {
    graph_loss(ex, scratch, Head::probabilities, in, scores, targets, loss, d);
  }

  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output const& d,
                fields<T> gradient) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    index_t const read = s.y.extent(0);
    auto const dy = scratch.make<states>(read, width()), dx0 = scratch.make<states>(in.graphs.dims.rows, width());
    if constexpr (has_inner) {
      auto const dheads = scratch.make<vec<T>>(head.inner() > 0 ? in.grid.dims.pairs : 0);
      head.backward(ex, c.child(1), w.head, in, s.y, s.head, d, dy, dheads, gradient.head);
      norm.backward(ex, c, w.norm, s.read, s.norm, dy, dy, gradient.norm);
      layers.backward_with(ex, c.child(0), w.layers, first_input(in, s), s.layers, dy, dx0, gradient.layers,
                           [&](index_t k, states dx) {
                             if (k == head.inner())
                               head.add_inner(ex, c.child(1), w.head, in, s.head, d, dheads, dx, gradient.head);
                           });
    } else {
      head.backward(ex, c.child(1), w.head, in, s.y, s.head, d, dy, gradient.head);
      norm.backward(ex, c, w.norm, s.read, s.norm, dy, dy, gradient.norm);
      layers.backward(ex, c.child(0), w.layers, first_input(in, s), s.layers, dy, dx0, gradient.layers);
    }
    encoder.backward(ex, c.child(2), w.encoder, in, s.encoder, dx0, gradient.encoder);
  }

  /// attention_weights() has attention_heads() rows, and attention_terms(n) columns for n tokens and slots.
  index_t attention_heads() const { return layers.layer.attention.heads(); }
  index_t attention_terms(index_t n) const { return layers.layer.attention.variant == triangle_form::flat ? 2 * n : n; }
  /// Overwrites `weights` with the attention weights of edge (i, j) of one sentence in layer k.  Call forward() with
  /// keep::everything first.
  template <backend Ex>
  void attention_weights(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, index_t k,
                         index_t graph, index_t i, index_t j, matrix<T> weights) const {
    detail::attention_weights_of(ex, c.child(0), layers, w.layers, first_input(in, s), s.layers, k, graph, i, j,
                                 weights);
  }

 private:
  edge_input<T, D> first_input(input const& in, saved const& s) const {
    edge_input<T, D> all{s.layers.state(0), in.graphs};
    all.wanted = head.read(in);
    return all;
  }
};

/// The Edge Transformer with labels straight from the states of pairs.
template <class T, index_t D = dyn, index_t H = dyn, index_t F = dyn, form Form = form::pre_norm>
using edge_sentence_to_graph = sentence_to_graph<T, graph_head<T, D>, D, H, F, Form>;

/// The Edge Transformer with labels through predicates and their roles.
template <class T, index_t D = dyn, index_t H = dyn, index_t F = dyn, form Form = form::pre_norm>
using predicate_sentence_to_graph = sentence_to_graph<T, predicate_head<T, D>, D, H, F, Form>;

}  // namespace triad
