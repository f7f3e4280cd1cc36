// The Edge Transformer as a parser: from a sentence to the parent and the labels of each token.
// SPDX-License-Identifier: Apache-2.0
//
//   x_0 = sequence_edges(tokens);  x_{k+1} = layer(x_k)
//   score(i, j) = w . x_L(i, j) + c,  labels of token i from x_L(i, i)
//
// Every edge is read by the score of its parent, so nothing of the last layer can be left out.
#pragma once

#include "triad/layers/edge_transformer_layer.hpp"
#include "triad/layers/repeat.hpp"
#include "triad/models/sentence_batch.hpp"

namespace triad {

struct edge_transformer_parser_sizes {
  index_t tokens = 0;      // rows of the table of tokens
  index_t relations = 33;  // rows of the table of relative positions
  label_counts labels{};
  index_t layers = 1;
  bool tied = false;
  edge_transformer_options layer{};
  sequence_encoding encoding = sequence_encoding::relational;
  double positional_dropout = 0;
  arcs reading = arcs::from_child;
  index_t fixed_token = -1;  // a token whose vector is not learned, or none
};

template <class T, index_t D = dyn, index_t H = dyn, index_t F = dyn, form Form = form::released>
struct edge_transformer_parser : parses_sentences<edge_transformer_parser<T, D, H, F, Form>, T> {
  using layer_type = edge_transformer_layer<T, D, H, F, Form>;
  using input = sentence_batch<T>;
  using output = parse_scores<T>;
  using states = tensor<T, dyn, D>;  // (rows, d)

  sequence_edges<T, D> encoder;
  repeat<T, layer_type> layers;
  label_heads<T, D> heads;
  arcs reading;

  explicit edge_transformer_parser(edge_transformer_parser_sizes const& z)
      : encoder{z.encoding, z.tokens, z.relations, extents<D>(z.layer.width), z.positional_dropout, z.fixed_token},
        layers{layer_type(z.layer), extents<dyn>(z.layers), z.tied}, heads{z.layer.width, z.labels}, reading(z.reading) {
    detail::expect_parser(z.layers, z.tokens, z.labels, z.fixed_token);
    TRIAD_EXPECTS(z.layer.heads > 0 && z.layer.width % z.layer.heads == 0, "edge_transformer_parser: the width must be a multiple of the heads");
  }

  constexpr index_t width() const { return layers.layer.width(); }
  constexpr linear<T, D, dyn> scorer() const { return {extents<D, dyn>(width(), 1)}; }

  template <class S>
  struct fields {
    typename sequence_edges<T, D>::template fields<S> encoder;
    typename repeat<T, layer_type>::template fields<S> layers;
    typename linear<T, D, dyn>::template fields<S> parent;
    typename label_heads<T, D>::template fields<S> labels;
    template <class V>
    void each(V&& f) {
      f("encoder", encoder);
      f("layers", layers);
      f("parent", parent);
      f("labels", labels);
    }
  };
  struct saved {
    typename sequence_edges<T, D>::saved encoder;
    states x0;                                     // (rows, d)
    typename repeat<T, layer_type>::saved layers;
    states final;                                  // (rows, d)
    states own;                                    // (nodes, d): of the edges (i, i)
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    auto const e = encoder.template plan_params<S>(place);
    auto const l = layers.template plan_params<S>(place);
    auto const p = scorer().template plan_params<S>(place);
    return {e, l, p, heads.template plan_params<S>(place)};
  }
  saved plan_saved(arena& place, graph_dims dims, keep kept = keep::everything) const {
    auto const state = [&](index_t rows) { return place.make<states>(rows, width()); };
    auto const e = encoder.plan_saved(place, dims, kept);
    auto const x0 = state(dims.rows);
    auto const l = layers.plan_saved(place, dims, kept);
    auto const final = state(dims.rows);
    return {e, x0, l, final, state(dims.nodes)};
  }

  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output const& scores) const {
    encoder.forward(ex, c.child(2), w.encoder, in, s.encoder, s.x0);
    layers.forward(ex, c.child(0), w.layers, first_input(in, s), s.layers, s.final);
    scorer().forward(ex, c.child(1), w.parent, s.final, {}, column(scores.parent));
    gather_rows(ex, s.final, in.self, s.own);
    heads.forward(ex, c.child(1), w.labels, s.own, scores.labels);
  }

  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output const& d, fields<T> gradient) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    index_t const rows = in.graphs.dims.rows;
    auto const own = scratch.make<states>(in.graphs.dims.nodes, width());
    auto const dx = scratch.make<states>(rows, width()), dx0 = scratch.make<states>(rows, width());
    heads.backward(ex, c.child(1), w.labels, s.own, d.labels, own, gradient.labels);
    scorer().backward(ex, c.child(1), w.parent, s.final, {}, column(d.parent), dx, gradient.parent);
    scatter_add_rows(ex, own, in.self, dx);
    layers.backward(ex, c.child(0), w.layers, first_input(in, s), s.layers, dx, dx0, gradient.layers);
    encoder.backward(ex, c.child(2), w.encoder, in, s.encoder, dx0, gradient.encoder);
  }

 private:
  static tensor<T, dyn, dyn> column(vec<T> v) { return tensor<T, dyn, dyn>(v.data_handle(), v.extent(0), index_t{1}); }
  edge_input<T, D> first_input(input const& in, saved const& s) const { return {s.x0, in.graphs, in.mask}; }
};

}  // namespace triad
