// Softmax of rows, directly from its definition in ops/softmax.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "triad/ops/softmax.hpp"
#include "triad/reference/backend.hpp"

namespace triad::TRIAD_REFERENCE {

template <class T>
void do_softmax(backend&, matrix<T const> x, matrix<T> y) {
  for (index_t r = 0; r < x.extent(0); ++r) {
    if (x.extent(1) == 0) continue;
    T maximum = x(r, 0), total = 0;
    for (index_t c = 1; c < x.extent(1); ++c) maximum = x(r, c) > maximum ? x(r, c) : maximum;
    for (index_t c = 0; c < x.extent(1); ++c) total += y(r, c) = std::exp(x(r, c) - maximum);
    for (index_t c = 0; c < x.extent(1); ++c) y(r, c) /= total;
  }
}

template <class T>
void do_softmax_grad(backend&, matrix<T const> y, matrix<T const> dy, matrix<T> dx) {
  for (index_t r = 0; r < y.extent(0); ++r) {
    T delta = 0;
    for (index_t c = 0; c < y.extent(1); ++c) delta += y(r, c) * dy(r, c);
    for (index_t c = 0; c < y.extent(1); ++c) dx(r, c) = y(r, c) * (dy(r, c) - delta);
  }
}

}  // namespace triad::TRIAD_REFERENCE
