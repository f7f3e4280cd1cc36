// Anchors of slots.  A slot stands for a node that no token names.  It takes over the roles of a token, its anchor: in
// "Who directed M0", the slot of the answer may be anchored at "Who".
// SPDX-License-Identifier: Apache-2.0
//
//   score(k, c) = v . y(k, c) + w . y(c, k)                     y (rows, d): states of edges;  k: a slot;  c: a token
//   none(k)     = u . y(k, k) + e
//   S, absent, mix = anchors(score, none, H)                    ops/anchors.hpp;  H: heads of lists, or none
//
//   dy(k, c) = dscore(k, c) v;  dy(c, k) = dscore(k, c) w;  dy(k, k) = dnone(k) u
//   dv += sum of dscore(k, c) y(k, c);  dw += sum of dscore(k, c) y(c, k);  du += sum of dnone(k) y(k, k)
//
// S (cells of slot_grid) are the probabilities of the anchors, and absent (slots) are those of not being in the graph.
// mix (cells of grid) has the weight with which each queried node takes over the roles of each token.
#pragma once

#include "triad/batches/sentence_graph_batch.hpp"
#include "triad/core/sizes.hpp"
#include "triad/layers/linear.hpp"
#include "triad/ops/anchors.hpp"

namespace triad {

template <class T, index_t D = dyn>
struct slot_anchors {
  using value_type = T;
  using states = tensor<T, dyn, D>;  // (2 cells of slot_grid + slots, d): the edges (k, c), (c, k) and (k, k)
  using map = linear<T, D, dyn>;

  [[no_unique_address]] extents<D> shape;

  constexpr index_t width() const { return shape.extent(0); }
  constexpr map score() const { return {extents<D, dyn>(width(), 1), false}; }
  constexpr map none() const { return {extents<D, dyn>(width(), 1)}; }

  template <class S>
  struct fields {
    fields_of<map, S> from_slot, to_slot;  // v, w
    fields_of<map, S> none;                // u, e
    template <class F>
    constexpr void each(F&& f) {
      f("from_slot", from_slot);
      f("to_slot", to_slot);
      f("none", none);
    }
  };
  struct saved {
    vec<T> anchor, absent;  // (cells of slot_grid), (slots)
    vec<T> mix;             // (cells of grid)
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(score(), place), plan<S>(score(), place), plan<S>(none(), place)};
  }
  saved plan_saved(arena& place, sentence_graph_dims const& dims, keep = keep::everything) const {
    auto const make = [&](index_t count) { return place.make<vec<T>>(count); };
    return {make(dims.slot_grid.cells), make(dims.slot_grid.rows), make(dims.grid.cells)};
  }

  /// Overwrites s.  `heads` is H (pairs), or (0) without lists.
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, sentence_graph_batch<T> const& in, const_view<states> y,
               vec<T const> heads, saved const& s) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    index_t const cells = in.slot_grid.dims.cells, slots = in.slot_grid.dims.rows;
    auto const scores = column(scratch, cells), stay_away = column(scratch, slots);
    score().forward(ex, c, w.from_slot, rows_of(y, 0, cells), {}, scores);
    score().forward(ex, c, w.to_slot, rows_of(y, cells, cells), {}, scores, {.residual = as_matrix(read_only(scores))});
    none().forward(ex, c, w.none, rows_of(y, 2 * cells, slots), {}, stay_away);
    anchors(ex, grids(in), vec<T const>(as_vec(scores)), vec<T const>(as_vec(stay_away)), heads, s.anchor, s.absent,
            s.mix);
  }

  /// Overwrites dy and dheads.  `dmix` (cells of grid) is the gradient of mix, and dheads has the size of `heads`.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, sentence_graph_batch<T> const& in, const_view<states> y,
                vec<T const> heads, saved const& s, vec<T const> dmix, vec<T> dheads, states dy,
                fields<T> gradient) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    index_t const cells = in.slot_grid.dims.cells, slots = in.slot_grid.dims.rows;
    auto const dscores = column(scratch, cells), dstay_away = column(scratch, slots);
    anchors_grad(ex, grids(in), vec<T const>(s.anchor), vec<T const>(s.absent), heads, dmix, as_vec(dscores),
                 as_vec(dstay_away), dheads);
    auto const part = [&](map const& to, auto const& from, index_t first, auto const& d, auto const& sum) {
      to.backward(ex, c, from, rows_of(y, first, d.extent(0)), {}, d, rows_of(dy, first, d.extent(0)), sum);
    };
    part(score(), w.from_slot, 0, dscores, gradient.from_slot);
    part(score(), w.to_slot, cells, dscores, gradient.to_slot);
    part(none(), w.none, 2 * cells, dstay_away, gradient.none);
  }

 private:
  static tensor<T, dyn, dyn> column(arena& scratch, index_t rows) {
    return scratch.make<tensor<T, dyn, dyn>>(rows, index_t{1});
  }
  static anchor_grids grids(sentence_graph_batch<T> const& in) {
    return {in.grid, in.slot_grid, in.members, in.queried};
  }
};

}  // namespace triad
