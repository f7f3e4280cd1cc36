// Dot products of the vectors of both nodes of every edge, directly from their definition in ops/pair_product.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/ops/pair_product.hpp"
#include "triad/reference/backend.hpp"

namespace triad::TRIAD_REFERENCE {

template <class T>
void do_pair_product(backend&, graph_batch const& g, matrix<T const> a, matrix<T const> b, vec<T> y) {
  for (index_t graph = 0; graph < g.dims.graphs; ++graph)
    for (index_t n = g.size(graph), i = 0; i < n; ++i)
      for (index_t j = 0; j < n; ++j) {
        T sum = 0;
        for (index_t f = 0; f < a.extent(1); ++f) sum += a(g.node_begin(graph) + i, f) * b(g.node_begin(graph) + j, f);
        y(g.edge_begin(graph) + i * n + j) = sum;
      }
}

template <class T>
void do_pair_product_grad(backend&, graph_batch const& g, matrix<T const> a, matrix<T const> b, vec<T const> dy,
                          matrix<T> da, matrix<T> db) {
  for (index_t r = 0; r < da.extent(0); ++r)
    for (index_t f = 0; f < da.extent(1); ++f) da(r, f) = db(r, f) = T(0);
  for (index_t graph = 0; graph < g.dims.graphs; ++graph)
    for (index_t n = g.size(graph), i = 0; i < n; ++i)
      for (index_t j = 0; j < n; ++j) {
        index_t const from = g.node_begin(graph) + i, to = g.node_begin(graph) + j;
        T const d = dy(g.edge_begin(graph) + i * n + j);
        for (index_t f = 0; f < a.extent(1); ++f) {
          da(from, f) += d * b(to, f);
          db(to, f) += d * a(from, f);
        }
      }
}

}  // namespace triad::TRIAD_REFERENCE
