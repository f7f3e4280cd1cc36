// The Edge Transformer as a parser.  The parser maps a sentence to the parent and the labels of each token.
// SPDX-License-Identifier: Apache-2.0
//
//   x_L = edge_trunk(tokens)                                                                   (rows, d)
//   score(i, j) = w . x_L(i, j) + c;  the labels of token i are computed from x_L(i, i)
//   verb_from_word: the verb label of token i is computed from the word's vector e(i), even if the token was dropped
//   verb_from_word: the verb label of token i is computed from the word's vector e(i), even if the token was dropped
// The parent scores read every edge, so the last layer must compute all edges.
#pragma once

#include "triad/layers/heads/label_heads.hpp"
#include "triad/models/sentence_trunks.hpp"
#include "triad/ops/gather.hpp"

namespace triad {

struct edge_transformer_parser_options {
  index_t tokens = 0;      // the number of rows of the table of tokens
  index_t relations = 33;  // the number of rows of the table of relative positions
  label_counts labels{};
  index_t layers = 1;
  bool tied = false;  // true: as in the paper; the released program has this option, but always runs untied layers
  edge_transformer_layer_options layer{};
  sequence_encoding encoding = sequence_encoding::relational;
  double positional_dropout = 0;
  arcs readout = arcs::from_child;
  index_t fixed_token = -1;     // the token whose vector is not learned; negative: none
  bool verb_from_word = false;  // whether the verb label comes from the word's vector, which dropped tokens have too

  edge_trunk_options trunk() const {
    return {.tokens = tokens,
            .relations = relations,
            .layers = layers,
            .tied = tied,
            .layer = layer,
            .encoding = encoding,
            .positional_dropout = positional_dropout,
            .fixed_token = fixed_token};
  }
};

template <class T, index_t D = dyn, index_t H = dyn, index_t F = dyn, form Form = form::released>
struct edge_transformer_parser : parses_sentences<edge_transformer_parser<T, D, H, F, Form>, T> {
  using trunk_type = edge_trunk<T, D, H, F, Form>;
  using input = sentence_batch<T>;
  using output = parse_scores<T>;
  using states = tensor<T, dyn, D>;  // (rows, d)

  trunk_type trunk;
  label_heads<T, D> heads;
  arcs readout;
  bool verb_from_word;

  explicit edge_transformer_parser(edge_transformer_parser_options const& options)
      : trunk(options.trunk()),
        heads{trunk.width(), detail::checked_labels(options.labels)},
        readout(options.readout),
        verb_from_word(options.verb_from_word) {}

  constexpr index_t width() const { return trunk.width(); }
  constexpr linear<T, D, dyn> scorer() const { return {extents<D, dyn>(width(), 1)}; }

  template <class S>
  struct fields {
    fields_of<trunk_type, S> trunk;
    fields_of<linear<T, D, dyn>, S> parent;
    fields_of<label_heads<T, D>, S> labels;
    template <class V>
    void each(V&& f) {
      trunk.each(f);
      f("parent", parent);
      f("labels", labels);
    }
  };
  struct saved {
    typename trunk_type::saved trunk;
    states diagonal;  // (nodes, d): the states of the edges (i, i)
    states words;     // (nodes, d): the word vectors; (0, d): the verb is computed from the diagonal
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(trunk, place), plan<S>(scorer(), place), plan<S>(heads, place)};
  }
  saved plan_saved(arena& place, graph_dims dims, keep kept = keep::everything) const {
    return {trunk.plan_saved(place, dims, kept), place.make<states>(dims.nodes, width()),
            place.make<states>(verb_from_word ? dims.nodes : 0, width())};
  }

  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output const& scores) const {
    trunk.forward(ex, c, w.trunk, in, s.trunk);
    scorer().forward(ex, c.child(1), w.parent, s.trunk.y, {}, as_column(scores.parent));
    gather_rows(ex, s.trunk.y, in.self, s.diagonal);
    look_up_words(ex, w.trunk.encoder.tokens, in, s.words);
    heads.forward(ex, c.child(1), w.labels, s.diagonal, scores.labels, s.words);
  }

  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output const& d,
                fields<T> gradient) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    auto const diagonal = scratch.make<states>(in.graphs.dims.nodes, width()),
               dy = scratch.make<states>(in.graphs.dims.rows, width()),
               d_words = scratch.make<states>(s.words.extent(0), width());
    heads.backward(ex, c.child(1), w.labels, s.diagonal, d.labels, diagonal, gradient.labels, s.words, d_words);
    add_to_words(ex, scratch, d_words, in, trunk.encoder.fixed_token, gradient.trunk.encoder.tokens);
    scorer().backward(ex, c.child(1), w.parent, s.trunk.y, {}, as_column(d.parent), dy, gradient.parent);
    scatter_add_rows(ex, c.scratch, diagonal, in.self, dy);
    trunk.backward(ex, c, w.trunk, in, s.trunk, dy, gradient.trunk);
  }

  /// attention_weights() has attention_heads() rows, and attention_terms(n) columns for a sentence of n tokens.
  index_t attention_heads() const { return trunk.attention_heads(); }
  index_t attention_terms(index_t n) const { return trunk.attention_terms(n); }
  /// Overwrites `weights` with the attention weights of edge (i, j) of one sentence in layer k.  Call forward() with
  /// keep::everything first.
  template <backend Ex>
  void attention_weights(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, index_t k,
                         index_t graph, index_t i, index_t j, matrix<T> weights) const {
    trunk.attention_weights(ex, c, w.trunk, in, s.trunk, k, graph, i, j, weights);
  }
};

}  // namespace triad
