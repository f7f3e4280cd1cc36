// Dependency parsers.  A parser consists of a trunk (the layers before the heads) and heads.  It maps a sentence to the
// parent of each token, and to the relation between the token and its parent.
// SPDX-License-Identifier: Apache-2.0
//
//   y = trunk(tokens);  arc(i, j), relation((i, j), :) = heads(y)
//   loss = mean over tokens of -log softmax(arc(i, :))(parent(i))
//        + mean over tokens of -log softmax(relation((i, parent(i)), :))(right)
//
//   edge_dependency_parser       states of pairs of tokens, with linear heads        layers/heads/edge_heads.hpp
//   biaffine_dependency_parser   states of tokens, with products of two tokens       layers/heads/biaffine_heads.hpp
//
// The predicted tree is the maximum spanning arborescence of the scores of arcs (decoding/arborescence.hpp).  Then
// relate() computes the logits of the relations for the pairs of this tree.
#pragma once

#include "triad/batches/dependency_batch.hpp"
#include "triad/layers/heads/biaffine_heads.hpp"
#include "triad/layers/heads/edge_heads.hpp"
#include "triad/models/sentence_trunks.hpp"

namespace triad {

template <class T, class Trunk, class Heads>
struct dependency_parser {
  using value_type = T;
  using input = dependency_batch<T>;
  using output = dependency_scores<T>;
  using answers = dependency_answers;
  using states = typename Trunk::states;

  Trunk trunk;
  Heads heads;

  dependency_parser(typename Trunk::options const& z, typename Heads::options const& o)
      : trunk(z), heads(trunk.width(), o) {}

  constexpr index_t width() const { return trunk.width(); }
  constexpr index_t relations() const { return heads.relations; }

  template <class S>
  struct fields {
    fields_of<Trunk, S> trunk;
    fields_of<Heads, S> heads;
    template <class V>
    void each(V&& f) {
      trunk.each(f);
      heads.each(f);
    }
  };
  struct saved {
    typename Trunk::saved trunk;
    typename Heads::saved heads;
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(trunk, place), plan<S>(heads, place)};
  }
  saved plan_saved(arena& place, graph_dims const& dims, keep kept = keep::everything) const {
    return {trunk.plan_saved(place, dims, kept), heads.plan_saved(place, dims, kept)};
  }
  output plan_output(arena& place, graph_dims const& dims) const { return output::plan(place, dims, relations()); }
  input measured_input(graph_dims const& dims) const { return input::measured(dims, width()); }
  static answers measured_answers(graph_dims const& dims) { return answers::measured(dims); }

  /// Computes the scores of arcs.  If the batch has pairs, there must be one for each token, and forward() also
  /// computes the logits of their relations.
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output const& scores) const {
    if (in.pairs.count() != 0) expect_extent("dependency_parser", "pairs", in.pairs.count(), in.graphs.dims.nodes);
    trunk.forward(ex, c, w.trunk, in, s.trunk);
    heads.forward(ex, c.child(1), w.heads, in, s.trunk.y, s.heads, scores.arc);
    if (in.pairs.count() > 0) relate(ex, c, w, s, in.pairs, scores.relation);
  }

  /// Overwrites logits (pairs, relations) with the logits of the relations.  The pairs may be any pairs of the batch of
  /// the last forward().
  template <backend Ex>
  void relate(Ex& ex, call const& c, fields<T const> w, saved const& s, token_pairs const& pairs,
              tensor<T, dyn, dyn> logits) const {
    heads.relate(ex, c.child(1), w.heads, s.trunk.y, s.heads, pairs, logits);
  }

  /// Overwrites `loss` with the mean cross entropy of the parents plus the mean cross entropy of the relations.
  /// Overwrites `d` with the gradient.
  template <backend Ex>
  void loss(Ex& ex, arena& scratch, input const& in, output const& scores, answers const& targets, vec<T> loss,
            output const& d) const {
    expect_extent("dependency_parser", "pairs to learn from", in.pairs.count(), in.graphs.dims.nodes);
    dependency_loss(ex, scratch, in.graphs, scores, targets, loss, d);
  }

  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output const& d,
                fields<T> gradient) const {
    auto const frame = c.scratch->open();
    auto const dy = c.scratch->template make<states>(Trunk::count(in.graphs.dims), width());
    heads.backward(ex, c.child(1), w.heads, in, s.trunk.y, s.heads, in.pairs, vec<T const>(d.arc), d.relation, dy,
                   gradient.heads);
    trunk.backward(ex, c, w.trunk, in, s.trunk, dy, gradient.trunk);
  }

  /// attention_weights() has attention_heads() rows, and attention_terms(n) columns for a sentence of n tokens.
  index_t attention_heads() const
    requires detail::trunk_with_attention<Trunk>
  {
    return trunk.attention_heads();
  }
  index_t attention_terms(index_t n) const
    requires detail::trunk_with_attention<Trunk>
  {
    return trunk.attention_terms(n);
  }
  /// Overwrites `weights` with the attention weights of edge (i, j) of one sentence in layer k.  Call forward() with
  /// keep::everything first.
  template <backend Ex>
    requires detail::trunk_with_attention<Trunk>
  void attention_weights(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, index_t k,
                         index_t graph, index_t i, index_t j, matrix<T> weights) const {
    trunk.attention_weights(ex, c, w.trunk, in, s.trunk, k, graph, i, j, weights);
  }
};

/// A dependency parser with Edge Transformer layers, and heads that read the states of edges.
template <class T, index_t D = dyn, index_t H = dyn, index_t F = dyn, form Form = form::released>
using edge_dependency_parser = dependency_parser<T, edge_trunk<T, D, H, F, Form>, edge_heads<T, D>>;

/// A dependency parser with Transformer layers, and biaffine heads that read the states of tokens.
template <class T, index_t D = dyn, index_t H = dyn, index_t F = dyn>
using biaffine_dependency_parser = dependency_parser<T, token_trunk<T, D, H, F>, biaffine_heads<T, D>>;

}  // namespace triad
