// The loss of trees and their symbols by definition.  The mathematics is in ops/tree_loss.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "triad/ops/tree_loss.hpp"
#include "triad/reference/backend.hpp"

namespace triad::reference {

/// |x(r, 1..)|
template <class T>
T symbol_norm(matrix<T const> x, index_t r) {
  T sum = 0;
  for (index_t v = 1; v < x.extent(1); ++v) sum += x(r, v) * x(r, v);
  return std::sqrt(sum);
}

/// of_rows(r): row r's part of the loss.
template <class T>
void do_tree_loss(backend&, matrix<T const> x, vec<index_t const> target, vec<T> of_rows, matrix<T> dx) {
  T const per_row = T(1) / T(x.extent(0));
  for (index_t r = 0; r < x.extent(0); ++r) {
    TRIAD_EXPECTS(target(r) >= 0 && target(r) < x.extent(1), target_outside("tree_loss", r, target(r), x.extent(1)));
    dx(r, 0) = T(0);
    if (target(r) == 0) {
      T const norm = symbol_norm(x, r), slope = norm > T(0) ? per_row / norm : T(0);
      of_rows(r) = norm * per_row;
      for (index_t v = 1; v < x.extent(1); ++v) dx(r, v) = x(r, v) * slope;
      continue;
    }
    T sum = 0;
    for (index_t v = 1; v < x.extent(1); ++v) {
      T const error = x(r, v) - (v == target(r) ? T(1) : T(0));
      sum += error * error;
      dx(r, v) = 2 * per_row * error;
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

}  // namespace triad::reference
