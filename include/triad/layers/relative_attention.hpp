// Self-attention of the nodes of a graph with its projections.  Each ordered pair of nodes has a relation number, such
// as a clipped relative position.  A table has a vector for the key and a vector for the value of each relation.
// self_attention has only positions in a sequence.  Here a pair may also have a relation that is no position, such as
// that of a token and a slot.
// SPDX-License-Identifier: Apache-2.0
//
//   [q k v] = x w' + b                                                  x (nodes, d); one matrix product
//   [gk gv](i, j) = relations(r(i, j), :)                               relations (relations, 2 d)
//   y = relation_attention(q, k, v, gk, gv) w_o' + b_o                  y (nodes, d)
//   drelations(r(i, j), :) += [dgk dgv](i, j)
//
// ops/relation_attention.hpp has the mathematics of the attention.  The vectors of the pairs are scratch memory, and
// the backward pass looks them up again.
#pragma once

#include "triad/layers/relation_attention.hpp"

namespace triad {

/// The states of the nodes of a batch of graphs, and the relation numbers of all ordered pairs of nodes.
template <class T, index_t D>
struct relative_input {
  tensor<T const, dyn, D> x;  // (nodes, d); has a gradient
  graph_batch graphs;
  vec<index_t const> relation;  // (rows)
};

/// The sizes of a batch for layers whose rows are nodes, and which also look at all ordered pairs of nodes.  Converts
/// from graph_dims, because repeat plans its layers with the sizes of the batch.
struct node_pair_dims : row_dims {
  index_t pairs = 0;
  constexpr node_pair_dims(graph_dims const& g) : row_dims(g.nodes), pairs(g.rows) {}
};

template <class T, index_t D = dyn, index_t H = dyn>
struct relative_attention {
  using input = relative_input<T, D>;
  using output = tensor<T, dyn, D>;  // (nodes, d)
  using ends_with_product = relative_attention;
  using planned_with = node_pair_dims;
  using attention_type = relation_attention_layer<T, D, H>;
  using pair_vectors = tensor<T, dyn, dyn>;  // (pairs, 2 d)

  attention_type attention;
  index_t relations = 0;  // the number of rows of the table; every relation number is below `relations`

  constexpr index_t width() const { return attention.width(); }
  constexpr index_t heads() const { return attention.heads(); }
  constexpr linear<T, D, D> mixer() const { return {extents<D, D>(width(), width()), true}; }

  template <class S>
  struct fields {
    fields_of<attention_type, S> projections;
    fields_of<linear<T, D, D>, S> output;
    tensor<S, dyn, dyn> relations;  // (relations, 2 d)
    template <class F>
    constexpr void each(F&& f) {
      projections.each(f);
      f("output", output);
      f("relations", relations);
    }
  };
  using saved = typename attention_type::saved;

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(attention, place), plan<S>(mixer(), place),
            place.make<tensor<S, dyn, dyn>>(relations, 2 * width())};
  }
  saved plan_saved(arena& place, node_pair_dims const& dims, keep kept = keep::everything) const {
    graph_dims of_attention;
    of_attention.nodes = dims.rows;
    of_attention.rows = dims.pairs;
    return attention.plan_saved(place, of_attention, kept);
  }

  /// Overwrites y, then applies `after` to y.
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output y,
               epilogue<T> const& after = {}) const {
    auto const frame = c.scratch->open();
    attention.attend(ex, c.child(0), w.projections, with_vectors(ex, c, w, in), s);
    mixer().forward(ex, c, w.output, s.context, {}, y, after);
  }

  /// Overwrites dx, then applies `after` to dx.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, const_view<output> dy,
                output dx, fields<T> gradient, epilogue<T> const& after = {}) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    auto const d_context = scratch.make<output>(in.x.extent(0), width());
    auto const d_vectors = scratch.make<pair_vectors>(in.graphs.dims.rows, 2 * width());
    mixer().backward(ex, c, w.output, s.context, {}, dy, d_context, gradient.output);
    attention.attend_backward(ex, c.child(0), w.projections, with_vectors(ex, c, w, in), s, d_context, dx, d_vectors,
                              edge_gradients::overwritten, gradient.projections, after);
    scatter_add_rows(ex, c.scratch, d_vectors, in.relation, gradient.relations);
  }

 private:
  /// Returns the input of the attention.  The vectors of the pairs are in the scratch memory of the caller.
  template <class Ex>
  relation_input<T, D> with_vectors(Ex& ex, call const& c, fields<T const> const& w, input const& in) const {
    auto const vectors = c.scratch->template make<pair_vectors>(in.graphs.dims.rows, 2 * width());
    gather_rows(ex, w.relations, in.relation, vectors);
    return {in.x, vectors, in.graphs};
  }
};

}  // namespace triad
