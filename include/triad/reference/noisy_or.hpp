// Noisy or over the tokens of a sentence, directly from its definition in ops/noisy_or.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "triad/ops/noisy_or.hpp"
#include "triad/reference/backend.hpp"

namespace triad::TRIAD_REFERENCE {

namespace detail {

template <class T>
void noisy_or_of(noisy_or_grid<T> const& grid, matrix<T const> p, matrix<T> s) {
  for (index_t a = 0; a < grid.outer; ++a)
    for (index_t c = 0; c < grid.inner; ++c)
      for (index_t r = 0; r < p.extent(1); ++r) {
        T sum = 0;
        for (index_t t = 0; t < grid.rows; ++t)
          sum += std::log1p(-(T(noisy_or_kappa) * grid.weight(t, a, c)) * p(grid.row + t, r));
        s(grid.first + a * grid.inner + c, r) = sum;
      }
}

template <class T>
void noisy_or_grad_of(noisy_or_grid<T> const& grid, matrix<T const> p, matrix<T const> ds, matrix<T> dp,
                      matrix<T> drole) {
  index_t const roles = grid.role.extent(1);
  for (index_t t = 0; t < grid.rows; ++t) {
    index_t const row = grid.row + t, cell = grid.cell + t * grid.columns;
    for (index_t r = 0; r < p.extent(1); ++r) dp(row, r) = T(0);
    for (index_t a = 0; a < grid.columns; ++a)
      for (index_t k = 0; k < roles; ++k) drole(cell + a, k) = T(0);
    for (index_t a = 0; a < grid.outer; ++a)
      for (index_t c = 0; c < grid.inner; ++c) {
        T const q = grid.weight(t, a, c);
        T dq = 0;
        for (index_t r = 0; r < p.extent(1); ++r) {
          T const x = T(noisy_or_kappa) * q * p(row, r);
          T const h = ds(grid.first + a * grid.inner + c, r) * T(noisy_or_kappa) / (T(1) - x);
          dp(row, r) -= q * h;
          dq -= h * p(row, r);
        }
        if (roles > 0) drole(cell + a, 0) += roles > 1 ? dq * grid.role(cell + c, 1) : dq;
        if (roles > 1) drole(cell + c, 1) += dq * grid.role(cell + a, 0);
      }
  }
}

}  // namespace detail

template <class T>
void do_noisy_or(backend&, grid_batch const& g, matrix<T const> p, matrix<T const> role, matrix<T> s) {
  for (index_t graph = 0; graph < g.dims.graphs; ++graph) detail::noisy_or_of(noisy_or_grid<T>(g, graph, role), p, s);
}

template <class T>
void do_noisy_or_grad(backend&, grid_batch const& g, matrix<T const> p, matrix<T const> role, matrix<T const> ds,
                      matrix<T> dp, matrix<T> drole) {
  for (index_t graph = 0; graph < g.dims.graphs; ++graph)
    detail::noisy_or_grad_of(noisy_or_grid<T>(g, graph, role), p, ds, dp, drole);
}

}  // namespace triad::TRIAD_REFERENCE
