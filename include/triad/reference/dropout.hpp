// Dropout, directly from its definition in ops/dropout.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/core/random.hpp"
#include "triad/ops/dropout.hpp"
#include "triad/reference/backend.hpp"
#include "triad/reference/elementwise.hpp"

namespace triad::TRIAD_REFERENCE {

template <class T>
void do_dropout(backend&, dropout_mask mask, matrix<T const> x, matrix<T> y) {
  for (index_t r = 0; r < y.extent(0); ++r)
    for (index_t c = 0; c < y.extent(1); ++c)
      if (mask.active())
        y(r, c) = mask.keeps(dropout_element(r, c, y.extent(1))) ? x(r, c) * T(mask.scale()) : T(0);
      else
        y(r, c) = x(r, c);
}

template <class Ex, class F, class T>
void do_dropout_of(Ex& ex, dropout_mask mask, F f, matrix<T const> x, matrix<T> y) {
  dropout_of_by_parts(ex, mask, f, x, y);
}
template <class Ex, class F, class T>
void do_dropout_of_grad(Ex& ex, dropout_mask mask, F f, matrix<T const> x, matrix<T const> dy, matrix<T> dx) {
  dropout_of_grad_by_parts(ex, mask, f, x, dy, dx);
}

}  // namespace triad::TRIAD_REFERENCE
