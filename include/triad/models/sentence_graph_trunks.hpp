// The trunks of models from sentences to labelled graphs: the parts before the heads.  A trunk computes states of the
// ordered pairs of tokens and slots.
// SPDX-License-Identifier: Apache-2.0
//
//   edge_graph_trunk    x_0 = sequence_edges(tokens and slots, both ends);  x_{k+1} = layer(x_k);  y = x_L   (rows, d)
//                       The layers are Edge Transformer layers.
//   token_graph_trunk   u_0 = drop(table(tokens and slots));  u_{k+1} = layer(u_k)                          (nodes, d)
//                       y = pair_states(norm(u_L))                                                          (rows, d)
//                       The layers are Transformer layers with relative positions (layers/relative_attention.hpp).
//
// A head reads some rows of y.  It may also read states of all pairs before the last norm (`inner` > 0).  These are x_k
// in edge_graph_trunk, with k = inner.  In token_graph_trunk, whose layers have no states of pairs, they are y.
//
// A trunk is a part of a model.  For its dropout, a trunk uses the children 0 and 2 of the model's call, and the head
// uses child 1.  The parameters of the trunk are listed among the model's parameters, without a prefix.  A trunk of
// your own has the members of token_graph_trunk.
#pragma once

#include <string>

#include "triad/batches/sentence_graph_batch.hpp"
#include "triad/core/sizes.hpp"
#include "triad/layers/edge_transformer_layer.hpp"
#include "triad/layers/inputs/sequence_edges.hpp"
#include "triad/layers/pair_states.hpp"
#include "triad/layers/relative_attention.hpp"
#include "triad/layers/repeat.hpp"
#include "triad/layers/transformer_layer.hpp"
#include "triad/models/sentence_trunks.hpp"

namespace triad {

/// Sizes and options of a trunk.  `Layer` is the type of the options of its layers.
template <class Layer>
struct graph_trunk_options {
  index_t tokens = 0;     // the number of rows of the tables of tokens, which have a row for each slot
  index_t relations = 0;  // the number of rows of the tables of relations (batches/sentence_graph_loader.hpp)
  index_t layers = 1;
  bool tied = false;
  Layer layer{};
  double input_dropout = 0;  // the dropout rate of x_0 or u_0
};
using sentence_to_graph_options = graph_trunk_options<edge_transformer_layer_options>;
using token_to_graph_options = graph_trunk_options<transformer_layer_options>;

template <class T, index_t D = dyn, index_t H = dyn, index_t F = dyn, form Form = form::pre_norm>
struct edge_graph_trunk : detail::edge_layers<T, D, H, F, Form> {
  using base = detail::edge_layers<T, D, H, F, Form>;
  using layer_type = typename base::layer_type;
  using options = sentence_to_graph_options;
  using input = sentence_graph_batch<T>;
  using states = tensor<T, dyn, D>;  // (rows, d): all pairs, or (read, d): those that the head reads
  using norm_type = layer_norm_layer<T, D>;
  template <class S>
  using fields = typename base::template fields<S>;
  using base::encoder, base::layers, base::width;

  explicit edge_graph_trunk(options const& z)
      : base{{sequence_encoding::relational_ends, checked_size("sentence_to_graph", {"tokens", z.tokens}),
              checked_size("sentence_to_graph", {"relations", z.relations}),
              extents_of<D>("sentence_to_graph", {"width", z.layer.width}),
              dropout_rate("sentence_to_graph", z.input_dropout)},
             {layer_type(z.layer), extents_of<dyn>("sentence_to_graph", {"layers", z.layers, most_repeats}), z.tied}} {}

  constexpr extents<D> shape() const { return encoder.shape; }
  /// Throws contract_violation if there is no state that a head with this value of `inner` reads.
  void expect_inner(index_t inner) const {
    TRIAD_EXPECTS(inner >= 0 && inner < layers.count(),
                  "sentence_to_graph: the head reads the state after layer " + std::to_string(inner) + " of " +
                      std::to_string(layers.count()) + ", expected a layer before the last");
  }

  struct saved {
    typename sequence_edges<T, D>::saved encoder;
    typename repeat<T, layer_type>::saved layers;  // includes x_0
  };

