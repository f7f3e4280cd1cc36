// Heads that compute dependencies from the states of edges.  Each pair of a child and a parent has a score, and logits
// for its relation.
// SPDX-License-Identifier: Apache-2.0
//
//   arc(i, j) = w . x(i, j) + c,  relation(p, :) = V x(i_p, j_p) + b       x (rows, d), arc (rows), relation (pairs, r)
//   dx(i, j) = darc(i, j) w + sum over the pairs p that are (i, j) of V' drelation(p, :)
//
// i is the child, and j is the parent.  Relations are computed only for the listed pairs, because the logits of all
// pairs would be sum n^2 r numbers.  In training, the listed pairs are the pairs of the target tree.
#pragma once

#include "triad/batches/token_sequences.hpp"
#include "triad/core/sizes.hpp"
#include "triad/layers/linear.hpp"
#include "triad/ops/gather.hpp"

namespace triad {

struct edge_heads_options {
  index_t relations = 0;  // r
};

template <class T, index_t D = dyn>
struct edge_heads {
  using options = edge_heads_options;
  using states = tensor<T, dyn, D>;  // (rows, d)
  using output = vec<T>;             // (rows): scores of arcs
  using map = linear<T, D, dyn>;

  [[no_unique_address]] extents<D> shape;
  index_t relations;

  edge_heads(index_t width, options const& o)
      : shape(extents_of<D>("edge_heads", {"width", width})),
        relations(checked_size("edge_heads", {"relations", o.relations})) {}

  constexpr index_t width() const { return shape.extent(0); }
  constexpr map arc() const { return {extents<D, dyn>(width(), 1)}; }
  constexpr map relation() const { return {extents<D, dyn>(width(), relations)}; }

  template <class S>
  struct fields {
    fields_of<map, S> arc, relation;
    template <class F>
    constexpr void each(F&& f) {
      f("arc", arc);
      f("relation", relation);
    }
  };
  struct saved {};

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(arc(), place), plan<S>(relation(), place)};
  }
  saved plan_saved(arena&, graph_dims const&, keep = keep::everything) const { return {}; }

  /// Overwrites score (rows).
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, token_sequences<T> const&, const_view<states> x, saved const&,
               output score) const {
    arc().forward(ex, c, w.arc, x, {}, as_column(score));
  }
  /// Overwrites logits (pairs, r).  Call forward() first.
  template <backend Ex>
  void relate(Ex& ex, call const& c, fields<T const> w, const_view<states> x, saved const&, token_pairs const& pairs,
              tensor<T, dyn, dyn> logits) const {
    auto const frame = c.scratch->open();
    auto const queried = c.scratch->template make<states>(pairs.count(), width());
    gather_rows(ex, x, pairs.edge, queried);
    relation().forward(ex, c, w.relation, queried, {}, logits);
  }

  /// Overwrites dx.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, token_sequences<T> const&, const_view<states> x, saved const&,
                token_pairs const& pairs, vec<T const> dscore, tensor<T const, dyn, dyn> dlogits, states dx,
                fields<T> gradient) const {
    auto const frame = c.scratch->open();
    auto const queried = c.scratch->template make<states>(pairs.count(), width()),
               d_queried = c.scratch->template make<states>(pairs.count(), width());
    gather_rows(ex, x, pairs.edge, queried);
    relation().backward(ex, c, w.relation, queried, {}, dlogits, d_queried, gradient.relation);
    arc().backward(ex, c, w.arc, x, {}, as_column(dscore), dx, gradient.arc);
    scatter_add_rows(ex, c.scratch, d_queried, pairs.edge, dx);
  }
};

}  // namespace triad
