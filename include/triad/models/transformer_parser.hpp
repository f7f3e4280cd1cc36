// The Transformer as a parser, a baseline of the Edge Transformer.  The parser maps a sentence to the parent and the
// labels of each token.
// SPDX-License-Identifier: Apache-2.0
//
//   y = token_trunk(tokens)                                                                    (nodes, d)
//   score(i, j) = q(i) . k(j),  [q k] = y w' + b;  the labels of token i are computed from y(i)
//   verb_from_word: the verb label of token i is computed from the word's vector e(i), even if the token was dropped
//
// If the layers are tied, this is a universal Transformer (Dehghani et al. 2019) with a fixed number of layers.
#pragma once

#include <array>

#include "triad/layers/heads/label_heads.hpp"
#include "triad/models/sentence_trunks.hpp"
#include "triad/ops/pair_product.hpp"

namespace triad {

struct transformer_parser_options {
  index_t tokens = 0;  // the number of rows of the table of tokens
  label_counts labels{};
  index_t layers = 1;
  bool tied = false;
  transformer_layer_options layer{};
  double positional_dropout = 0;
  index_t fixed_token = -1;     // the token whose vector is not learned; negative: none
  bool verb_from_word = false;  // whether the verb label comes from the word's vector, which dropped tokens have too

  token_trunk_options trunk() const {
    return {.tokens = tokens,
            .layers = layers,
            .tied = tied,
            .layer = layer,
            .positional_dropout = positional_dropout,
            .fixed_token = fixed_token};
  }
};

/// Names for stacked_linear: the map of a token as a child, and the map of a token as a parent.
struct child_and_parent {
  static constexpr std::array<char const*, 2> list{"query", "key"};
};

template <class T, index_t D = dyn, index_t H = dyn, index_t F = dyn>
struct transformer_parser : parses_sentences<transformer_parser<T, D, H, F>, T> {
  using trunk_type = token_trunk<T, D, H, F>;
  using input = sentence_batch<T>;
  using output = parse_scores<T>;
  using states = tensor<T, dyn, D>;  // (nodes, d)
  using ends_type = stacked_linear<T, child_and_parent, D>;

  static constexpr arcs readout = arcs::from_child;

  trunk_type trunk;
  label_heads<T, D> heads;
  bool verb_from_word;

  explicit transformer_parser(transformer_parser_options const& options)
      : trunk(options.trunk()),
        heads{trunk.width(), detail::checked_labels(options.labels)},
        verb_from_word(options.verb_from_word) {}

  constexpr index_t width() const { return trunk.width(); }
  constexpr ends_type ends() const { return {extents<D>(width())}; }

  template <class S>
  struct fields {
    fields_of<trunk_type, S> trunk;
    fields_of<ends_type, S> parent;
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
    tensor<T, dyn, dyn> ends;  // (nodes, 2 d): q and k side by side
    states words;              // (nodes, d): the word vectors; (0, d): the verb is computed from y
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(trunk, place), plan<S>(ends(), place), plan<S>(heads, place)};
  }
  saved plan_saved(arena& place, graph_dims dims, keep kept = keep::everything) const {
    return {trunk.plan_saved(place, dims, kept), place.make<tensor<T, dyn, dyn>>(dims.nodes, 2 * width()),
            place.make<states>(verb_from_word ? dims.nodes : 0, width())};
  }

  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output const& scores) const {
    trunk.forward(ex, c, w.trunk, in, s.trunk);
    ends().forward(ex, c.child(1), w.parent, s.trunk.y, {}, s.ends);
    auto const both = read_only(s.ends);
    pair_product(ex, in.graphs, ends().part(both, 0), ends().part(both, 1), scores.parent);
    look_up_words(ex, w.trunk.encoder.tokens, in, s.words);
    heads.forward(ex, c.child(1), w.labels, s.trunk.y, scores.labels, s.words);
  }

  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output const& d,
                fields<T> gradient) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    index_t const nodes = in.graphs.dims.nodes;
    auto const dy = scratch.make<states>(nodes, width()), d_words = scratch.make<states>(s.words.extent(0), width());
    auto const d_ends = scratch.make<tensor<T, dyn, dyn>>(nodes, 2 * width());
    auto const both = read_only(s.ends);
    pair_product_grad(ex, in.graphs, ends().part(both, 0), ends().part(both, 1), vec<T const>(d.parent),
                      ends().part(d_ends, 0), ends().part(d_ends, 1));
    heads.backward(ex, c.child(1), w.labels, s.trunk.y, d.labels, dy, gradient.labels, s.words, d_words);
    add_to_words(ex, scratch, d_words, in, trunk.encoder.fixed_token, gradient.trunk.encoder.tokens);
    ends().backward(ex, c.child(1), w.parent, s.trunk.y, {}, d_ends, dy, gradient.parent, {.residual = as_matrix(dy)});
    trunk.backward(ex, c, w.trunk, in, s.trunk, dy, gradient.trunk);
  }
};

}  // namespace triad