  /// `read` is the number of rows of y that the head reads.
  saved plan_saved(arena& place, graph_dims const& dims, keep kept, index_t read) const {
    return {encoder.plan_saved(place, dims, kept), layers.plan_wanted(place, dims, kept, read)};
  }

  /// Overwrites y (read, d) with the wanted rows.  If `inner` > 0, calls point(x), where x (rows, d) has the states of
  /// all pairs after layer `inner`.  The last layer computes its output projection and its feed-forward block only for
  /// the wanted rows.
  template <backend Ex, class Point>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, vec<index_t const> wanted, saved const& s,
               states y, index_t inner, Point const& point) const {
    encoder.forward(ex, c.child(2), w.encoder, in, s.encoder, s.layers.state(0));
    layers.forward_with(ex, c.child(0), w.layers, first_input(in, wanted, s), s.layers, y,
                        [&](index_t k, const_view<states> x) {
                          if (k == inner) point(x);
                        });
  }

  /// Adds to `gradient`.  If `inner` > 0, calls add(dx), which must add the gradient of what point(x) computed.
  template <backend Ex, class Add>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, vec<index_t const> wanted, saved const& s,
                const_view<states> dy, fields<T> gradient, index_t inner, Add const& add) const {
    auto const frame = c.scratch->open();
    auto const dx0 = c.scratch->template make<states>(in.graphs.dims.rows, width());
    layers.backward_with(ex, c.child(0), w.layers, first_input(in, wanted, s), s.layers, dy, dx0, gradient.layers,
                         [&](index_t k, states dx) {
                           if (k == inner) add(dx);
                         });
    encoder.backward(ex, c.child(2), w.encoder, in, s.encoder, dx0, gradient.encoder);
  }

  /// Overwrites `weights` with the attention weights of edge (i, j) of one sentence in layer k.
  template <backend Ex>
  void attention_weights(Ex& ex, call const& c, fields<T const> w, input const& in, vec<index_t const> wanted,
                         saved const& s, index_t k, index_t graph, index_t i, index_t j, matrix<T> weights) const {
    detail::attention_weights_of(ex, c.child(0), layers, w.layers, first_input(in, wanted, s), s.layers, k, graph, i, j,
                                 weights);
  }

 private:
  edge_input<T, D> first_input(input const& in, vec<index_t const> wanted, saved const& s) const {
    edge_input<T, D> all{s.layers.state(0), in.graphs};
    all.wanted = wanted;
    return all;
  }
};

/// A plain Transformer encoder, with which the Edge Transformer is compared.
template <class T, index_t D = dyn, index_t H = dyn, index_t F = dyn>
struct token_graph_trunk {
  using options = token_to_graph_options;
  using input = sentence_graph_batch<T>;
  using attention_type = relative_attention<T, D, H>;
  using layer_type = transformer_layer<T, D, H, F, attention_type>;
  using states = tensor<T, dyn, D>;  // (rows, d), (read, d) as in edge_graph_trunk, or (nodes, d)
  using norm_type = layer_norm_layer<T, D>;

  index_t tokens;
  repeat<T, layer_type> layers;
  norm_type norm;
  pair_states<T, D> pairs;
  double dropout;  // the dropout rate of u_0

  explicit token_graph_trunk(options const& z)
      : tokens(checked_size("sentence_to_graph", {"tokens", z.tokens})),
        layers{layer_of(z), extents_of<dyn>("sentence_to_graph", {"layers", z.layers, most_repeats}), z.tied},
        norm{extents_of<D>("sentence_to_graph", {"width", z.layer.width}), z.layer.epsilon},
        pairs{norm.shape, z.relations},
        dropout(dropout_rate("sentence_to_graph", z.input_dropout)) {}

  constexpr extents<D> shape() const { return norm.shape; }
  constexpr index_t width() const { return layers.layer.width(); }
  /// Throws contract_violation if there is no state that a head with this value of `inner` reads.
  void expect_inner(index_t inner) const {
    TRIAD_EXPECTS(inner >= 0, "sentence_to_graph: the head reads the state after layer " + std::to_string(inner) +
                                  ", expected 0 or more");
  }

