// Models that map a sentence to a labelled graph of its tokens and of slots.  A trunk computes states of all ordered
// pairs, and a head labels the pairs, the nodes and the graph.
// SPDX-License-Identifier: Apache-2.0
//
//   x = trunk(tokens and slots)                          (rows, d)     models/sentence_graph_trunks.hpp
//   y = norm(the rows of x that the head reads);  scores = head(y)
//
//                                      trunk              labels
//   edge_sentence_to_graph             Edge Transformer   straight from the states     layers/heads/graph_head.hpp
//   predicate_sentence_to_graph        Edge Transformer   through predicates           layers/heads/predicate_head.hpp
//   plain_edge_sentence_to_graph       Transformer        straight from the states
//   plain_predicate_sentence_to_graph  Transformer        through predicates
//
// The plain Transformer is a baseline of the Edge Transformer.  A head of your own has the members of graph_head.
#pragma once

#include <string>
#include <utility>

#include "triad/batches/sentence_graph_batch.hpp"
#include "triad/layers/heads/graph_head.hpp"
#include "triad/layers/heads/predicate_head.hpp"
#include "triad/models/sentence_graph_trunks.hpp"

namespace triad {

template <class T, class Head, class Trunk = edge_graph_trunk<T>>
struct sentence_to_graph {
  using value_type = T;
  using input = sentence_graph_batch<T>;
  using output = graph_scores<T>;
  using answers = graph_answers<T>;
  using planned_with = sentence_graph_dims;
  using states = typename Trunk::states;
  using norm_type = typename Trunk::norm_type;
  static constexpr probability_form probabilities = Head::probabilities;
  static constexpr bool has_inner = Head::has_inner;  // whether the head can read the state after an inner layer

  Trunk trunk;
  norm_type norm;
  Head head;

  /// `head` is made with the width of the layers.
  sentence_to_graph(typename Trunk::options const& z, Head h) : trunk(z), norm{trunk.shape()}, head(std::move(h)) {
    TRIAD_EXPECTS(head.width() == width(), "sentence_to_graph: the head has the width " + std::to_string(head.width()) +
                                               ", expected " + std::to_string(width()) + ", the width of the layers");
    trunk.expect_inner(head.inner());
  }

  constexpr index_t width() const { return trunk.width(); }

  template <class S>
  struct fields {
    fields_of<Trunk, S> trunk;
    fields_of<norm_type, S> norm;
    fields_of<Head, S> head;
    template <class V>
    void each(V&& f) {
      trunk.each(f);
      f("norm", norm);
      f("head", head);
    }
  };
  struct saved {
    typename Trunk::saved trunk;
    states read;  // (read, d): the rows of x that the head reads
    typename norm_type::saved norm;
    states y;  // (read, d)
    typename Head::saved head;
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(trunk, place), plan<S>(norm, place), plan<S>(head, place)};
  }
  saved plan_saved(arena& place, sentence_graph_dims const& dims, keep kept = keep::everything) const {
    index_t const read = head.count(dims);
    auto const state = [&] { return place.make<states>(read, width()); };
    return {trunk.plan_saved(place, dims.graphs, kept, read), state(), norm.plan_saved(place, row_dims(read)), state(),
            head.plan_saved(place, dims, kept)};
  }
  output plan_output(arena& place, sentence_graph_dims const& dims) const { return head.plan_output(place, dims); }
  input measured_input(sentence_graph_dims const& dims) const { return input::measured(dims); }
  answers measured_answers(sentence_graph_dims const& dims) const {
    return answers::measured(dims.grid, head.label_counts());
  }

  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output const& scores) const {
    trunk.forward(ex, c, w.trunk, in, head.read(in), s.trunk, s.read, head.inner(), [&](const_view<states> x) {
      if constexpr (has_inner) head.point(ex, c.child(1), w.head, in, x, s.head);
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
    auto const dy = scratch.make<states>(read, width());
    auto const back = [&](auto const& add) {
      norm.backward(ex, c, w.norm, s.read, s.norm, dy, dy, gradient.norm);
      trunk.backward(ex, c, w.trunk, in, head.read(in), s.trunk, dy, gradient.trunk, head.inner(), add);
    };
    if constexpr (has_inner) {
      auto const dheads = scratch.make<vec<T>>(head.inner() > 0 ? in.grid.dims.pairs : 0);
      head.backward(ex, c.child(1), w.head, in, s.y, s.head, d, dy, dheads, gradient.head);
      back([&](states dx) { head.add_inner(ex, c.child(1), w.head, in, s.head, d, dheads, dx, gradient.head); });
    } else {
      head.backward(ex, c.child(1), w.head, in, s.y, s.head, d, dy, gradient.head);
      back([](states) {});
    }
  }

  /// attention_weights() has attention_heads() rows, and attention_terms(n) columns for n tokens and slots.
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
    trunk.attention_weights(ex, c, w.trunk, in, head.read(in), s.trunk, k, graph, i, j, weights);
  }
};

/// The Edge Transformer with labels straight from the states of pairs.
template <class T, index_t D = dyn, index_t H = dyn, index_t F = dyn, form Form = form::pre_norm>
using edge_sentence_to_graph = sentence_to_graph<T, graph_head<T, D>, edge_graph_trunk<T, D, H, F, Form>>;

/// The Edge Transformer with labels through predicates and their roles.
template <class T, index_t D = dyn, index_t H = dyn, index_t F = dyn, form Form = form::pre_norm>
using predicate_sentence_to_graph = sentence_to_graph<T, predicate_head<T, D>, edge_graph_trunk<T, D, H, F, Form>>;

/// The plain Transformer with labels straight from the states of pairs.
template <class T, index_t D = dyn, index_t H = dyn, index_t F = dyn>
using plain_edge_sentence_to_graph = sentence_to_graph<T, graph_head<T, D>, token_graph_trunk<T, D, H, F>>;

/// The plain Transformer with labels through predicates and their roles.
template <class T, index_t D = dyn, index_t H = dyn, index_t F = dyn>
using plain_predicate_sentence_to_graph = sentence_to_graph<T, predicate_head<T, D>, token_graph_trunk<T, D, H, F>>;

}  // namespace triad
