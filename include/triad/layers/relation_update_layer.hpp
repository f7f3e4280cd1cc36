// One post-norm layer of a relation-aware Transformer that updates the states of nodes and of edges (RRAT).
// SPDX-License-Identifier: Apache-2.0
//
//   relations = [gk gv] = g w_r' + b_r                                  g (rows, d): states of edges
//   c = attention(x, relations);  y = what relation_layer computes from c and x   x, c, y (nodes, d): states of nodes
//   u(i, j) = left(c(i)) + right(c(j));  t = g + drop(u);  g' = post_norm_block(t)            u, t, g' (rows, d)
//
// For u, the paper concatenates the states of the two nodes and applies one map.  The released program and this layer
// apply one map to the context of each node and add the two results.  If in.wanted lists b edges with their nodes, g'
// has only the rows of these b edges.  If y has no rows, the new states of nodes are not computed.
#pragma once

#include <array>

#include "triad/core/views.hpp"
#include "triad/layers/relation_layer.hpp"
#include "triad/ops/dropout.hpp"
#include "triad/ops/elementwise.hpp"
#include "triad/ops/matmul.hpp"
#include "triad/ops/pair_sum.hpp"
#include "triad/ops/reduce.hpp"

namespace triad {

/// Edges with their two nodes.  The member `wanted` of an input lists the edges for which results are computed.  An
/// empty list means all edges.
struct wanted_edges {
  vec<index_t const> edge{nullptr, 0};  // (b)
  node_pairs ends{};                    // (b)

  constexpr index_t count() const { return edge.extent(0); }
};

template <class T, index_t D>
struct relation_update_input {
  tensor<T const, dyn, D> x;  // (nodes, d); has a gradient
  tensor<T const, dyn, D> g;  // (rows, d); has a gradient
  graph_batch graphs;
  edge_mask mask{};
  wanted_edges wanted{};
};

/// The states of nodes and of edges, or their gradients.
template <class View>
struct relation_states {
  using element_type = typename View::element_type;
  View nodes;  // (nodes, d) or (0, d)
  View edges;  // (rows, d) or (b, d)
};

/// Returns read-only views of the states.
template <class View>
constexpr relation_states<const_view<View>> read_only(relation_states<View> s) {
  return {s.nodes, s.edges};
}
/// Returns the input `in` with the states `s`.
template <class T, index_t D, class View>
constexpr relation_update_input<T, D> with_state(relation_update_input<T, D> in, relation_states<View> s) {
  in.x = s.nodes;
  in.g = s.edges;
  return in;
}
/// Overwrites y.edges with the wanted edges.  Does not change y.nodes.
template <backend Ex, class X, class Y>
void gather_rows(Ex& ex, relation_states<X> x, wanted_edges const& wanted, relation_states<Y> y) {
  gather_rows(ex, x.edges, wanted.edge, y.edges);
}
/// Overwrites dx.edges with the gradient of gather_rows().  Returns dx.edges and dy.nodes: gather_rows() does not
/// change nodes, so their gradient stays the same.
template <backend Ex, class Dy, class Dx>
relation_states<const_view<Dx>> scatter_rows(Ex& ex, scratch_place scratch, relation_states<Dy> dy,
                                             wanted_edges const& wanted, relation_states<Dx> dx) {
  return {dy.nodes, scatter_rows(ex, scratch, dy.edges, wanted.edge, dx.edges)};
}

/// Names for stacked_linear: the maps from states of edges to gk and gv.
struct relation_key_value {
  static constexpr std::array<char const*, 2> list{"relation_key", "relation_value"};
};
/// Names for stacked_linear: the maps from the contexts of the first and the second node of an edge to u.
struct left_right {
  static constexpr std::array<char const*, 2> list{"left", "right"};
};

template <class T, index_t D = dyn, index_t H = dyn, index_t F = dyn>
struct relation_update_layer {
  using input = relation_update_input<T, D>;
  using state = tensor<T, dyn, D>;        // of nodes or of edges
  using output = relation_states<state>;  // of both
  using node_layer = relation_layer<T, D, H, F>;

