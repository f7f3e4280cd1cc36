// Initial states of the edges between tokens of a source, or between all tokens of a source and its target.  States of
// edges inside the source may be given.
// SPDX-License-Identifier: Apache-2.0
//
// The formulas are equation 10 of the Edge Transformer.  The decoder of the Edge Transformer uses the equation too.  y
// (known, d) are the given states, and x is (rows, d):
//   relational   x(i, j) = a(r(i, j)) + [i = j] e(i)          r: relative_edges;  e(i) = table(token(i), :),
//                                                             plus `begin` at the first node
//   positional   x(i, j) = (wl u(i) + bl) + (wr u(j) + br)    u = drop(e + p), computed by sequence_tokens
//   both         x(i, j) = y(i, j) if the state of the edge is given ("known")
//
//   dy(i, j) = dx(i, j) if the edge is known; for edges that are not known:
//   relational   da(r(i, j), :) += dx(i, j);  dtable(token(i), :) += dx(i, i);  dbegin += dx(first, first)
//   positional   the gradients of two linear maps, from the sums of dx over j and over i
//
// The initial states of all edges are gathered from one table.  This table has the vectors of relative positions (or
// the positional sums), followed by the known states.
#pragma once

#include "triad/layers/fixed_row.hpp"
#include "triad/layers/inputs/sequence_tokens.hpp"
#include "triad/layers/linear.hpp"
#include "triad/ops/elementwise.hpp"
#include "triad/ops/gather.hpp"
#include "triad/ops/pair_sum.hpp"

namespace triad {

template <class T, index_t D>
struct pair_edges_input {
  tensor<T const, dyn, D> table;  // (tokens, d): the vectors of tokens; has a gradient
  tensor<T const, dyn, D> known;  // (known, d): y; has a gradient; or (0, d)
  /// nodes.token and nodes.self: with relational encoding, both list only the nodes whose edge (i, i) is not known.
  /// With positional encoding, token lists all nodes, and self is not read.  nodes.relation (rows): the table row of
  /// each edge.  With relational encoding, relative_edges computes the rows.  With positional encoding, the row is the
  /// edge's row in x.  All known edges share one row: the first row after the rows of edges that are not known.
  token_sequences<T> nodes;
  vec<index_t const> origin{nullptr, 0};     // (rows) as nodes.relation, except that known edge k has the row of its
                                             // own state, k rows further; (0): no edge is known
  vec<index_t const> known_row{nullptr, 0};  // (known) the row in x of each known edge
};

template <class T, index_t D = dyn>
struct pair_edges {
  using input = pair_edges_input<T, D>;
  using output = tensor<T, dyn, D>;  // (rows, d)

  sequence_encoding encoding = sequence_encoding::relational;
  relative_edges relative{};
  [[no_unique_address]] extents<D> shape;
  double dropout = 0;        // the dropout rate of e + p
  index_t fixed_token = -1;  // the token whose vector is not learned; negative: none

  constexpr index_t width() const { return shape.extent(0); }
  constexpr bool relational() const { return encoding == sequence_encoding::relational; }
  constexpr sequence_tokens<T, D> words(index_t tokens) const { return {tokens, shape, dropout}; }
  /// The two maps, for the first and the second token of an edge.  With relational encoding, the maps have no columns.
  using end_map = linear<T, dyn, dyn>;
  constexpr end_map map() const { return {extents<dyn, dyn>(relational() ? 0 : width(), relational() ? 0 : width())}; }

  template <class S>
  struct fields {
    tensor<S, dyn, D> relations;        // (relations, d), or (0, d) if positional
    tensor<S, dyn, D> begin;            // (1, d), or (0, d) if positional
    fields_of<end_map, S> left, right;  // empty if relational
    template <class F>
    constexpr void each(F&& f) {
      f("relations", relations);
      f("begin", begin);
      f("left", left);
      f("right", right);
    }
  };
  struct saved {
    output u;  // (nodes, d), or (0, d) if relational
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    TRIAD_EXPECTS(encoding != sequence_encoding::relational_ends,
                  "pair_edges: the encoding is relational_ends, expected relational or positional");
    auto const table = [&](index_t rows) { return place.make<tensor<S, dyn, D>>(relational() ? rows : 0, width()); };
    return {table(relative.relations()), table(1), plan<S>(map(), place), plan<S>(map(), place)};
  }
  saved plan_saved(arena& place, graph_dims const& dims, keep = keep::everything) const {
    return {place.make<output>(relational() ? 0 : dims.nodes, width())};
  }

