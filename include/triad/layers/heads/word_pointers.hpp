// Pointers of coordinated nodes, from the words before them.  A queried token may take over the roles of the queried
// token before it, as the members of a list do: in "M0 , M1 and M2 directed M3", M1 and M2 have the roles of M0.
// SPDX-License-Identifier: Apache-2.0
//
//   u(a) = [E(w(p - 3)); E(w(p - 2)); E(w(p - 1))]              p: the position of node a;  w(i): the word at i
//   score(a, a) = v . relu(V u(a) + f) + g                      score(a, b) = 0 for b < a
//   L, H = list_pointers(score)                                 L, H (pairs): ops/list_pointers.hpp
//
// E (words + 1, d) is a table of its own.  Its last row stands for a place before the first word.
//
// This is prior knowledge about coordination: nodes of a list have the same roles, a list goes on from left to right,
// and the three words before a node tell whether the node continues a list.  layers/heads/role_pointers.hpp does not
// assume the last point: it reads states that depend on the whole sentence.  So it can learn that lists of some lengths
// or in some places are none, if the training set has no such lists.  Report that a model has such pointers next to the
// model's figures.
#pragma once

#include "triad/batches/sentence_graph_batch.hpp"
#include "triad/core/sizes.hpp"
#include "triad/layers/embedding.hpp"
#include "triad/layers/linear.hpp"
#include "triad/ops/list_pointers.hpp"

namespace triad {

/// The list_pointer_options::distance with which a node points, in effect, only to itself and to the queried token
/// before it.
inline constexpr double distance_to_nearest = 10;

template <class T, index_t D = dyn>
struct word_pointers {
  using value_type = T;
  using states = tensor<T, dyn, D>;
  using table_type = embedding<T, dyn, D>;
  static constexpr index_t near = words_before_node;
  static constexpr index_t Near = D == dyn ? dyn : near * D;
  using wide = linear<T, Near, D>;
  using narrow = linear<T, D, dyn>;

  [[no_unique_address]] extents<D> shape;
  index_t words = 0;
  list_pointer_options lists{};

  constexpr index_t width() const { return shape.extent(0); }
  constexpr table_type table() const { return {extents<dyn, D>(words + 1, width())}; }
  constexpr wide hidden() const { return {extents<Near, D>(near * width(), width())}; }
  constexpr narrow score() const { return {extents<D, dyn>(width(), 1)}; }

  template <class S>
  struct fields {
    fields_of<table_type, S> words;   // E
    fields_of<wide, S> self_hidden;   // V, f
    fields_of<narrow, S> self_score;  // v, g
    template <class F>
    constexpr void each(F&& f) {
      f("words", words.table);
      f("self_hidden", self_hidden);
      f("self_score", self_score);
    }
  };
  struct saved {
    states before;               // (3 columns, d): the rows of E
    states hidden;               // (columns, d)
    tensor<T, dyn, dyn> powers;  // (squarings + 1, pairs): L, its powers, and H
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(table(), place), plan<S>(hidden(), place), plan<S>(score(), place)};
  }
  saved plan_saved(arena& place, grid_dims const& dims, keep = keep::everything) const {
    return {place.make<states>(near * dims.columns, width()), place.make<states>(dims.columns, width()),
            place.make<tensor<T, dyn, dyn>>(index_t{lists.squarings} + 1, dims.pairs)};
  }

  /// The pointers L (pairs), and the heads of lists H (pairs).  Call forward() first.
  vec<T> pointers(saved const& s) const { return slice(s.powers, 0); }
  vec<T> heads(saved const& s) const { return slice(s.powers, lists.squarings); }

  /// Overwrites s.
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, sentence_graph_batch<T> const& in, saved const& s) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    auto const& d = in.grid.dims;
    auto const both = scratch.make<tensor<T, dyn, dyn>>(d.pairs + d.columns, index_t{1});
    auto const scores = scratch.make<tensor<T, dyn, dyn>>(d.pairs, index_t{1});
    table().forward(ex, c, w.words, in.before, {}, s.before);
    hidden().forward(ex, c, w.self_hidden, joined(read_only(s.before)), {}, s.hidden, {.relu = true});
    fill(ex, T(0), rows_of(both, 0, d.pairs));
    score().forward(ex, c, w.self_score, s.hidden, {}, rows_of(both, d.pairs, d.columns));
    gather_rows(ex, both, in.score_row, scores);
    list_pointers(ex, in.grid, in.members, lists, vec<T const>(as_vec(scores)), as_matrix(s.powers));
  }

  /// Adds to `gradient`.  `dheads` and `dpointers` (pairs) are the gradients of H and of L.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, sentence_graph_batch<T> const& in, saved const& s,
                vec<T const> dheads, vec<T const> dpointers, fields<T> gradient) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    auto const& d = in.grid.dims;
    auto const dboth = scratch.make<tensor<T, dyn, dyn>>(d.pairs + d.columns, index_t{1});
    auto const dscores = scratch.make<tensor<T, dyn, dyn>>(d.pairs, index_t{1});
    auto const dbefore = scratch.make<states>(near * d.columns, width()),
               dhidden = scratch.make<states>(d.columns, width());
    list_pointers_grad(ex, scratch, in.grid, in.members, lists, as_matrix(read_only(s.powers)), dheads, dpointers,
                       as_vec(dscores));
    scatter_rows(ex, c.scratch, dscores, in.score_row, dboth);
    auto const h = read_only(s.hidden);
    score().backward(ex, c, w.self_score, h, {}, rows_of(dboth, d.pairs, d.columns), dhidden, gradient.self_score,
                     {.gate = as_matrix(h)});
    hidden().backward(ex, c, w.self_hidden, joined(read_only(s.before)), {}, dhidden, joined(dbefore),
                      gradient.self_hidden);
    table().backward(ex, c, w.words, in.before, {}, dbefore, gradient.words);
  }

 private:
  /// The vectors of the words before each node, one after another: (columns, 3 d).
  template <class View>
  static auto joined(View const& rows) {
    return reshape<Near>(rows, rows.extent(0) / near, near * rows.extent(1));
  }
};

}  // namespace triad
