// Initial states of the edges between the tokens of a sentence.
// SPDX-License-Identifier: Apache-2.0
//
// The formulas are equation 10 of the Edge Transformer:
//   relational   x(i, j) = a(r(i, j)) + [i = j] e(i)          r: j - i, clipped;  e(i) = table(token(i), :)
//   positional   x(i, j) = (wl u(i) + bl) + (wr u(j) + br)    u = drop(e + p), computed by sequence_tokens
//
//   relational   da(r(i, j), :) += dx(i, j);  dtable(token(i), :) += dx(i, i)
//   positional   the gradients of two linear maps, from the sums of dx over j and over i
#pragma once

#include "triad/layers/inputs/sequence_tokens.hpp"
#include "triad/layers/linear.hpp"
#include "triad/ops/gather.hpp"
#include "triad/ops/pair_sum.hpp"

namespace triad {

template <class T, index_t D = dyn>
struct sequence_edges {
  using input = token_sequences<T>;
  using output = tensor<T, dyn, D>;  // (rows, d)

  sequence_encoding encoding = sequence_encoding::relational;
  index_t tokens = 0, relations = 0;  // the numbers of rows of the tables; relations >= 2 reach + 1
  [[no_unique_address]] extents<D> shape;
  double dropout = 0;        // the dropout rate of e + p
  index_t fixed_token = -1;  // the token whose vector is not learned; negative: none

  constexpr index_t width() const { return shape.extent(0); }
  constexpr bool relational() const { return encoding == sequence_encoding::relational; }
  constexpr sequence_tokens<T, D> words() const { return {tokens, shape, relational() ? 0 : dropout, fixed_token}; }
  /// The two maps, for the first and the second token of an edge.  With relational encoding, the maps have no columns.
  using end_map = linear<T, dyn, dyn>;
  constexpr end_map map() const { return {extents<dyn, dyn>(relational() ? 0 : width(), relational() ? 0 : width())}; }

  template <class S>
  struct fields {
    tensor<S, dyn, D> tokens;           // (tokens, d)
    tensor<S, dyn, D> relations;        // (relations, d), or (0, d)
    fields_of<end_map, S> left, right;  // empty if relational
    template <class F>
    constexpr void each(F&& f) {
      f("tokens", tokens);
      f("relations", relations);
      f("left", left);
      f("right", right);
    }
  };
  struct saved {
    tensor<T, dyn, D> u;  // (nodes, d), or (0, d) if relational
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {place.make<tensor<S, dyn, D>>(tokens, width()),
            place.make<tensor<S, dyn, D>>(relational() ? relations : 0, width()), plan<S>(map(), place),
            plan<S>(map(), place)};
  }
  saved plan_saved(arena& place, graph_dims const& dims, keep = keep::everything) const {
    return {place.make<tensor<T, dyn, D>>(relational() ? 0 : dims.nodes, width())};
  }

  /// Overwrites x.
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output x) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    index_t const nodes = in.graphs.dims.nodes;
    auto const state = [&] { return scratch.make<output>(nodes, width()); };
    if (relational()) {
      auto const e = state();
      gather_rows(ex, w.relations, in.relation, x);
      gather_rows(ex, w.tokens, in.token, e);
      scatter_add_rows(ex, c.scratch, e, in.self, x);
      return;
    }
    auto const left = state(), right = state();
    words().forward(ex, c, {w.tokens}, in, {}, s.u);
    map().forward(ex, c, w.left, s.u, {}, left);
    map().forward(ex, c, w.right, s.u, {}, right);
    pair_sum(ex, in.graphs, matrix<T const>(as_matrix(left)), matrix<T const>(as_matrix(right)), dropout_mask{},
             no_matrix<T const>(), as_matrix(x));
  }

  /// Adds to the gradients of the tables and maps.  The input has no gradient.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, const_view<output> dx,
                fields<T> gradient) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    index_t const nodes = in.graphs.dims.nodes;
    auto const state = [&] { return scratch.make<output>(nodes, width()); };
    auto const de = state();
    if (relational()) {
      scatter_add_rows(ex, c.scratch, dx, in.relation, gradient.relations);
      gather_rows(ex, dx, in.self, de);
    } else {
      auto const left = state(), right = state();
      pair_sum_grad(ex, in.graphs, dropout_mask{}, matrix<T const>(as_matrix(dx)), as_matrix(left), as_matrix(right));
      map().backward(ex, c, w.left, s.u, {}, left, de, gradient.left);
      map().backward(ex, c, w.right, s.u, {}, right, de, gradient.right, {.residual = as_matrix(de)});
    }
    words().backward(ex, c, {w.tokens}, in, {}, de, {gradient.tokens});
  }
};

}  // namespace triad