  /// Overwrites the first relative.count() rows of the table.  Afterwards these rows have the initial states of
  /// relational edges without the term e.
  template <backend Ex>
  void place_vectors(Ex& ex, fields<T const> w, output table) const {
    auto const to_self = relative.within(0, 0);
    transform(ex, unchanged{}, w.relations, rows_of(table, 0, relative.relations()));
    transform(ex, plus{}, rows_of(w.relations, to_self, 1), w.begin, rows_of(table, relative.begin(), 1));
  }

  /// Overwrites x.
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output x) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    auto const state = [&](index_t rows) { return scratch.make<output>(rows, width()); };
    index_t const rows = in.nodes.graphs.dims.rows, nodes = in.nodes.graphs.dims.nodes, known = in.known.extent(0),
                  first = position_count(in);
    bool const direct = !relational() && known == 0;  // then x consists of the sums, and no table is needed
    auto const table = direct ? x : state(first + known);
    if (relational()) {
      place_vectors(ex, w, table);
    } else {
      auto const left = state(nodes), right = state(nodes), sums = direct ? x : rows_of(table, 0, rows);
      words(in.table.extent(0)).forward(ex, c, {in.table}, in.nodes, {}, s.u);
      map().forward(ex, c, w.left, s.u, {}, left);
      map().forward(ex, c, w.right, s.u, {}, right);
      pair_sum(ex, in.nodes.graphs, matrix<T const>(as_matrix(left)), matrix<T const>(as_matrix(right)), dropout_mask{},
               no_matrix<T const>(), as_matrix(sums));
    }
    if (direct) return;
    if (known > 0) transform(ex, unchanged{}, in.known, rows_of(table, first, known));
    gather_rows(ex, table, known > 0 ? in.origin : in.nodes.relation, x);
    if (!relational()) return;
    auto const e = state(in.nodes.token.extent(0));
    gather_rows(ex, in.table, in.nodes.token, e);
    scatter_add_rows(ex, c.scratch, e, in.nodes.self, x);
  }

  /// Overwrites d_known.  Adds to d_table (tokens, d) and to the gradient.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, const_view<output> dx,
                output d_known, output d_table, fields<T> gradient) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    auto const state = [&](index_t rows) { return scratch.make<output>(rows, width()); };
    index_t const rows = in.nodes.graphs.dims.rows, nodes = in.nodes.graphs.dims.nodes, known = in.known.extent(0);
    if (known > 0) gather_rows(ex, dx, in.known_row, d_known);
    if (relational()) {
      auto const d_rows = state(relative.count() + 1);  // the last row collects all known edges
      fill(ex, T(0), d_rows);
      scatter_add_rows(ex, c.scratch, dx, in.nodes.relation, d_rows);
      auto const d_first = rows_of(d_rows, relative.begin(), 1),
                 d_to_self = rows_of(gradient.relations, relative.within(0, 0), 1);
      transform(ex, plus{}, gradient.relations, rows_of(d_rows, 0, relative.relations()), gradient.relations);
      transform(ex, plus{}, d_to_self, d_first, d_to_self);
      transform(ex, plus{}, gradient.begin, d_first, gradient.begin);
      auto const de = state(in.nodes.token.extent(0));
      gather_rows(ex, dx, in.nodes.self, de);
      add_but_row(ex, scratch, d_table, fixed_token,
                  [&] { scatter_add_rows(ex, c.scratch, de, in.nodes.token, d_table); });
      return;
    }
    auto d_sums = dx;
    if (known > 0) {  // the gradients of known edges do not count here: their rows become zero
      auto const all = state(rows + 1), rest = state(rows);
      transform(ex, unchanged{}, dx, rows_of(all, 0, rows));
      fill(ex, T(0), rows_of(all, rows, 1));
      gather_rows(ex, all, in.nodes.relation, rest);
      d_sums = rest;
    }
    auto const left = state(nodes), right = state(nodes), du = state(nodes);
    pair_sum_grad(ex, in.nodes.graphs, dropout_mask{}, matrix<T const>(as_matrix(d_sums)), as_matrix(left),
                  as_matrix(right));
    map().backward(ex, c, w.left, s.u, {}, left, du, gradient.left);
    map().backward(ex, c, w.right, s.u, {}, right, du, gradient.right, {.residual = as_matrix(du)});
    add_but_row(ex, scratch, d_table, fixed_token,
                [&] { words(in.table.extent(0)).backward(ex, c, {in.table}, in.nodes, {}, du, {d_table}); });
  }

 private:
  /// Returns the number of table rows before the known states.
  index_t position_count(input const& in) const { return relational() ? relative.count() : in.nodes.graphs.dims.rows; }
};

}  // namespace triad
