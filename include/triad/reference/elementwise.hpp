// Elementwise functions, directly from their definition in ops/elementwise.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/ops/elementwise.hpp"
#include "triad/reference/backend.hpp"

namespace triad::TRIAD_REFERENCE {

template <class F, class T>
void do_transform(backend&, F f, vec<T const> x, vec<T> y) {
  for (index_t i = 0; i < y.extent(0); ++i) y(i) = f(x(i));
}

template <class F, class T>
void do_transform(backend&, F f, vec<T const> a, vec<T const> b, vec<T> y) {
  for (index_t i = 0; i < y.extent(0); ++i) y(i) = f(a(i), b(i));
}

template <class T>
void do_fill(backend&, T value, vec<T> y) {
  for (index_t i = 0; i < y.extent(0); ++i) y(i) = value;
}

}  // namespace triad::TRIAD_REFERENCE
