// A head that labels pairs of nodes, nodes and graphs, straight from the states of edges.
// SPDX-License-Identifier: Apache-2.0
//
//   edge((a, b), r) = w_r . y(a, b) + c_r,  P = sigmoid(edge)        for each ordered pair of queried nodes
//   node(a, u)      = v_u . y(a, a) + e_u,  P = sigmoid(node)        for each queried node
//   graph(g)        = s_g . y(k, k) + f_g,  P = softmax(graph)       k: the first slot, or else the first token
//
// The model gives the states y in the order of sentence_graph_batch::pair_edges.
#pragma once

#include "triad/layers/heads/graph_loss.hpp"
#include "triad/layers/linear.hpp"

namespace triad {

template <class T, index_t D = dyn>
struct graph_head {
  using value_type = T;
  using states = tensor<T, dyn, D>;  // (pairs + columns + b, d)
  using output = graph_scores<T>;
  using map = linear<T, D, dyn>;
  static constexpr probability_form probabilities = probability_form::logits;

  [[no_unique_address]] extents<D> shape;
  graph_label_counts labels;

  constexpr index_t width() const { return shape.extent(0); }
  constexpr graph_label_counts const& label_counts() const { return labels; }
  constexpr map to(index_t count) const { return {extents<D, dyn>(width(), count)}; }
  /// The edges whose states the head reads, and their number.
  static vec<index_t const> read(sentence_graph_batch<T> const& in) { return in.pair_edges; }
  static constexpr index_t count(sentence_graph_dims const& dims) { return dims.read_by_pairs(); }
  static constexpr bool has_inner = false;  // the head reads no inner state
  static constexpr index_t inner() { return 0; }

  template <class S>
  struct fields {
    fields_of<map, S> edge, node, graph;
    template <class F>
    constexpr void each(F&& f) {
      f("edge", edge);
      f("node", node);
      f("graph", graph);
    }
  };
  struct saved {};

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(to(labels.edge), place), plan<S>(to(labels.node), place), plan<S>(to(labels.graph), place)};
  }
  saved plan_saved(arena&, sentence_graph_dims const&, keep = keep::everything) const { return {}; }
  output plan_output(arena& place, sentence_graph_dims const& dims) const {
    using logits = tensor<T, dyn, dyn>;
    auto const& z = dims.grid;
    auto const edge = place.make<logits>(z.pairs, labels.edge), node = place.make<logits>(z.columns, labels.node),
               graph = place.make<logits>(z.graphs, labels.graph);
    return {edge, node, graph, place.make<logits>(index_t{0}, labels.edge), place.make<vec<T>>(index_t{0})};
  }

  /// Overwrites the scores.
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, sentence_graph_batch<T> const& in, const_view<states> y,
               saved const&, output const& scores) const {
    each(in, w, scores, [&](index_t first, index_t rows, auto const& from, auto const& to_scores) {
      to(to_scores.extent(1)).forward(ex, c, from, rows_of(y, first, rows), {}, to_scores);
    });
  }
  /// Overwrites dy.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, sentence_graph_batch<T> const& in, const_view<states> y,
                saved const&, output const& d, states dy, fields<T> gradient) const {
    auto& z = in.grid.dims;
    auto const part = [&](index_t first, index_t rows, auto const& from, auto const& dlogits, auto const& sum) {
      auto const to_dy = rows_of(dy, first, rows);
      if (dlogits.extent(1) == 0) return fill(ex, T(0), to_dy);
      to(dlogits.extent(1)).backward(ex, c, from, rows_of(y, first, rows), {}, dlogits, to_dy, sum);
    };
    part(0, z.pairs, w.edge, d.edge, gradient.edge);
    part(z.pairs, z.columns, w.node, d.node, gradient.node);
    part(z.pairs + z.columns, z.graphs, w.graph, d.graph, gradient.graph);
  }

 private:
  template <class W, class F>
  static void each(sentence_graph_batch<T> const& in, W const& w, output const& scores, F const& f) {
    auto const& z = in.grid.dims;
    if (scores.edge.extent(1) > 0) f(index_t{0}, z.pairs, w.edge, scores.edge);
    if (scores.node.extent(1) > 0) f(z.pairs, z.columns, w.node, scores.node);
    if (scores.graph.extent(1) > 0) f(z.pairs + z.columns, z.graphs, w.graph, scores.graph);
  }
};

}  // namespace triad
