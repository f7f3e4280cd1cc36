// Removes labels that edges imply.  Forward computes grids in parallel, and the gradient computes relations in
// parallel, each with all columns in order.
// SPDX-License-Identifier: Apache-2.0
//
// In float, y is computed as noisy_or computes its sums (cpu/noisy_or.hpp): with a product of the factors of all
// relations, and one logarithm for each label.
#pragma once

#include <algorithm>
#include <concepts>
#include <type_traits>

#include "triad/cpu/backend.hpp"
#include "triad/cpu/kernels/parallel.hpp"
#include "triad/cpu/noisy_or.hpp"
#include "triad/reference/implied_labels.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

namespace detail {

inline void implied_labels_of(index_t a, matrix<float const> x, matrix<float const> implied, matrix<float> edge,
                              matrix<float> of_x, matrix<float> of_y, matrix<float> result) {
  index_t const relations = implied.extent(0), labels = implied.extent(1);
  if (relations == 0 || labels == 0)
    return reference::detail::implied_labels_of(a, x, implied, edge, of_x, of_y, result);
  auto const weight = [&](index_t r) { return static_cast<float>(noisy_or_kappa) * edge(a, r); };
  noisy_or_row(&implied(0, 0), implied.stride(0), relations, labels, weight, &of_y(a, 0));
  for (index_t u = 0; u < labels; ++u) reference::detail::keep_label(a, u, x(a, u), of_y(a, u), of_x, of_y, result);
}

inline void implied_labels_grad_of(index_t r, matrix<float const> implied, matrix<float const> edge,
                                   matrix<float const> of_y, matrix<float const> dresult, matrix<float> dimplied) {
  index_t const labels = implied.extent(1);
  if (labels == 0) return;
  float const* const p = &implied(r, 0);
  float* const sums = &dimplied(r, 0);
  std::fill_n(sums, labels, 0.0f);
  for (index_t a = 0; a < edge.extent(0); ++a) {
    float const e = static_cast<float>(noisy_or_kappa) * edge(a, r);
    float const *const slope = &of_y(a, 0), *const d = &dresult(a, 0);
    simd::each_vector(labels, [&](index_t u, auto part) {
      part.store(sums + u,
                 part.load(sums + u) - part.load(d + u) * part.load(slope + u) * (e / (1.0f - part.load(p + u) * e)));
    });
  }
}

}  // namespace detail

template <std::floating_point T>
void do_implied_labels(backend& ex, grid_batch const& g, matrix<T const> s, matrix<T const> x, matrix<T const> implied,
                       matrix<T> edge, matrix<T> of_x, matrix<T> of_y, matrix<T> result) {
  bool const rows = implied.stride(1) == 1 && of_y.stride(1) == 1;
  parallel_for(ex, g.dims.graphs, [&](index_t graph, int) {
    reference::detail::outgoing_edges_of(g, graph, s, edge);
    for (index_t a = g.column_begin(graph); a < g.column_begin(graph) + g.columns(graph); ++a) {
      if constexpr (std::is_same_v<T, float>)
        if (rows) {
          detail::implied_labels_of(a, x, implied, edge, of_x, of_y, result);
          continue;
        }
      reference::detail::implied_labels_of(a, x, implied, edge, of_x, of_y, result);
    }
  });
}

template <std::floating_point T>
void do_implied_labels_grad(backend& ex, matrix<T const> implied, matrix<T const> edge, matrix<T const> of_x,
                            matrix<T const> of_y, matrix<T const> dresult, matrix<T> dx, matrix<T> dimplied) {
  parallel_rows(ex, dx.extent(0), 64, [&](index_t first, index_t count, int) {
    for (index_t a = first; a < first + count; ++a)
      for (index_t u = 0; u < dx.extent(1); ++u) dx(a, u) = dresult(a, u) * of_x(a, u);
  });
  bool const rows = implied.stride(1) == 1 && of_y.stride(1) == 1 && dresult.stride(1) == 1 && dimplied.stride(1) == 1;
  parallel_for(ex, implied.extent(0), [&](index_t r, int) {
    if constexpr (std::is_same_v<T, float>)
      if (rows) return detail::implied_labels_grad_of(r, implied, edge, of_y, dresult, dimplied);
    reference::detail::implied_labels_grad_of(r, implied, edge, of_y, dresult, dimplied);
  });
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
