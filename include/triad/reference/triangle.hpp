// Triangular attention, directly from its definition in ops/triangle.hpp: plain loops over (i, j) and then l.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "triad/ops/triangle.hpp"
#include "triad/reference/backend.hpp"

namespace triad::TRIAD_REFERENCE {

/// One head of one graph.  The member functions return the rows that each form reads, and the scores of each form.
template <class T>
struct triangle_head {
  triangle_options const& t;
  triangle_projections<T const> const& x;
  index_t n, first_edge, first_triangle, head, width, sources;
  triangle_bias_head<T const> bias;

  triangle_head(triangle_options const& options, triangle_projections<T const> const& projections, graph_batch const& g,
                index_t graph, index_t c)
      : t(options),
        x(projections),
        n(g.size(graph)),
        first_edge(g.edge_begin(graph)),
        first_triangle(g.triangle_begin(graph)),
        head(c),
        width(projections.query.extent(1) / options.heads),
        sources(options.causal() ? options.sources(graph) : n),
        bias(projections.bias.of_head(g, graph, c, options.heads)) {}

  bool flat() const { return t.form == triangle_form::flat; }
  /// The number of terms in the softmax of one edge.
  index_t terms() const { return flat() ? 2 * n : n; }
  /// The number of terms in the sum of edge (i, j).  It is less than terms() only in the causal form.
  index_t open(index_t i, index_t j) const { return flat() ? 2 * n : causal_end(sources, n, i, j); }
  index_t edge(index_t i, index_t j) const { return first_edge + i * n + j; }
  index_t column(index_t e) const { return head * width + e; }
  /// The middle node of term l.  In the flat form, this is node z of the edge (i, z) or (z, j) of the term.
  index_t middle(index_t l) const { return l < n ? l : l - n; }

  // The rows of the edges that term l of edge (i, j) reads.
  index_t query_edge(index_t i, index_t l, index_t j) const { return flat() ? edge(i, j) : edge(i, l); }
  index_t key_edge(index_t i, index_t l, index_t j) const {
    if (flat()) return value_edge(i, l, j);
    return uses_own_key(t.form) ? edge(i, j) : edge(l, j);
  }
  index_t value_edge(index_t i, index_t l, index_t j) const { return flat() && l >= n ? edge(l - n, j) : edge(i, l); }
  index_t right_value_edge(index_t l, index_t j) const { return edge(l, j); }

