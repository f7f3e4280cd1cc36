// Mixtures of the columns of each grid, directly from their definition in ops/mix_columns.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/ops/mix_columns.hpp"
#include "triad/reference/backend.hpp"

namespace triad::TRIAD_REFERENCE {

template <class T>
void do_mix_columns(backend&, grid_batch const& from, grid_batch const& to, vec<index_t const> mix_begin,
                    vec<T const> mix, matrix<T const> x, matrix<T> y) {
  triad::detail::expect_mixed_grids(from, to, mix_begin, mix.extent(0));
  for (index_t graph = 0; graph < from.dims.graphs; ++graph) {
    triad::detail::mixed_grid const g(from, to, mix_begin, graph);
    for (index_t t = 0; t < g.n; ++t)
      for (index_t a = 0; a < g.to; ++a)
        for (index_t k = 0; k < x.extent(1); ++k) {
          T sum = 0;
          for (index_t c = 0; c < g.from; ++c)
            sum += mix(g.weight + a * g.from + c) * x(g.from_cell + t * g.from + c, k);
          y(g.to_cell + t * g.to + a, k) = sum;
        }
  }
}

template <class T>
void do_mix_columns_grad(backend&, grid_batch const& from, grid_batch const& to, vec<index_t const> mix_begin,
                         vec<T const> mix, matrix<T const> x, matrix<T const> dy, vec<T> dmix, matrix<T> dx) {
  triad::detail::expect_mixed_grids(from, to, mix_begin, mix.extent(0));
  for (index_t graph = 0; graph < from.dims.graphs; ++graph) {
    triad::detail::mixed_grid const g(from, to, mix_begin, graph);
    for (index_t a = 0; a < g.to; ++a)
      for (index_t c = 0; c < g.from; ++c) dmix(g.weight + a * g.from + c) = T(0);
    for (index_t t = 0; t < g.n; ++t)
      for (index_t c = 0; c < g.from; ++c)
        for (index_t k = 0; k < x.extent(1); ++k) {
          index_t const cell = g.from_cell + t * g.from + c;
          T sum = 0;
          for (index_t a = 0; a < g.to; ++a) {
            T const d = dy(g.to_cell + t * g.to + a, k);
            sum += mix(g.weight + a * g.from + c) * d;
            dmix(g.weight + a * g.from + c) += d * x(cell, k);
          }
          dx(cell, k) = sum;
        }
  }
}

}  // namespace triad::TRIAD_REFERENCE
