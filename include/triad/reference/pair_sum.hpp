// Sums of the vectors of both nodes of every edge, directly from their definition in ops/pair_sum.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/ops/pair_sum.hpp"
#include "triad/reference/backend.hpp"

namespace triad::TRIAD_REFERENCE {

/// Returns `value` after dropout.  `value` is element (r, f) of a matrix with d columns.
template <class T>
T after_dropout(dropout_mask const& dropout, index_t r, index_t f, index_t d, T value) {
  if (!dropout.active()) return value;
  return dropout.keeps(dropout_element(r, f, d)) ? T(dropout.scale()) * value : T(0);
}

template <class T>
void do_pair_sum(backend&, graph_batch const& g, matrix<T const> a, matrix<T const> b, dropout_mask dropout,
                 matrix<T const> residual, matrix<T> y) {
  index_t const d = y.extent(1);
  for (index_t graph = 0; graph < g.dims.graphs; ++graph)
    for (index_t n = g.size(graph), i = 0; i < n; ++i)
      for (index_t j = 0; j < n; ++j)
        for (index_t f = 0; f < d; ++f) {
          index_t const r = g.edge_begin(graph) + i * n + j;
          T const sum = a(g.node_begin(graph) + i, f) + b(g.node_begin(graph) + j, f);
          y(r, f) = (residual.extent(0) != 0 ? residual(r, f) : T(0)) + after_dropout(dropout, r, f, d, sum);
        }
}

template <class T>
void do_pair_sum_grad(backend&, graph_batch const& g, dropout_mask dropout, matrix<T const> dy, matrix<T> da,
                      matrix<T> db) {
  index_t const d = dy.extent(1);
  for (index_t r = 0; r < da.extent(0); ++r)
    for (index_t f = 0; f < d; ++f) da(r, f) = db(r, f) = T(0);
  for (index_t graph = 0; graph < g.dims.graphs; ++graph)
    for (index_t n = g.size(graph), i = 0; i < n; ++i)
      for (index_t j = 0; j < n; ++j)
        for (index_t f = 0; f < d; ++f) {
          index_t const r = g.edge_begin(graph) + i * n + j;
          T const dz = after_dropout(dropout, r, f, d, dy(r, f));
          da(g.node_begin(graph) + i, f) += dz;
          db(g.node_begin(graph) + j, f) += dz;
        }
}

}  // namespace triad::TRIAD_REFERENCE
