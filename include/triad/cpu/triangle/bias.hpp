// The bias of the scores in the tasks of triangular attention, and the sum of its gradient over shared axes.
// SPDX-License-Identifier: Apache-2.0
//
// A task computes one head of one graph, and in tiles only a block of its middle nodes.  It adds the gradients of its
// triangles over i and j, if these axes are shared.  If graphs, heads or middle nodes are shared, each task writes its
// sums to scratch memory, which has these axes.  Afterwards, sum_bias() adds them in a fixed order.
#pragma once

#include <algorithm>

#include "triad/cpu/backend.hpp"
#include "triad/cpu/triangle/small.hpp"
#include "triad/ops/triangle.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS::triangles {

/// The axes of the sums of all tasks.
constexpr triangle_bias_axes axes_of_tasks(triangle_bias_axes axes) {
  axes.graphs = axes.heads = axes.l = true;
  return axes;
}

/// Whether the sums of several tasks are added for one number of the gradient.
inline bool adds_tasks(triangle_bias<float> const& d_bias) {
  return !d_bias.empty() && axes_of_tasks(d_bias.axes) != d_bias.axes;
}

/// Where the tasks write their sums: to d_bias itself, or to `scratch`, which needs `floats` floats.
struct bias_of_tasks {
  triangle_bias<float> sums;
  index_t floats = 0;

  bias_of_tasks(triangle_bias<float> const& d_bias, index_t heads, graph_dims const& dims, float* scratch)
      : sums(d_bias) {
    if (!adds_tasks(d_bias)) return;
    auto const axes = axes_of_tasks(d_bias.axes);
    floats = axes.count(dims, heads);
    sums = {make_vec(scratch, floats), axes};
  }
};

/// Adds the sums of all tasks over the graphs, heads and middle nodes that share the bias.  One task computes the
/// numbers of one graph, head and source node.  The terms are added in the order of graphs, heads and middle nodes.
inline void sum_bias(backend& ex, graph_batch const& g, index_t heads, triangle_bias<float> const& of_tasks,
                     triangle_bias<float> const& d_bias) {
  auto const& axes = d_bias.axes;
  if (g.dims.graphs == 0) {
    std::fill_n(d_bias.values.data_handle(), d_bias.values.extent(0), 0.0f);
    return;
  }
  index_t const of_graphs = axes.graphs ? g.dims.graphs : 1, of_heads = axes.heads ? heads : 1,
                of_sources = axes.i ? g.dims.max_nodes : 1;
  parallel_for(ex, of_graphs * of_heads * of_sources, [&](index_t task, int) {
    index_t const i = task % of_sources, c = task / of_sources % of_heads, graph = task / of_sources / of_heads,
                  n = g.size(graph), columns = axes.j ? n : 1;
    if (i >= n) return;
    auto const to = d_bias.of_head(g, graph, c, heads);
    for (index_t l = 0; l < (axes.l ? n : 1); ++l) std::fill_n(&to.at(i, l, 0), columns, 0.0f);
    for (index_t other = 0; other < (axes.graphs ? 1 : g.dims.graphs); ++other)
      for (index_t e = 0; e < (axes.heads ? 1 : heads); ++e) {
        auto const from = of_tasks.of_head(g, graph + other, c + e, heads);
        for (index_t l = 0; l < n; ++l) {
          float* const sum = &to.at(i, l, 0);
          float const* const terms = &from.at(i, l, 0);
          simd::each_vector(columns, [&](index_t j, auto part) __attribute__((always_inline)) {
            part.store(sum + j, part.load(sum + j) + part.load(terms + j));
          });
        }
      }
  });
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS::triangles
