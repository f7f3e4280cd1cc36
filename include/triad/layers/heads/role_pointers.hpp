// Pointers of coordinated nodes.  A queried token may take over the roles of an earlier queried token, as the members
// of a list do: in "M0 , M1 and M2 directed M3", M1 and M2 have the roles of M0.
// SPDX-License-Identifier: Apache-2.0
//
//   z_ab = norm(x(a, b))                                        x (rows, d): states of edges;  a, b: queried nodes
//   score(a, b) = w . relu(W z_ab + c) + e                      pairs of different nodes
//   score(a, a) = v . relu(V z_aa + f) + g
//   L, H = list_pointers(score)                                 L, H (pairs): ops/list_pointers.hpp
//
// This is prior knowledge about coordination: nodes of a list have the same roles, and a list goes on from left to
// right.  Report that a model has it next to the model's figures.
#pragma once

#include "triad/batches/sentence_graph_batch.hpp"
#include "triad/core/sizes.hpp"
#include "triad/layers/layer_norm.hpp"
#include "triad/layers/linear.hpp"
#include "triad/ops/gather.hpp"
#include "triad/ops/list_pointers.hpp"

namespace triad {

template <class T, index_t D = dyn>
struct role_pointers {
  using value_type = T;
  using states = tensor<T, dyn, D>;  // (rows, d)
  using wide = linear<T, D, D>;
  using narrow = linear<T, D, dyn>;

  [[no_unique_address]] extents<D> shape;
  list_pointer_options lists{};

  constexpr index_t width() const { return shape.extent(0); }
  constexpr layer_norm_layer<T, D> norm() const { return {shape}; }
  constexpr wide hidden() const { return {extents<D, D>(width(), width())}; }
  constexpr narrow score() const { return {extents<D, dyn>(width(), 1)}; }

  template <class S>
  struct fields {
    fields_of<layer_norm_layer<T, D>, S> norm;
    fields_of<wide, S> hidden;        // W, c
    fields_of<narrow, S> score;       // w, e
    fields_of<wide, S> self_hidden;   // V, f
    fields_of<narrow, S> self_score;  // v, g
    template <class F>
    constexpr void each(F&& f) {
      f("norm", norm);
      f("hidden", hidden);
      f("score", score);
      f("self_hidden", self_hidden);
      f("self_score", self_score);
    }
  };
  struct saved {
    states x;                                     // (pairs + columns, d): the states of the pairs, then of the nodes
    typename layer_norm_layer<T, D>::saved norm;  // of x
    states z, hidden;                             // (pairs + columns, d) each
    tensor<T, dyn, dyn> powers;                   // (squarings + 1, pairs): L, its powers, and H
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(norm(), place), plan<S>(hidden(), place), plan<S>(score(), place), plan<S>(hidden(), place),
            plan<S>(score(), place)};
  }
  saved plan_saved(arena& place, grid_dims const& dims, keep = keep::everything) const {
    index_t const rows = dims.pairs + dims.columns;
    auto const make = [&] { return place.make<states>(rows, width()); };
    auto const x = make();
    return {x, norm().plan_saved(place, row_dims(rows)), make(), make(),
            place.make<tensor<T, dyn, dyn>>(index_t{lists.squarings} + 1, dims.pairs)};
  }

  /// The pointers L (pairs), and the heads of lists H (pairs).  Call forward() first.
  vec<T> pointers(saved const& s) const { return slice(s.powers, 0); }
  vec<T> heads(saved const& s) const { return slice(s.powers, lists.squarings); }

  /// Overwrites s.  `x` has the states of all edges.
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, sentence_graph_batch<T> const& in, const_view<states> x,
               saved const& s) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    auto const& d = in.grid.dims;
    auto const both = scratch.make<tensor<T, dyn, dyn>>(d.pairs + d.columns, index_t{1});
    auto const scores = scratch.make<tensor<T, dyn, dyn>>(d.pairs, index_t{1});
    gather_rows(ex, x, edges(in), s.x);
    norm().forward(ex, c, w.norm, s.x, s.norm, s.z);
    auto const part = [&](auto const& map, auto const& first, auto const& last, index_t from, index_t count) {
      auto const h = rows_of(s.hidden, from, count);
      hidden().forward(ex, c, first, rows_of(s.z, from, count), {}, h, {.relu = true});
      map.forward(ex, c, last, h, {}, rows_of(both, from, count));
    };
    part(score(), w.hidden, w.score, 0, d.pairs);
    part(score(), w.self_hidden, w.self_score, d.pairs, d.columns);
    gather_rows(ex, both, in.score_row, scores);
    list_pointers(ex, in.grid, in.members, lists, vec<T const>(as_vec(scores)), as_matrix(s.powers));
  }

  /// Adds to dx, the gradient of the states of all edges.  `dheads` and `dpointers` (pairs) are the gradients of H and
  /// of L.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, sentence_graph_batch<T> const& in, saved const& s,
                vec<T const> dheads, vec<T const> dpointers, states dx, fields<T> gradient) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    auto const& d = in.grid.dims;
    index_t const rows = d.pairs + d.columns;
    auto const dboth = scratch.make<tensor<T, dyn, dyn>>(rows, index_t{1});
    auto const dscores = scratch.make<tensor<T, dyn, dyn>>(d.pairs, index_t{1});
    auto const dz = scratch.make<states>(rows, width()), dhidden = scratch.make<states>(rows, width());
    list_pointers_grad(ex, scratch, in.grid, in.members, lists, as_matrix(read_only(s.powers)), dheads, dpointers,
                       as_vec(dscores));
    scatter_rows(ex, c.scratch, dscores, in.score_row, dboth);
    auto const part = [&](auto const& first, auto const& last, index_t from, index_t count, auto first_gradient,
                          auto last_gradient) {
      auto const h = read_only(rows_of(s.hidden, from, count));
      auto const dh = rows_of(dhidden, from, count);
      score().backward(ex, c, last, h, {}, rows_of(dboth, from, count), dh, last_gradient, {.gate = as_matrix(h)});
      hidden().backward(ex, c, first, rows_of(s.z, from, count), {}, dh, rows_of(dz, from, count), first_gradient);
    };
    part(w.hidden, w.score, 0, d.pairs, gradient.hidden, gradient.score);
    part(w.self_hidden, w.self_score, d.pairs, d.columns, gradient.self_hidden, gradient.self_score);
    norm().backward(ex, c, w.norm, s.x, s.norm, dz, dz, gradient.norm);
    scatter_add_rows(ex, c.scratch, dz, edges(in), dx);
  }

 private:
  /// The edges of the pairs of queried nodes, and then those of each queried node to itself.
  static vec<index_t const> edges(sentence_graph_batch<T> const& in) {
    return make_vec(in.pair_edges.data_handle(), in.grid.dims.pairs + in.grid.dims.columns);
  }
};

}  // namespace triad
