// First states of the edges between the tokens of a sentence.
// SPDX-License-Identifier: Apache-2.0
//
// Edge Transformer, equation 10:
//   relational   x(i, j) = a(r(i, j)) + [i = j] e(i)          r: relative position j - i, clipped;  e(i) = table(token(i), :)
//   positional   x(i, j) = (wl u(i) + bl) + (wr u(j) + br)    u = drop(e + p), p(i) = sines and cosines of the position
//
//   relational   da(r(i, j), :) += dx(i, j);  dtable(token(i), :) += dx(i, i)
//   positional   the gradients of two linear maps, of the sums of dx over j and over i
#pragma once

#include <cmath>
#include <vector>

#include "triad/core/math.hpp"
#include "triad/layers/linear.hpp"
#include "triad/ops/dropout.hpp"
#include "triad/ops/elementwise.hpp"
#include "triad/ops/gather.hpp"
#include "triad/ops/pair_sum.hpp"

namespace triad {

enum class sequence_encoding { relational, positional };

/// Sentences as graphs: nodes are tokens, edges all ordered pairs of tokens of one sentence.
template <class T>
struct token_sequences {
  graph_batch graphs;
  vec<index_t const> token;            // (nodes)
  vec<index_t const> relation;         // (rows) relative_position of every edge; not read by the positional encoding
  vec<index_t const> position;         // (nodes) place in the sentence; read by the positional encoding alone, as are
  vec<index_t const> self;             // (nodes) the row of edge (i, i)
  tensor<T const, dyn, dyn> waves;     // (positions, d) position_waves
};

/// 0 .. 2 reach: which row of the table an edge from i to j has.
constexpr index_t relative_position(index_t i, index_t j, index_t reach) {
  index_t const apart = j - i;
  return reach + (apart < -reach ? -reach : apart > reach ? reach : apart);
}

/// p(i, 2 k) = sin(i w), p(i, 2 k + 1) = cos(i w), w = 10000^(-2 k / d), in float as the released programs compute it.
inline std::vector<float> position_waves(index_t positions, index_t d) {
  std::vector<float> waves;
  for (index_t i = 0; i < positions; ++i)
    for (index_t c = 0; c < d; ++c) {
      auto const w = std::exp(static_cast<float>(c / 2 * 2) * static_cast<float>(-std::log(10000.0) / static_cast<double>(d)));
      waves.push_back(c % 2 == 0 ? std::sin(static_cast<float>(i) * w) : std::cos(static_cast<float>(i) * w));
    }
  return waves;
}

template <class T, index_t D = dyn>
struct sequence_edges {
  using input = token_sequences<T>;
  using output = tensor<T, dyn, D>;  // (rows, d)

  sequence_encoding encoding = sequence_encoding::relational;
  index_t tokens = 0, relations = 0;        // rows of the tables; relations >= 2 reach + 1
  [[no_unique_address]] extents<D> shape;
  double dropout = 0;                       // of e + p
  index_t fixed = -1;                       // a token whose vector has no gradient, or none: the released parser's padding index

  constexpr index_t width() const { return shape.extent(0); }
  constexpr bool relational() const { return encoding == sequence_encoding::relational; }
  /// Of both ends of an edge; of no width where relational.
  using end_map = linear<T, dyn, dyn>;
  constexpr end_map map() const { return {extents<dyn, dyn>(relational() ? 0 : width(), relational() ? 0 : width())}; }

  template <class S>
  struct fields {
    tensor<S, dyn, D> tokens;     // (tokens, d)
    tensor<S, dyn, D> relations;  // (relations, d), or (0, d)
    typename end_map::template fields<S> left, right;  // empty where relational
    template <class F>
    constexpr void each(F&& f) {
      f("tokens", tokens);
      f("relations", relations);
      f("left", left);
      f("right", right);
    }
  };
  struct saved {
    tensor<T, dyn, D> u;  // (nodes, d), or (0, d) where relational
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    auto const words = place.make<tensor<S, dyn, D>>(tokens, width());
    auto const places = place.make<tensor<S, dyn, D>>(relational() ? relations : 0, width());
    auto const left = map().template plan_params<S>(place);
    return {words, places, left, map().template plan_params<S>(place)};
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
      scatter_add_rows(ex, e, in.self, x);
      return;
    }
    auto const p = state(), left = state(), right = state();
    gather_rows(ex, w.tokens, in.token, s.u);
    gather_rows(ex, in.waves, in.position, p);
    transform(ex, plus{}, s.u, p, s.u);
    if (auto const mask = c.dropout(dropout); mask.active()) triad::dropout(ex, mask, s.u, s.u);
    map().forward(ex, c, w.left, s.u, {}, left);
    map().forward(ex, c, w.right, s.u, {}, right);
    pair_sum(ex, in.graphs, matrix<T const>(as_matrix(left)), matrix<T const>(as_matrix(right)), dropout_mask{}, no_matrix<T const>(), as_matrix(x));
  }

  /// Adds to the gradients of the tables and maps; the input has none.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, const_view<output> dx, fields<T> gradient) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    index_t const nodes = in.graphs.dims.nodes;
    auto const state = [&] { return scratch.make<output>(nodes, width()); };
    auto const de = state();
    if (relational()) {
      scatter_add_rows(ex, dx, in.relation, gradient.relations);
      gather_rows(ex, dx, in.self, de);
    } else {
      auto const left = state(), right = state();
      pair_sum_grad(ex, in.graphs, dropout_mask{}, matrix<T const>(as_matrix(dx)), as_matrix(left), as_matrix(right));
      map().backward(ex, c, w.left, s.u, {}, left, de, gradient.left);
      epilogue<T> add;
      add.residual = as_matrix(read_only(de));
      map().backward(ex, c, w.right, s.u, {}, right, de, gradient.right, add);
      if (auto const mask = c.dropout(dropout); mask.active()) dropout_grad(ex, mask, de, de);
    }
    scatter_add_rows(ex, de, in.token, gradient.tokens);
    if (fixed >= 0) fill(ex, T(0), make_vec(&gradient.tokens(fixed, 0), width()));
  }
};

}  // namespace triad
