// Removes labels that edges imply, directly from the definition in ops/implied_labels.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>

#include "triad/core/finite.hpp"
#include "triad/ops/implied_labels.hpp"
#include "triad/reference/backend.hpp"

namespace triad::TRIAD_REFERENCE {

namespace detail {

/// Computes E for the columns of one grid.
template <class T>
void outgoing_edges_of(grid_batch const& g, index_t graph, matrix<T const> s, matrix<T> edge) {
  index_t const m = g.columns(graph), column = g.column_begin(graph), pair = g.pair_begin(graph);
  for (index_t a = 0; a < m; ++a)
    for (index_t r = 0; r < edge.extent(1); ++r) {
      T sum = 0;
      for (index_t b = 0; b < m; ++b) sum += s(pair + a * m + b, r);
      edge(column + a, r) = -std::expm1(sum);
    }
}

/// Computes x', dx'/dx and dx'/dy of label u of column a from x and y.
template <class T>
void keep_label(index_t a, index_t u, T x, T y, matrix<T> of_x, matrix<T> of_y, matrix<T> result) {
  constexpr T least = std::numeric_limits<T>::min(), most = most_implied_exponent;
  T const keep = std::exp(y), p = -std::expm1(x) * keep;  // P'
  T score = x, slope = 1;                                 // for y = 0, and for denormal y: their logarithm may be wrong
  if (is_nan(y) || (y <= -least && p <= T(0.5))) {
    score = std::log1p(-p);
    slope = std::exp(x) * keep / (T(1) - p);
  } else if (y <= -least) {
    // 1 - P' = (1 - exp(y)) + exp(x + y), by logarithms, because exp(x) can underflow.
    T const removed = std::log(-std::expm1(y)), missed = x + y;
    bool const more = missed > removed;
    T const ratio = std::exp(more ? removed - missed : missed - removed);
    score = (more ? missed : removed) + std::log1p(ratio);
    slope = (more ? T(1) : ratio) / (T(1) + ratio);
  }
  result(a, u) = score;
  of_x(a, u) = slope;
  of_y(a, u) = -p * std::exp(-score < most ? -score : most);
}

/// Computes the labels of column a.
template <class T>
void implied_labels_of(index_t a, matrix<T const> x, matrix<T const> implied, matrix<T> edge, matrix<T> of_x,
                       matrix<T> of_y, matrix<T> result) {
  for (index_t u = 0; u < implied.extent(1); ++u) {
    T y = 0;
    for (index_t r = 0; r < implied.extent(0); ++r) y += std::log1p(-(T(noisy_or_kappa) * edge(a, r)) * implied(r, u));
    keep_label(a, u, x(a, u), y, of_x, of_y, result);
  }
}

/// Computes row r of dimplied.
template <class T>
void implied_labels_grad_of(index_t r, matrix<T const> implied, matrix<T const> edge, matrix<T const> of_y,
                            matrix<T const> dresult, matrix<T> dimplied) {
  for (index_t u = 0; u < implied.extent(1); ++u) dimplied(r, u) = T(0);
  for (index_t a = 0; a < edge.extent(0); ++a) {
    T const e = T(noisy_or_kappa) * edge(a, r);
    for (index_t u = 0; u < implied.extent(1); ++u)
      dimplied(r, u) -= dresult(a, u) * of_y(a, u) * (e / (T(1) - e * implied(r, u)));
  }
}

}  // namespace detail

template <class T>
void do_implied_labels(backend&, grid_batch const& g, matrix<T const> s, matrix<T const> x, matrix<T const> implied,
                       matrix<T> edge, matrix<T> of_x, matrix<T> of_y, matrix<T> result) {
  for (index_t graph = 0; graph < g.dims.graphs; ++graph) detail::outgoing_edges_of(g, graph, s, edge);
  for (index_t a = 0; a < edge.extent(0); ++a) detail::implied_labels_of(a, x, implied, edge, of_x, of_y, result);
}

template <class T>
void do_implied_labels_grad(backend&, matrix<T const> implied, matrix<T const> edge, matrix<T const> of_x,
                            matrix<T const> of_y, matrix<T const> dresult, matrix<T> dx, matrix<T> dimplied) {
  for (index_t a = 0; a < dx.extent(0); ++a)
    for (index_t u = 0; u < dx.extent(1); ++u) dx(a, u) = dresult(a, u) * of_x(a, u);
  for (index_t r = 0; r < implied.extent(0); ++r)
    detail::implied_labels_grad_of(r, implied, edge, of_y, dresult, dimplied);
}

}  // namespace triad::TRIAD_REFERENCE
