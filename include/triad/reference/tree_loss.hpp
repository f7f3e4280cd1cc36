// The loss of trees and the decoding of symbols, directly from their definition in ops/tree_loss.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "triad/core/contracts.hpp"
#include "triad/ops/tree_loss.hpp"
#include "triad/reference/backend.hpp"

namespace triad::TRIAD_REFERENCE {

/// Returns the Euclidean norm |x(r, 1..)|.
template <class T>
T symbol_norm(matrix<T const> x, index_t r) {
  T sum = 0;
  for (index_t v = 1; v < x.extent(1); ++v) sum += x(r, v) * x(r, v);
  return std::sqrt(sum);
}

/// h(x) of ops/tree_loss.hpp, and its slope h'(x).
template <class T>
struct distance_from_one {
  T value, slope;

  distance_from_one(tree_loss_options const& o, T x) {
    if (o.distance == tree_distance::squared) {
      value = (x - T(1)) * (x - T(1));
      slope = 2 * (x - T(1));
      return;
    }
    T const floor = T(o.floor), at = x <= floor ? floor : x;  // keeps a NaN
    slope = T(1) - T(1) / at;
    // log1p is accurate for `at` near 1, and log is accurate for `at` near 0.
    value = (at - T(1)) - (at < T(0.5) ? std::log(at) : std::log1p(at - T(1))) + (x - at) * slope;
  }
};

/// Overwrites dx with the gradient, and of_rows(r) with the contribution of row r to the loss.
template <class T>
void do_tree_loss(backend&, matrix<T const> x, vec<index_t const> target, vec<T> of_rows, matrix<T> dx,
                  tree_loss_options const& o) {
  T const per_row = T(1) / T(x.extent(0)), per_empty = per_row * T(o.empty_weight);
  for (index_t r = 0; r < x.extent(0); ++r) {
    TRIAD_EXPECTS(target(r) >= 0 && target(r) < x.extent(1), target_outside("tree_loss", r, target(r), x.extent(1)));
    dx(r, 0) = T(0);
    if (target(r) == 0) {
      T const norm = symbol_norm(x, r), slope = norm == T(0) ? T(0) : per_empty / norm;
      of_rows(r) = norm * per_empty;
      for (index_t v = 1; v < x.extent(1); ++v) dx(r, v) = x(r, v) * slope;
      continue;
    }
    distance_from_one<T> const of_target(o, x(r, target(r)));
    T sum = 0;
    for (index_t v = 1; v < x.extent(1); ++v) {
      bool const is_target = v == target(r);
      sum += is_target ? of_target.value : x(r, v) * x(r, v);
      dx(r, v) = per_row * (is_target ? of_target.slope : 2 * x(r, v));
    }
    of_rows(r) = sum * per_row;
  }
}

template <class T>
void do_decode_rows(backend&, matrix<T const> x, double threshold, vec<index_t> symbols) {
  for (index_t r = 0; r < x.extent(0); ++r) {
    symbols(r) = 0;
    if (!(symbol_norm(x, r) > T(threshold))) continue;
    T best = 0;
    for (index_t v = 1; v < x.extent(1); ++v)
      if (x(r, v) > best) {
        best = x(r, v);
        symbols(r) = v;
      }
  }
}

}  // namespace triad::TRIAD_REFERENCE