  node_layer nodes;
  post_norm_block<T, D, F> block;  // feed-forward and norms of the edges
  double dropout = 0;              // the dropout rate of u

  explicit relation_update_layer(relation_layer_options const& o)
      : nodes(o), block(o.width, o.hidden, o.dropout), dropout(o.dropout) {}

  constexpr index_t width() const { return nodes.width(); }
  constexpr stacked_linear<T, relation_key_value, D> maps() const { return {extents<D>(width())}; }
  constexpr stacked_linear<T, left_right, D> ends() const { return {extents<D>(width())}; }

  template <class S>
  struct fields {
    fields_of<stacked_linear<T, relation_key_value, D>, S> maps;
    fields_of<node_layer, S> nodes;
    fields_of<stacked_linear<T, left_right, D>, S> ends;
    fields_of<post_norm_block<T, D, F>, S> edges;
    template <class V>
    constexpr void each(V&& f) {
      maps.each(f);
      nodes.each(f);
      ends.each(f);
      f("edges", edges);
    }
  };
  struct saved {
    tensor<T, dyn, dyn> relations;  // (rows, 2 d)
    typename node_layer::saved nodes;
    state kept_context, kept_g;  // (2 b, d) and (b, d): the wanted rows, or (0, d)
    state t;                     // (rows or b, d)
    typename post_norm_block<T, D, F>::saved block;
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(maps(), place), plan<S>(nodes, place), plan<S>(ends(), place), plan<S>(block, place)};
  }