  template <class S>
  struct encoder_fields {
    tensor<S, dyn, D> tokens;  // (tokens, d)
    template <class V>
    void each(V&& f) {
      f("tokens", tokens);
    }
  };
  template <class S>
  struct fields {
    encoder_fields<S> encoder;
    fields_of<repeat<T, layer_type>, S> layers;
    fields_of<norm_type, S> norm;
    fields_of<pair_states<T, D>, S> pairs;
    template <class V>
    void each(V&& f) {
      f("encoder", encoder);
      f("layers", layers);
      f("node_norm", norm);
      f("pairs", pairs);
    }
  };
  struct saved {
    typename repeat<T, layer_type>::saved layers;  // includes u_0
    states final;                                  // (nodes, d): u_L
    typename norm_type::saved norm;
    states normed;  // (nodes, d)
    typename pair_states<T, D>::saved pairs;
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {{place.make<tensor<S, dyn, D>>(tokens, width())},
            plan<S>(layers, place),
            plan<S>(norm, place),
            plan<S>(pairs, place)};
  }
  saved plan_saved(arena& place, graph_dims const& dims, keep kept, index_t) const {
    auto const state = [&] { return place.make<states>(dims.nodes, width()); };
    return {layers.plan_saved(place, dims, kept), state(), norm.plan_saved(place, row_dims(dims.nodes)), state(),
            pairs.plan_saved(place, dims, kept)};
  }

  /// Overwrites y with the wanted rows.  If `inner` > 0, calls point(x) with the states of all pairs.
  template <backend Ex, class Point>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, vec<index_t const> wanted, saved const& s,
               states y, index_t inner, Point const& point) const {
    auto const first = s.layers.state(0);
    gather_rows(ex, w.encoder.tokens, in.token, first);
    if (auto const mask = c.child(2).dropout(dropout); mask.active()) triad::dropout(ex, mask, first, first);
    layers.forward(ex, c.child(0), w.layers, first_input(in, s), s.layers, s.final);
    norm.forward(ex, c, w.norm, s.final, s.norm, s.normed);
    pairs.forward(ex, c, w.pairs, pairs_input(in, s), s.pairs);
    if (inner > 0) point(read_only(s.pairs.y));
    gather_rows(ex, s.pairs.y, wanted, y);
  }

  /// Adds to `gradient`.  If `inner` > 0, calls add(dx), which must add the gradient of what point(x) computed.
  template <backend Ex, class Add>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, vec<index_t const> wanted, saved const& s,
                const_view<states> dy, fields<T> gradient, index_t inner, Add const& add) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    auto const d_pairs = scratch.make<states>(in.graphs.dims.rows, width());
    auto const state = [&] { return scratch.make<states>(in.graphs.dims.nodes, width()); };
    auto const d = state(), du0 = state();
    scatter_rows(ex, c.scratch, dy, wanted, d_pairs);
    if (inner > 0) add(d_pairs);
    pairs.backward(ex, c, w.pairs, pairs_input(in, s), s.pairs, d_pairs, d, gradient.pairs);
    norm.backward(ex, c, w.norm, s.final, s.norm, d, d, gradient.norm);
    layers.backward(ex, c.child(0), w.layers, first_input(in, s), s.layers, d, du0, gradient.layers);
    scatter_add_rows(ex, c.scratch, undropped(ex, c.child(2).dropout(dropout), read_only(du0), d), in.token,
                     gradient.encoder.tokens);
  }

 private:
  static layer_type layer_of(options const& z) {
    return {z.layer, attention_type{{width_and_heads<D, H>("sentence_to_graph", z.layer.width, z.layer.heads),
                                     dropout_rate("sentence_to_graph", z.layer.rate_inside())},
                                    checked_size("sentence_to_graph", {"relations", z.relations})}};
  }
  static relative_input<T, D> first_input(input const& in, saved const& s) {
    return {s.layers.state(0), in.graphs, in.relation};
  }
  static pair_states_input<T, D> pairs_input(input const& in, saved const& s) {
    return {{s.normed, in.graphs, in.relation}, in.self};
  }
};

}  // namespace triad
