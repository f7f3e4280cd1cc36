// One layer of a graph attention network.  The mathematics of the attention is in ops/graph_attention.hpp.
// SPDX-License-Identifier: Apache-2.0
//
//   v = x w';  per head: qs = v . query, ks = v . key         x, v (nodes, d); query, key (h, k); qs, ks (nodes, h)
//   c = attention(qs, ks, edge score, v, edge value)          c (nodes, d)
//   t = x + drop(elu(c));  y = norm(t)                        t, y (nodes, d)
//
//   dc = elu'(c) drop'(dt);  per head: dv += dqs query + dks key,  dquery = dqs' v,  dkey = dks' v
//   dx = dv w + dt,  dw = dv' x
//
// elu(c) is the layer of Velickovic et al. 2018.  This layer adds a residual sum and a norm, as the other layers do.
#pragma once

#include "triad/core/sizes.hpp"
#include "triad/core/views.hpp"
#include "triad/layers/layer_norm.hpp"
#include "triad/layers/linear.hpp"
#include "triad/ops/dropout.hpp"
#include "triad/ops/elementwise.hpp"
#include "triad/ops/graph_attention.hpp"
#include "triad/ops/matmul.hpp"

namespace triad {

/// Sizes and rates of a graph attention layer.
struct graph_attention_layer_options {
  index_t width = not_given, heads = not_given;  // d, h; not_given: the size that is given in the type, or one head
  double dropout = 0;                            // the dropout rate of the attention weights and of elu(c)
  double slope = 0.2;                            // the slope of the leaky relu of the scores
};

/// The states of the nodes of a batch of graphs.  Each edge has a label, a score that is added to the attention score,
/// and a value that is added to the value v of the node that is attended to.
template <class T, index_t D, index_t H>
struct graph_attention_input {
  tensor<T const, dyn, D> x;           // (nodes, d); has a gradient
  tensor<T const, dyn, H> edge_score;  // (rows, h); has a gradient
  tensor<T const, dyn, D> edge_value;  // (rows, d); has a gradient
  graph_batch graphs;
  vec<index_t const> label;  // (rows); 0: no edge
};

/// The gradients of edge_score and edge_value.  All layers add to these gradients.
template <class T, index_t D, index_t H>
struct edge_parts_gradient {
  tensor<T, dyn, H> score;  // (rows, h)
  tensor<T, dyn, D> value;  // (rows, d)
  edge_gradients how;
};

template <class T, index_t D = dyn, index_t H = dyn>
struct graph_attention_layer {
  using input = graph_attention_input<T, D, H>;
  using output = tensor<T, dyn, D>;  // (nodes, d)
  using edges_gradient = edge_parts_gradient<T, D, H>;

  static constexpr char const* name = "graph_attention_layer";

  [[no_unique_address]] extents<D, H> shape;  // d, h
  layer_norm_layer<T, D> norm;
  double dropout = 0, slope = 0.2;

  explicit graph_attention_layer(graph_attention_layer_options const& o)
      : shape(width_and_heads<D, H>(name, o.width, o.heads)),
        norm{extents<D>(shape.extent(0))},
        dropout(dropout_rate(name, o.dropout)),
        slope(o.slope) {}

  constexpr index_t width() const { return shape.extent(0); }
  constexpr index_t heads() const { return shape.extent(1); }
  constexpr index_t head_width() const { return width() / heads(); }
  constexpr linear<T, D, D> value() const { return {extents<D, D>(width(), width()), false}; }

  template <class S>
  struct fields {
    fields_of<linear<T, D, D>, S> value;
    tensor<S, dyn, dyn> scores;  // (2 h, k): the query vectors of all heads, then the key vectors
    fields_of<layer_norm_layer<T, D>, S> norm;
    template <class F>
    constexpr void each(F&& f) {
      index_t const h = scores.extent(0) / 2, k = scores.extent(1);
      f("value", value);
      f("query", tensor<S, dyn, dyn>(scores.data_handle(), h, k));
      f("key", tensor<S, dyn, dyn>(scores.data_handle() + h * k, h, k));
      f("norm", norm);
    }
  };
  struct saved {
    output value;                // (nodes, d): v
    tensor<T, dyn, dyn> scores;  // (nodes, 2 h): qs and ks of one head side by side
    vec<T> weights;              // (h rows)
    output context, sum;         // (nodes, d) each: c and t
    typename layer_norm_layer<T, D>::saved norm;
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(value(), place), place.make<tensor<S, dyn, dyn>>(2 * heads(), head_width()), plan<S>(norm, place)};
  }

