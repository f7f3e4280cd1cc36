// Trunks: the parts of parsers before the heads.  A trunk maps a sentence to states of the sentence's edges or tokens.
// SPDX-License-Identifier: Apache-2.0
//
//   edge_trunk    x_0 = sequence_edges(tokens);   x_{k+1} = layer(x_k);  y = x_L         (rows, d)
//   token_trunk   x_0 = sequence_tokens(tokens);  x_{k+1} = layer(x_k);  y = norm(x_L)   (nodes, d)
//
// edge_trunk has one row for every ordered pair of tokens.  token_trunk has one row for every token.
//
// A trunk is a part of a model.  For its dropout, a trunk uses the children 0 and 2 of the model's call.  The
// parameters of the trunk are listed among the model's parameters, without a prefix.
#pragma once

#include <string>

#include "triad/batches/sentence_batch.hpp"
#include "triad/core/sequences.hpp"
#include "triad/layers/edge_transformer_layer.hpp"
#include "triad/layers/fixed_row.hpp"
#include "triad/layers/inputs/sequence_edges.hpp"
#include "triad/layers/repeat.hpp"
#include "triad/layers/transformer_layer.hpp"
#include "triad/ops/gather.hpp"

namespace triad {

namespace detail {
template <class Trunk>
concept trunk_with_attention = requires(Trunk const& trunk) { trunk.attention_heads(); };

/// Overwrites `weights` with the attention weights of edge (i, j) of one graph in layer k of repeated Edge Transformer
/// layers.  `c`, `w` and `s` are the call, the parameters and the saved memory of the repeat.
template <backend Ex, class Layers, class Fields, class Input, class Saved, class T>
void attention_weights_of(Ex& ex, call const& c, Layers const& layers, Fields const& w, Input const& in, Saved const& s,
                          index_t k, index_t graph, index_t i, index_t j, matrix<T> weights) {
  TRIAD_EXPECTS(k >= 0 && k < layers.count() && s.keeps(k),
                "attention_weights: layer " + std::to_string(k) + ", expected a layer from 0 to " +
                    std::to_string(layers.count() - 1) + " whose memory was kept; plan with keep::everything");
  layers.layer.attention_weights(ex, c.child(k), w.at(k), in, s.at(k), graph, i, j, weights);
}

/// The parts of a trunk with Edge Transformer layers: first states of the edges, and the layers.
template <class T, index_t D, index_t H, index_t F, form Form>
struct edge_layers {
  using layer_type = edge_transformer_layer<T, D, H, F, Form>;

  sequence_edges<T, D> encoder;
  repeat<T, layer_type> layers;

  constexpr index_t width() const { return layers.layer.width(); }

  template <class S>
  struct fields {
    fields_of<sequence_edges<T, D>, S> encoder;
    fields_of<repeat<T, layer_type>, S> layers;
    template <class V>
    void each(V&& f) {
      f("encoder", encoder);
      f("layers", layers);
    }
  };
  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(encoder, place), plan<S>(layers, place)};
  }

  /// attention_weights() has attention_heads() rows, and attention_terms(n) columns for n nodes.
  index_t attention_heads() const { return layers.layer.attention.heads(); }
  index_t attention_terms(index_t n) const { return layers.layer.attention.variant == triangle_form::flat ? 2 * n : n; }
};
}  // namespace detail

struct edge_trunk_options {
  index_t tokens = 0;      // the number of rows of the table of tokens
  index_t relations = 33;  // the number of rows of the table of relative positions
  index_t layers = 1;
  bool tied = false;
  edge_transformer_layer_options layer{};
  sequence_encoding encoding = sequence_encoding::relational;
  double positional_dropout = 0;
  index_t fixed_token = -1;  // the token whose vector is not learned; negative: none
};

template <class T, index_t D = dyn, index_t H = dyn, index_t F = dyn, form Form = form::released>
struct edge_trunk : detail::edge_layers<T, D, H, F, Form> {
  using base = detail::edge_layers<T, D, H, F, Form>;
  using layer_type = typename base::layer_type;
  using options = edge_trunk_options;
  using input = sentence_batch<T>;
  using states = tensor<T, dyn, D>;  // (rows, d)
  template <class S>
  using fields = typename base::template fields<S>;
  using base::encoder, base::layers, base::width;

  explicit edge_trunk(options const& z)
      : base{{z.encoding, checked_size("edge_trunk", {"tokens", z.tokens}),
              checked_size("edge_trunk", {"relations", z.relations}),
              extents_of<D>("edge_trunk", {"width", z.layer.width}), dropout_rate("edge_trunk", z.positional_dropout),
              z.fixed_token},
             {layer_type(z.layer), extents_of<dyn>("edge_trunk", {"layers", z.layers, most_repeats}), z.tied}} {
    detail::expect_fixed_token("a parser's", z.fixed_token, z.tokens);
  }

  /// The number of states of a batch: one for each ordered pair of tokens.
  static constexpr index_t count(graph_dims const& dims) { return dims.rows; }

  struct saved {
    typename sequence_edges<T, D>::saved encoder;
    typename repeat<T, layer_type>::saved layers;  // includes x_0
    states y;                                      // (rows, d): the result
  };

  saved plan_saved(arena& place, graph_dims const& dims, keep kept = keep::everything) const {
    return {encoder.plan_saved(place, dims, kept), layers.plan_saved(place, dims, kept),
            place.make<states>(dims.rows, width())};
  }

