// Dot products of the vectors of both nodes of every edge.  Graphs are computed in parallel, with one matrix product
// each.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>

#include "triad/core/views.hpp"
#include "triad/cpu/matmul.hpp"
#include "triad/reference/pair_product.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

template <std::floating_point T>
void do_pair_product(backend& ex, graph_batch const& g, matrix<T const> a, matrix<T const> b, vec<T> y) {
  parallel_for(ex, g.dims.graphs, [&](index_t graph, int) {
    backend one(1);
    index_t const n = g.size(graph), node = g.node_begin(graph);
    do_matmul(one, row_block(a, node, n), matrix<T const>(transposed(row_block(b, node, n))),
              make_matrix(y.data_handle() + g.edge_begin(graph), n, n, n), false, epilogue<T>{});
  });
}

template <std::floating_point T>
void do_pair_product_grad(backend& ex, graph_batch const& g, matrix<T const> a, matrix<T const> b, vec<T const> dy,
                          matrix<T> da, matrix<T> db) {
  parallel_for(ex, g.dims.graphs, [&](index_t graph, int) {
    backend one(1);
    index_t const n = g.size(graph), node = g.node_begin(graph);
    matrix<T const> const d = make_matrix(dy.data_handle() + g.edge_begin(graph), n, n, n);
    do_matmul(one, d, row_block(b, node, n), row_block(da, node, n), false, epilogue<T>{});
    do_matmul(one, matrix<T const>(transposed(d)), row_block(a, node, n), row_block(db, node, n), false, epilogue<T>{});
  });
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
