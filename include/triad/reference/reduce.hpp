// Sums in ascending order.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "triad/ops/reduce.hpp"
#include "triad/reference/backend.hpp"

namespace triad::TRIAD_REFERENCE {

template <class T>
std::size_t do_sum_workspace(backend&, vec<T const>) {
  return 0;
}

template <class T>
void do_sum(backend&, vec<T const> x, vec<T> total, workspace) {
  T s = 0;
  for (index_t i = 0; i < x.extent(0); ++i) s += x(i);
  total(0) = s;
}

template <class T>
void do_norm(backend&, vec<T const> x, vec<T> length, workspace) {
  T s = 0;
  for (index_t i = 0; i < x.extent(0); ++i) s += x(i) * x(i);
  length(0) = std::sqrt(s);
}

template <class T>
std::size_t do_column_sums_workspace(backend&, matrix<T const>) {
  return 0;
}

template <class T>
void do_column_sums_add(backend&, matrix<T const> x, vec<T> s, workspace) {
  for (index_t r = 0; r < x.extent(0); ++r)
    for (index_t c = 0; c < x.extent(1); ++c) s(c) += x(r, c);
}

}  // namespace triad::TRIAD_REFERENCE