  /// Overwrites s.y with the result.
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s) const {
    encoder.forward(ex, c.child(2), w.encoder, in, s.encoder, s.layers.state(0));
    layers.forward(ex, c.child(0), w.layers, first_input(in, s), s.layers, s.y);
  }

  /// Adds to `gradient`.  May overwrite dy.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, states dy,
                fields<T> gradient) const {
    auto const frame = c.scratch->open();
    auto const dx = c.scratch->template make<states>(in.graphs.dims.rows, width());
    layers.backward(ex, c.child(0), w.layers, first_input(in, s), s.layers, dy, dx, gradient.layers);
    encoder.backward(ex, c.child(2), w.encoder, in, s.encoder, dx, gradient.encoder);
  }

  /// Overwrites `weights` with the attention weights of edge (i, j) of one sentence in layer k.  The first layer is 0.
  /// `weights` is (h, n), or (h, 2n) in the flat form.  Call forward() with keep::everything first.
  template <backend Ex>
  void attention_weights(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, index_t k,
                         index_t graph, index_t i, index_t j, matrix<T> weights) const {
    detail::attention_weights_of(ex, c.child(0), layers, w.layers, first_input(in, s), s.layers, k, graph, i, j,
                                 weights);
  }

 private:
  edge_input<T, D> first_input(input const& in, saved const& s) const {
    return {s.layers.state(0), in.graphs, in.mask};
  }
};

/// Overwrites `words` (nodes, d) with the vectors of the words of a batch.  Dropped tokens get the vectors of their
/// words too.  Does nothing if `words` has no rows.
template <backend Ex, class T, class Table, class States>
void look_up_words(Ex& ex, Table table, sentence_batch<T> const& in, States words) {
  if (words.extent(0) > 0) gather_rows(ex, table, in.words(), words);
}
/// Adds d_words to the gradient of the table (tokens, d).  d_words is the gradient of the result of look_up_words().
/// Does not change the row of the fixed token.
template <backend Ex, class T, class Table, class States>
void add_to_words(Ex& ex, arena& scratch, States d_words, sentence_batch<T> const& in, index_t fixed_token,
                  Table gradient) {
  if (d_words.extent(0) > 0)
    add_but_row(ex, scratch, gradient, fixed_token,
                [&] { scatter_add_rows(ex, &scratch, read_only(d_words), in.words(), gradient); });
}

struct token_trunk_options {
  index_t tokens = 0;  // the number of rows of the table of tokens
  index_t layers = 1;
  bool tied = false;
  transformer_layer_options layer{};
  double positional_dropout = 0;
  index_t fixed_token = -1;  // the token whose vector is not learned; negative: none
};

/// Transformer layers over the tokens of a sentence.  If the layers are tied, this is a universal Transformer (Dehghani
/// et al. 2019) with a fixed number of layers.
template <class T, index_t D = dyn, index_t H = dyn, index_t F = dyn>
struct token_trunk {
  using layer_type = transformer_layer<T, D, H, F>;
  using options = token_trunk_options;
  using input = sentence_batch<T>;
  using states = tensor<T, dyn, D>;  // (nodes, d)

  sequence_tokens<T, D> encoder;
  repeat<T, layer_type> layers;
  layer_norm_layer<T, D> norm;

  explicit token_trunk(options const& z)
      : encoder{checked_size("token_trunk", {"tokens", z.tokens}),
                extents_of<D>("token_trunk", {"width", z.layer.width}),
                dropout_rate("token_trunk", z.positional_dropout), z.fixed_token},
        layers{layer_type(z.layer), extents_of<dyn>("token_trunk", {"layers", z.layers, most_repeats}), z.tied},
        norm{encoder.shape, z.layer.epsilon} {
    detail::expect_fixed_token("a parser's", z.fixed_token, z.tokens);
  }

  constexpr index_t width() const { return layers.layer.width(); }
  /// The number of states of a batch: one for each token.
  static constexpr index_t count(graph_dims const& dims) { return dims.nodes; }

  template <class S>
  struct fields {
    fields_of<sequence_tokens<T, D>, S> encoder;
    fields_of<repeat<T, layer_type>, S> layers;
    fields_of<layer_norm_layer<T, D>, S> norm;
    template <class V>
    void each(V&& f) {
      f("encoder", encoder);
      f("layers", layers);
      f("norm", norm);
    }
  };
  struct saved {
    typename repeat<T, layer_type>::saved layers;  // includes x_0
    states final;                                  // (nodes, d): x_L
    typename layer_norm_layer<T, D>::saved norm;
    states y;  // (nodes, d): the result
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(encoder, place), plan<S>(layers, place), plan<S>(norm, place)};
  }
  saved plan_saved(arena& place, graph_dims const& dims, keep kept = keep::everything) const {
    row_dims const nodes(dims.nodes);
    auto const state = [&] { return place.make<states>(dims.nodes, width()); };
    return {layers.plan_saved(place, nodes, kept), state(), norm.plan_saved(place, nodes), state()};
  }

  /// Overwrites s.y with the result.
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s) const {
    encoder.forward(ex, c.child(2), w.encoder, in, {}, s.layers.state(0));
    layers.forward(ex, c.child(0), w.layers, first_input(in, s), s.layers, s.final);
    norm.forward(ex, c, w.norm, s.final, s.norm, s.y);
  }

  /// Adds to `gradient`.  Overwrites dy.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, states dy,
                fields<T> gradient) const {
    auto const frame = c.scratch->open();
    auto const dx = c.scratch->template make<states>(in.graphs.dims.nodes, width());
    norm.backward(ex, c, w.norm, s.final, s.norm, dy, dy, gradient.norm);
    layers.backward(ex, c.child(0), w.layers, first_input(in, s), s.layers, dy, dx, gradient.layers);
    encoder.backward(ex, c.child(2), w.encoder, in, {}, dx, gradient.encoder);
  }

 private:
  static sequence_input<T, D> first_input(input const& in, saved const& s) {
    return {s.layers.state(0), nodes_of(in.graphs)};
  }
};

}  // namespace triad