  bool masked(index_t i, index_t l, index_t j) const {
    return !t.mask.empty() && t.mask.masked(first_triangle + (i * n + middle(l)) * n + j) != 0;
  }
  T score(index_t i, index_t l, index_t j) const {
    if (masked(i, l, j)) return T(t.mask.fill);
    auto const q = query_edge(i, l, j), k = key_edge(i, l, j);
    T dot = 0;
    for (index_t e = 0; e < width; ++e) dot += x.query(q, column(e)) * x.key(k, column(e));
    T const score = dot / std::sqrt(T(width));
    return bias.data == nullptr ? score : score + bias.at(i, l, j);
  }
  /// Returns the factor by which dropout multiplies the term.  The factor is 0 if the term is dropped.
  T keep(index_t i, index_t l, index_t j) const {
    if (!t.dropout.active()) return T(1);
    auto const first = first_triangle * (flat() ? 2 : 1) * t.heads;
    auto const element = first + ((head * terms() + l) * n + i) * n + j;
    return t.dropout.keeps(static_cast<std::uint64_t>(element)) ? T(t.dropout.scale()) : T(0);
  }
  T value(index_t i, index_t l, index_t j, index_t e) const {
    T const left = x.left_value(value_edge(i, l, j), column(e));
    return uses_right_value(t.form) ? left * x.right_value(right_value_edge(l, j), column(e)) : left;
  }
};

template <class T>
std::size_t do_triangle_workspace(backend&, triangle_options const&, triangle_projections<T const> const&,
                                  graph_dims const&) {
  return 0;
}

template <class T>
std::size_t do_triangle_grad_workspace(backend&, triangle_options const&, triangle_projections<T const> const&,
                                       triangle_projections<T> const&, graph_dims const&) {
  return 0;
}

template <class T>
void do_triangle(backend&, triangle_options const& options, triangle_projections<T const> const& x,
                 graph_batch const& g, triangle_statistics<T> const& statistics, matrix<T> o, workspace) {
  for (index_t graph = 0; graph < g.dims.graphs; ++graph)
    for (index_t c = 0; c < options.heads; ++c) {
      triangle_head<T> const at(options, x, g, graph, c);
      for (index_t i = 0; i < at.n; ++i)
        for (index_t j = 0; j < at.n; ++j) {
          T maximum = at.score(i, 0, j), sum = 0;
          for (index_t l = 1; l < at.open(i, j); ++l) {
            T const s = at.score(i, l, j);
            maximum = s > maximum ? s : maximum;
          }
          auto const row = at.edge(i, j);
          for (index_t e = 0; e < at.width; ++e) o(row, at.column(e)) = T(0);
          for (index_t l = 0; l < at.open(i, j); ++l) {
            T const p = std::exp(at.score(i, l, j) - maximum), kept = p * at.keep(i, l, j);
            sum += p;
            for (index_t e = 0; e < at.width; ++e) o(row, at.column(e)) += kept * at.value(i, l, j, e);
          }
          for (index_t e = 0; e < at.width; ++e) o(row, at.column(e)) /= sum;
          statistics.maximum(row, c) = maximum;
          statistics.inverse_sum(row, c) = T(1) / sum;
        }
    }
}

template <class T>
void clear(matrix<T> m) {
  for (index_t r = 0; r < m.extent(0); ++r)
    for (index_t c = 0; c < m.extent(1); ++c) m(r, c) = T(0);
}

template <class T>
void do_triangle_grad(backend&, triangle_options const& options, triangle_projections<T const> const& x,
                      graph_batch const& g, triangle_statistics<T const> const& statistics, matrix<T const> o,
                      matrix<T const> d_o, triangle_projections<T> const& dx, workspace) {
  clear(dx.query);
  clear(dx.key);
  clear(dx.left_value);
  clear(dx.right_value);
  for (index_t e = 0; e < dx.bias.values.extent(0); ++e) dx.bias.values(e) = T(0);
  for (index_t graph = 0; graph < g.dims.graphs; ++graph)
    for (index_t c = 0; c < options.heads; ++c) {
      triangle_head<T> const at(options, x, g, graph, c);
      auto const d_bias = dx.bias.of_head(g, graph, c, options.heads);
      for (index_t i = 0; i < at.n; ++i)
        for (index_t j = 0; j < at.n; ++j) {
          auto const row = at.edge(i, j);
          T delta = 0;
          for (index_t e = 0; e < at.width; ++e) delta += d_o(row, at.column(e)) * o(row, at.column(e));
          for (index_t l = 0; l < at.open(i, j); ++l) {
            T const p = std::exp(at.score(i, l, j) - statistics.maximum(row, c)) * statistics.inverse_sum(row, c);
            T const keep = at.keep(i, l, j);
            auto const left = at.value_edge(i, l, j), right = at.right_value_edge(at.middle(l), j);
            T dp = 0;
            for (index_t e = 0; e < at.width; ++e) {
              auto const f = at.column(e);
              T const w = p * keep * d_o(row, f);
              dp += keep * d_o(row, f) * at.value(i, l, j, e);
              if (uses_right_value(options.form)) {
                dx.left_value(left, f) += w * x.right_value(right, f);
                dx.right_value(right, f) += w * x.left_value(left, f);
              } else {
                dx.left_value(left, f) += w;
              }
            }
            if (at.masked(i, l, j)) continue;
            if (d_bias.data != nullptr) d_bias.at(i, l, j) += p * (dp - delta);
            T const ds = p * (dp - delta) / std::sqrt(T(at.width));
            auto const q = at.query_edge(i, l, j), k = at.key_edge(i, l, j);
            for (index_t e = 0; e < at.width; ++e) {
              auto const f = at.column(e);
              dx.query(q, f) += ds * x.key(k, f);
              dx.key(k, f) += ds * x.query(q, f);
            }
          }
        }
    }
}

template <class T>
void do_triangle_weights(backend&, triangle_options const& options, triangle_projections<T const> const& x,
                         graph_batch const& g, index_t graph, index_t i, index_t j, matrix<T> weights) {
  for (index_t c = 0; c < options.heads; ++c) {
    triangle_head<T> const at(options, x, g, graph, c);
    TRIAD_EXPECTS(weights.extent(1) >= at.terms(), "triangle_weights: " + std::to_string(weights.extent(1)) +
                                                       " columns of weights, expected " + std::to_string(at.terms()) +
                                                       " or more, one for each term");
    TRIAD_EXPECTS(i >= 0 && i < at.n && j >= 0 && j < at.n, "triangle_weights: edge (" + std::to_string(i) + ", " +
                                                                std::to_string(j) + "), expected nodes 0 to " +
                                                                std::to_string(at.n - 1));
    T maximum = at.score(i, 0, j), sum = 0;
    for (index_t l = 1; l < at.open(i, j); ++l) {
      T const s = at.score(i, l, j);
      maximum = s > maximum ? s : maximum;
    }
    for (index_t l = 0; l < at.open(i, j); ++l) sum += weights(c, l) = std::exp(at.score(i, l, j) - maximum);
    for (index_t l = 0; l < at.open(i, j); ++l) weights(c, l) /= sum;
    for (index_t l = at.open(i, j); l < at.terms(); ++l) weights(c, l) = T(0);
  }
}

}  // namespace triad::TRIAD_REFERENCE