  output plan_state(arena& place, graph_dims const& dims) const { return place.make<output>(dims.nodes, width()); }
  saved plan_saved(arena& place, graph_dims dims, keep = keep::everything) const {
    return {.value = plan_state(place, dims),
            .scores = place.make<tensor<T, dyn, dyn>>(dims.nodes, 2 * heads()),
            .weights = place.make<vec<T>>(heads() * dims.rows),
            .context = plan_state(place, dims),
            .sum = plan_state(place, dims),
            .norm = norm.plan_saved(place, row_dims(dims.nodes))};
  }

  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output y) const {
    value().forward(ex, c, w.value, in.x, {}, s.value);
    for (index_t head = 0; head < heads(); ++head)
      matmul(ex, of_head(s.value, head), transposed(vectors(w.scores, head)), both_scores(s.scores, head));
    graph_attention(ex, options(c), operands(in, s), in.graphs, in.label, s.weights, as_matrix(s.context));
    transform(ex, elu(), s.context, s.sum);
    if (auto const mask = c.child(1).dropout(dropout); mask.active()) triad::dropout(ex, mask, s.sum, s.sum);
    transform(ex, plus(), s.sum, in.x, s.sum);
    norm.forward(ex, c, w.norm, s.sum, s.norm, y);
  }

  /// Overwrites dx, unless dx is empty.  edges.how says whether the gradients of edges are overwritten or added to.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, const_view<output> dy,
                output dx, fields<T> gradient, edges_gradient edges) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    auto const d_sum = plan_state(scratch, in.graphs.dims), d_context = plan_state(scratch, in.graphs.dims),
               d_value = plan_state(scratch, in.graphs.dims);
    auto const d_scores = scratch.make<tensor<T, dyn, dyn>>(in.graphs.dims.nodes, 2 * heads());
    auto const d =
        norm.backward(ex, c, w.norm, s.sum, s.norm, dy, d_sum, gradient.norm, c.child(1).dropout(dropout), d_context);
    transform(ex, elu_grad(), s.context, d, d_context);
    graph_attention_grad(
        ex, options(c), operands(in, s), in.graphs, in.label, vec<T const>(s.weights), as_matrix(read_only(s.context)),
        as_matrix(read_only(d_context)),
        {of_queries(d_scores), of_keys(d_scores), as_matrix(edges.score), as_matrix(d_value), as_matrix(edges.value)},
        edges.how);
    for (index_t head = 0; head < heads(); ++head) {
      matmul_add(ex, both_scores(d_scores, head), vectors(w.scores, head), of_head(d_value, head));
      matmul_add(ex, transposed(both_scores(d_scores, head)), of_head(s.value, head), vectors(gradient.scores, head));
    }
    value().backward(ex, c, w.value, in.x, {}, d_value, dx, gradient.value, {.residual = as_matrix(d_sum)});
  }

 private:
  graph_attention_options options(call const& c) const { return {heads(), slope, c.child(0).dropout(dropout)}; }
  graph_attention_operands<T const> operands(input const& in, saved const& s) const {
    auto const scores = read_only(s.scores);
    return {of_queries(scores), of_keys(scores), as_matrix(in.edge_score), as_matrix(read_only(s.value)),
            as_matrix(in.edge_value)};
  }
  /// Returns the columns of one head: (nodes, k).
  template <class View>
  auto of_head(View v, index_t head) const {
    return column_block(v, head * head_width(), head_width());
  }
  /// Returns the query vector and the key vector of one head: (2, k).
  template <class S>
  matrix<S> vectors(tensor<S, dyn, dyn> scores, index_t head) const {
    return make_matrix(scores.data_handle() + head * head_width(), 2, head_width(), width());
  }
  /// Returns qs and ks of one head: (nodes, 2).
  template <class S>
  matrix<S> both_scores(tensor<S, dyn, dyn> scores, index_t head) const {
    return column_block(scores, 2 * head, 2);
  }
  /// of_queries() returns qs of all heads, and of_keys() returns ks of all heads: (nodes, h) each.
  template <class S>
  matrix<S> of_queries(tensor<S, dyn, dyn> scores) const {
    return make_matrix(scores.data_handle(), scores.extent(0), heads(), 2 * heads(), 2);
  }
  template <class S>
  matrix<S> of_keys(tensor<S, dyn, dyn> scores) const {
    return make_matrix(scores.data_handle() + 1, scores.extent(0), heads(), 2 * heads(), 2);
  }
};

}  // namespace triad