  output plan_state(arena& place, graph_dims const& dims) const {
    return {place.make<state>(dims.nodes, width()), place.make<state>(dims.rows, width())};
  }
  /// `wanted` is the number of edges for which g' is computed.  0 means all edges.
  saved plan_saved(arena& place, graph_dims dims, keep kept = keep::everything, index_t wanted = 0) const {
    index_t const out = rows_wanted(dims.rows, wanted);
    return {place.make<tensor<T, dyn, dyn>>(dims.rows, 2 * width()),
            nodes.plan_saved(place, dims, kept),
            place.make<state>(2 * wanted, width()),
            place.make<state>(wanted, width()),
            place.make<state>(out, width()),
            block.plan_saved(place, row_dims(out), kept)};
  }

  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output y) const {
    auto const frame = c.scratch->open();
    maps().forward(ex, c, w.maps, in.g, {}, s.relations);
    auto const context = s.nodes.attention.context;
    nodes.attention.attend(ex, c.child(0).child(0), w.nodes.attention.projections, node_input(in, s),
                           s.nodes.attention);
    if (y.nodes.extent(0) != 0) nodes.transform_nodes(ex, c.child(0), w.nodes, context, in.x, s.nodes, y.nodes);
    auto const mask = c.child(1).dropout(dropout);
    index_t const b = in.wanted.count(), d = width();
    if (b == 0) {
      auto const both = c.scratch->template make<tensor<T, dyn, dyn>>(in.graphs.dims.nodes, 2 * d);
      ends().forward(ex, c, w.ends, context, {}, both);
      pair_sum(ex, in.graphs, ends().part(read_only(both), 0), ends().part(read_only(both), 1), mask, as_matrix(in.g),
               as_matrix(s.t));
    } else {
      gather_rows(ex, context, in.wanted.ends, s.kept_context);
      gather_rows(ex, in.g, in.wanted.edge, s.kept_g);
      auto const half = c.scratch->template make<state>(b, d);
      matmul(ex, kept_end(read_only(s.kept_context), 0), transposed(end_weight(w, 0)), half,
             {.bias = row(w.ends.all.bias, 0)});
      matmul(ex, kept_end(read_only(s.kept_context), 1), transposed(end_weight(w, 1)), s.t,
             {.bias = row(w.ends.all.bias, 1), .residual = as_matrix(half)});
      if (mask.active()) triad::dropout(ex, mask, s.t, s.t);
      transform(ex, plus(), s.t, s.kept_g, s.t);
    }
    block.forward(ex, c.child(2), w.edges, s.t, s.block, y.edges);
  }

  /// Overwrites dx.edges.  Overwrites dx.nodes unless dx.nodes is empty.  If dy.nodes has no rows, the gradient of y
  /// counts as zero.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s,
                relation_states<const_view<state>> dy, output dx, fields<T> gradient) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    index_t const n = in.graphs.dims.nodes, rows = in.graphs.dims.rows, b = in.wanted.count(), d = width();
    auto const make = [&](index_t count) { return scratch.make<state>(count, d); };
    auto const context = s.nodes.attention.context;
    auto const mask = c.child(1).dropout(dropout);

    // From the gradient of g' to the gradients of t, of g and of the contexts of both nodes.
    auto const dt = make(dy.edges.extent(0)), d_context = make(n);
    block.backward(ex, c.child(2), w.edges, s.t, s.block, dy.edges, dt, gradient.edges);
    auto d_g = dt;
    if (b == 0) {
      auto const inner = scratch.open();
      auto const both = scratch.make<tensor<T, dyn, dyn>>(n, 2 * d);
      pair_sum_grad(ex, in.graphs, mask, as_matrix(read_only(dt)), ends().part(both, 0), ends().part(both, 1));
      ends().backward(ex, c, w.ends, context, {}, both, d_context, gradient.ends);
    } else {
      d_g = make(rows);
      auto const inner = scratch.open();
      auto const d_u = undropped(ex, mask, read_only(dt), make(b));
      auto const d_kept = make(2 * b);
      for (index_t end = 0; end < 2; ++end) {
        matmul_add(ex, transposed(d_u), kept_end(read_only(s.kept_context), end), end_weight(gradient, end));
        column_sums_add(ex, scratch, d_u, row(gradient.ends.all.bias, end));
        matmul(ex, d_u, end_weight(w, end), kept_end(d_kept, end));
      }
      scatter_rows(ex, c.scratch, d_kept, in.wanted.ends, d_context);
      scatter_rows(ex, c.scratch, dt, in.wanted.edge, d_g);
    }

    // From the gradient of y to the gradients of the context and of x.
    epilogue<T> from_residual;
    auto d_all = d_context;
    if (dy.nodes.extent(0) != 0) {
      auto const d_residual = make(n);
      d_all = make(n);
      nodes.transform_nodes_backward(ex, c.child(0), w.nodes, context, s.nodes, dy.nodes, d_residual, d_all,
                                     gradient.nodes, {.residual = as_matrix(d_context)});
      from_residual.residual = as_matrix(d_residual);
    }

    // From the gradient of the context to the gradients of x and of the relations.  From the gradient of the relations
    // to the gradient of g.
    auto const d_relations = scratch.make<tensor<T, dyn, dyn>>(rows, 2 * d);
    nodes.attention.attend_backward(ex, c.child(0).child(0), w.nodes.attention.projections, node_input(in, s),
                                    s.nodes.attention, d_all, dx.nodes, d_relations, edge_gradients::overwritten,
                                    gradient.nodes.attention.projections, from_residual);
    maps().backward(ex, c, w.maps, in.g, {}, d_relations, dx.edges, gradient.maps, {.residual = as_matrix(d_g)});
  }

 private:
  relation_input<T, D> node_input(input const& in, saved const& s) const {
    return {in.x, s.relations, in.graphs, in.mask};
  }

  /// Returns the contexts of one end of the wanted edges, (b, d).  `end` is 0 for the first node of each edge and 1 for
  /// the second.
  template <class S>
  matrix<S> kept_end(tensor<S, dyn, D> kept, index_t end) const {
    return make_matrix(kept.data_handle() + end * width(), kept.extent(0) / 2, width(), 2 * width());
  }
  template <class Fields>
  auto end_weight(Fields w, index_t end) const {
    return row_block(w.ends.all.weight, end * width(), width());
  }
  template <class S>
  vec<S> row(vec<S> bias, index_t end) const {
    return make_vec(bias.data_handle() + end * width(), width());
  }
};

}  // namespace triad
