// One step of causal triangular attention, directly from its definition in ops/triangle_step.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "triad/ops/triangle_step.hpp"
#include "triad/reference/backend.hpp"

namespace triad::TRIAD_REFERENCE {

template <class T>
std::size_t do_triangle_step_workspace(backend&, index_t, edge_shells const&, matrix<T> const&) {
  return 0;
}

template <class T>
void do_triangle_step(backend&, triangle_form form, index_t heads, triangle_projections<T const> const& x,
                      edge_shells const& at, shell_edges wanted, matrix<T> o, workspace) {
  index_t const width = o.extent(1) / heads;
  for (index_t r = 0; r < o.extent(0); ++r) {
    shell_edge const e = at.edge(wanted, r);
    shell_graph const g = at.graph(e.slot);
    index_t const i = e.i, j = e.j, n = g.nodes;
    for (index_t c = 0; c < heads; ++c) {
      auto const score = [&](index_t l) {
        index_t const q = g.row(i, l), k = uses_own_key(form) ? g.row(i, j) : g.row(l, j);
        T dot = 0;
        for (index_t f = c * width; f < (c + 1) * width; ++f) dot += x.query(q, f) * x.key(k, f);
        return dot / std::sqrt(T(width));
      };
      T maximum = score(0), sum = 0;
      for (index_t l = 1; l < n; ++l) {
        T const s = score(l);
        maximum = s > maximum ? s : maximum;
      }
      for (index_t f = c * width; f < (c + 1) * width; ++f) o(r, f) = T(0);
      for (index_t l = 0; l < n; ++l) {
        index_t const left = g.row(i, l), right = g.row(l, j);
        T const p = std::exp(score(l) - maximum);
        sum += p;
        for (index_t f = c * width; f < (c + 1) * width; ++f)
          o(r, f) +=
              p * (uses_right_value(form) ? x.left_value(left, f) * x.right_value(right, f) : x.left_value(left, f));
      }
      for (index_t f = c * width; f < (c + 1) * width; ++f) o(r, f) /= sum;
    }
  }
}

}  // namespace triad::TRIAD_REFERENCE
