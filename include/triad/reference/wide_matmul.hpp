// Products with one very wide matrix, directly from their definition in ops/wide_matmul.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "triad/ops/wide_matmul.hpp"
#include "triad/reference/backend.hpp"

namespace triad::TRIAD_REFERENCE {

template <class T>
std::size_t do_wide_factor_workspace(backend&, matrix<T const>, index_t) {
  return 0;
}

template <class T>
void do_wide_factor(backend&, wide_factor<T> const&) {}

template <class T>
std::size_t do_wide_matmul_workspace(backend&, wide_factor<T> const&, index_t, tensor<T, dyn, dyn>) {
  return 0;
}

template <class T>
void do_wide_matmul(backend&, matrix<T const> x, wide_factor<T> const& factor, index_t used, vec<T const> bias,
                    tensor<T, dyn, dyn> y, workspace) {
  for (index_t r = 0; r < y.extent(0); ++r)
    for (index_t o = 0; o < y.extent(1); ++o) {
      y(r, o) = bias(o);
      for (index_t first = 0; first < used; first += wide_chunk) {
        T sum = 0;
        for (index_t i = first; i < std::min(first + wide_chunk, used); ++i) sum += x(r, i) * factor.w(o, i);
        y(r, o) += sum;
      }
    }
}

template <class T>
void do_wide_matmul_back(backend&, matrix<T const> dy, wide_factor<T> const& factor, index_t used, matrix<T> dx) {
  for (index_t r = 0; r < dx.extent(0); ++r)
    for (index_t o = 0; o < dy.extent(1); ++o)
      for (index_t i = 0; i < used; ++i) dx(r, i) += dy(r, o) * factor.w(o, i);
}

}  // namespace triad::TRIAD_REFERENCE
