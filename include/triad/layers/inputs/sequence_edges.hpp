// Initial states of the edges between the tokens of a sentence.
// SPDX-License-Identifier: Apache-2.0
//
// The first two formulas are equation 10 of the Edge Transformer.  The third formula adds vectors of both tokens to
// every edge, so that the state of an edge (i, j) depends on the tokens before the first layer:
//   relational        x(i, j) = a(r(i, j)) + [i = j] e(i)         r: relation numbers;  e(i) = table(token(i), :)
//   positional        x(i, j) = (wl u(i) + bl) + (wr u(j) + br)   u = drop(e + p), computed by sequence_tokens
//   relational_ends   x(i, j) = drop(a(r(i, j)) + left(token(i), :) + right(token(j), :) + [i = j] e(i))
//
//   relational        da(r(i, j), :) += dx(i, j);  dtable(token(i), :) += dx(i, i)
//   positional        the gradients of two linear maps, from the sums of dx over j and over i
//   relational_ends   as relational with dz = drop'(dx) instead of dx;
//                     dleft(token(i), :) += sum_j dz(i, j);  dright(token(j), :) += sum_i dz(i, j)
#pragma once

#include "triad/layers/fixed_row.hpp"
#include "triad/layers/inputs/sequence_tokens.hpp"
#include "triad/layers/linear.hpp"
#include "triad/ops/dropout.hpp"
#include "triad/ops/gather.hpp"
#include "triad/ops/pair_sum.hpp"

namespace triad {

template <class T, index_t D = dyn>
struct sequence_edges {
  using input = token_sequences<T>;
  using output = tensor<T, dyn, D>;  // (rows, d)

  sequence_encoding encoding = sequence_encoding::relational;
  index_t tokens = 0, relations = 0;  // the numbers of rows of the tables; every relation number is below `relations`
  [[no_unique_address]] extents<D> shape;
  double dropout = 0;        // the dropout rate of e + p (positional), or of x (relational_ends)
  index_t fixed_token = -1;  // the token whose vectors are not learned; negative: none

  constexpr index_t width() const { return shape.extent(0); }
  constexpr bool relational() const { return encoding != sequence_encoding::positional; }
  constexpr bool both_ends() const { return encoding == sequence_encoding::relational_ends; }
  constexpr sequence_tokens<T, D> words() const { return {tokens, shape, relational() ? 0 : dropout, fixed_token}; }
  /// The two maps, for the first and the second token of an edge.  With relational encodings, the maps have no columns.
  using end_map = linear<T, dyn, dyn>;
  constexpr end_map map() const { return {extents<dyn, dyn>(relational() ? 0 : width(), relational() ? 0 : width())}; }

  template <class S>
  struct fields {
    tensor<S, dyn, D> tokens;                     // (tokens, d)
    tensor<S, dyn, D> relations;                  // (relations, d), or (0, d)
    fields_of<end_map, S> left, right;            // empty if relational
    tensor<S, dyn, D> left_tokens, right_tokens;  // (tokens, d), or (0, d) unless relational_ends
    template <class F>
    constexpr void each(F&& f) {
      f("tokens", tokens);
      f("relations", relations);
      f("left", left);
      f("right", right);
      f("left_tokens", left_tokens);
      f("right_tokens", right_tokens);
    }
  };
  struct saved {
    tensor<T, dyn, D> u;  // (nodes, d), or (0, d) if relational
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    arena nowhere;  // encodings without tables of ends take no memory for these tables
    auto const end_table = [&] {
      arena& there = both_ends() ? place : nowhere;
      return there.make<tensor<S, dyn, D>>(both_ends() ? tokens : 0, width());
    };
    return {place.make<tensor<S, dyn, D>>(tokens, width()),
            place.make<tensor<S, dyn, D>>(relational() ? relations : 0, width()),
            plan<S>(map(), place),
            plan<S>(map(), place),
            end_table(),
            end_table()};
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
    auto const sum_of_ends = [&](output left, output right, matrix<T const> residual) {
      pair_sum(ex, in.graphs, matrix<T const>(as_matrix(left)), matrix<T const>(as_matrix(right)), dropout_mask{},
               residual, as_matrix(x));
    };
    if (relational()) {
      auto const e = state();
      gather_rows(ex, w.relations, in.relation, x);
      if (both_ends()) {
        auto const left = state(), right = state();
        gather_rows(ex, w.left_tokens, in.token, left);
        gather_rows(ex, w.right_tokens, in.token, right);
        sum_of_ends(left, right, matrix<T const>(as_matrix(x)));
      }
      gather_rows(ex, w.tokens, in.token, e);
      scatter_add_rows(ex, c.scratch, e, in.self, x);
      if (auto const mask = dropout_of_states(c); mask.active()) triad::dropout(ex, mask, x, x);
      return;
    }
    auto const left = state(), right = state();
    words().forward(ex, c, {w.tokens}, in, {}, s.u);
    map().forward(ex, c, w.left, s.u, {}, left);
    map().forward(ex, c, w.right, s.u, {}, right);
    sum_of_ends(left, right, no_matrix<T const>());
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
    auto const sums_over_edges = [&](const_view<output> dz, output left, output right) {
      pair_sum_grad(ex, in.graphs, dropout_mask{}, matrix<T const>(as_matrix(dz)), as_matrix(left), as_matrix(right));
    };
    if (relational()) {
      auto dz = dx;
      if (auto const mask = dropout_of_states(c); mask.active())
        dz = undropped(ex, mask, dx, scratch.make<output>(dx.extent(0), width()));
      scatter_add_rows(ex, c.scratch, dz, in.relation, gradient.relations);
      gather_rows(ex, dz, in.self, de);
      if (both_ends()) {
        auto const left = state(), right = state();
        sums_over_edges(dz, left, right);
        words().backward(ex, c, {w.left_tokens}, in, {}, left, {gradient.left_tokens});
        words().backward(ex, c, {w.right_tokens}, in, {}, right, {gradient.right_tokens});
      }
    } else {
      auto const left = state(), right = state();
      sums_over_edges(dx, left, right);
      map().backward(ex, c, w.left, s.u, {}, left, de, gradient.left);
      map().backward(ex, c, w.right, s.u, {}, right, de, gradient.right, {.residual = as_matrix(de)});
    }
    words().backward(ex, c, {w.tokens}, in, {}, de, {gradient.tokens});
  }

 private:
  /// The dropout of x.  It is active only with relational_ends.
  dropout_mask dropout_of_states(call const& c) const { return c.dropout(both_ends() ? dropout : 0); }
};

}  // namespace triad
