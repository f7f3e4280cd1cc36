// Triangular attention on the CPU in float, for any number of nodes, heads and channels.  The reference backend
// computes the flat form and other types.
// SPDX-License-Identifier: Apache-2.0
//
//   graphs of a few nodes   one task for each graph or head          triangle/small.hpp
//   others, forward         one task for each head and tile of j     triangle/tiled_forward.hpp
//           backward        one task for each head and block of l    triangle/tiled_backward.hpp
//
// Exactly one task computes each output, and its terms are added in a fixed order.  So results do not depend on the
// number of threads.  The dropout bits of the whole call are computed before the tasks, because several tasks read the
// same block of bits.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>

#include "triad/cpu/backend.hpp"
#include "triad/cpu/triangle/bias.hpp"
#include "triad/cpu/triangle/small.hpp"
#include "triad/cpu/triangle/tasks.hpp"
#include "triad/cpu/triangle/tiled_backward.hpp"
#include "triad/cpu/triangle/tiled_forward.hpp"
#include "triad/ops/triangle.hpp"
#include "triad/reference/triangle.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

namespace triangles {

/// The inputs and the scratch memory of one call.  Forward and backward both use this struct.
template <bool RightValue>
struct call_inputs {
  triangle_options const& options;
  triangle_projections<float const> const& x;
  graph_batch const& g;
  index_t width, statistics_stride;
  scratch_parts const& scratch;
  triangle_bias<float> d_bias{};  // backward: where tasks write the gradient of the bias

  auto head_of(index_t graph, index_t c) const {
    auto h = make_head(options, x, g, graph, c, statistics_stride, scratch.bits);
    h.d_bias = d_bias.of_head(g, graph, c, options.heads);
    return h;
  }
  /// Returns the rows of head c for the edges of a graph.
  template <class Matrix>
  auto rows_of_head(Matrix m, index_t graph, index_t c) const {
    return head_rows(m, g.edge_begin(graph), c, width);
  }
  float* memory(int thread) const { return scratch.threads + thread * scratch.each; }
  void prefetch_inputs(index_t first, index_t count) const {
    prefetch<false>(x.query, first, count);
    prefetch<false>(x.key, first, count);
    prefetch<false>(x.left_value, first, count);
    if constexpr (RightValue) prefetch<false>(x.right_value, first, count);
  }
};

template <bool OwnKey, bool RightValue>
struct forward_call {
  call_inputs<RightValue> in;
  triangle_statistics<float> const& statistics;
  matrix<float> o;

  void run(backend& ex) const {
    auto const& g = in.g;
    index_t const heads = in.options.heads;
    each_small(
        ex, heads, g, most_small_nodes(in.width), 5 * heads * in.width * 4,
        [&](index_t graph, index_t c, int thread) { small(graph, c, thread); },
        [&](index_t first, index_t count) {
          in.prefetch_inputs(first, count);
          prefetch<true>(o, first, count);
        });
    if (is_small(g.dims.max_nodes, in.width)) return;
    each_tiled(
        ex, in.width, g, 0, g.dims.graphs, in.scratch.first_task, [&](index_t n) { return heads * tiles(n); },
        [&](index_t graph, index_t task, int thread) {
          auto const of_head = tiles(g.size(graph));
          one_tile(graph, task / of_head, task % of_head * tile, thread);
        });
  }

 private:
  static index_t tiles(index_t n) { return (n + tile - 1) / tile; }

  void small(index_t graph, index_t c, int thread) const {
    auto const edge = in.g.edge_begin(graph);
    small_forward<OwnKey, RightValue>(in.head_of(graph, c), in.rows_of_head(o, graph, c), &statistics.maximum(edge, c),
                                      &statistics.inverse_sum(edge, c), in.memory(thread));
  }
  /// Computes the tile of a head that begins at column j0.
  void one_tile(index_t graph, index_t c, index_t j0, int thread) const {
    auto const columns = std::min<index_t>(tile, in.g.size(graph) - j0);
    if (columns > simd::lanes)
      vectors_of_columns<2>(graph, c, j0, columns, thread);
    else
      vectors_of_columns<1>(graph, c, j0, columns, thread);
  }
  template <int Vectors>
  void vectors_of_columns(index_t graph, index_t c, index_t j0, index_t columns, int thread) const {
    auto const edge = in.g.edge_begin(graph);
    tiled_forward<OwnKey, RightValue, Vectors>(in.head_of(graph, c), j0, columns, in.rows_of_head(o, graph, c),
                                               &statistics.maximum(edge, c), &statistics.inverse_sum(edge, c),
                                               in.memory(thread));
  }
};

template <bool OwnKey, bool RightValue>
struct backward_call {
  call_inputs<RightValue> in;
  triangle_statistics<float const> const& statistics;
  matrix<float const> o, d_o;
  triangle_projections<float> const& dx;

  void run(backend& ex) const {
    auto const& g = in.g;
    index_t const heads = in.options.heads;
    // With OwnKey, the gradient of a key is a sum over all l.  Tasks for different blocks of l would write to the same
    // gradients, so one task computes a whole head.
    index_t const limit = OwnKey ? g.dims.max_nodes : most_small_nodes(in.width);
    each_small(
        ex, heads, g, limit, 10 * heads * in.width * 4,
        [&](index_t graph, index_t c, int thread) { small(graph, c, thread); },
        [&](index_t first, index_t count) { prefetch_all(first, count); });
    if constexpr (!OwnKey) {
      if (is_small(g.dims.max_nodes, in.width)) return;
      gather_statistics(ex, heads, in.width, statistics, o, d_o, in.scratch.statistics_rows, in.scratch.statistics);
      each_portion(heads, in.width, g, in.scratch.gradients_room,
                   [&](index_t first, index_t last, index_t first_head, index_t count) {
                     portion(ex, first, last, first_head, count);
                   });
    }
  }

 private:
  auto tiles(index_t graph) const { return backward_tiles{in.g.size(graph), in.width}; }
  /// The number of blocks of middle nodes in a graph of n nodes.
  index_t blocks(index_t n) const {
    auto const size = backward_tiles{n, in.width}.block();
    return (n + size - 1) / size;
  }
  /// Returns the address of the packed `do` of one head of a graph.  c is the number of the head within the portion.
  float* packed(index_t graph, index_t c) const {
    return in.scratch.gradients + in.scratch.first_gradient[graph] + c * tiles(graph).gradients();
  }
  out_rows right_gradient(index_t graph, index_t c) const {
    return RightValue ? in.rows_of_head(dx.right_value, graph, c) : out_rows{nullptr, 0};
  }

  void prefetch_all(index_t first, index_t count) const {
    in.prefetch_inputs(first, count);
    prefetch<false>(o, first, count);
    prefetch<false>(d_o, first, count);
    prefetch<true>(dx.query, first, count);
    prefetch<true>(dx.key, first, count);
    prefetch<true>(dx.left_value, first, count);
    if constexpr (RightValue) prefetch<true>(dx.right_value, first, count);
  }
  void small(index_t graph, index_t c, int thread) const {
    auto const edge = in.g.edge_begin(graph);
    small_backward<OwnKey, RightValue>(in.head_of(graph, c), in.rows_of_head(o, graph, c),
                                       in.rows_of_head(d_o, graph, c), &statistics.maximum(edge, c),
                                       &statistics.inverse_sum(edge, c), in.rows_of_head(dx.query, graph, c),
                                       in.rows_of_head(dx.key, graph, c), in.rows_of_head(dx.left_value, graph, c),
                                       right_gradient(graph, c), in.memory(thread));
  }
  /// Computes the gradients of the graphs [first, last) and the heads [first_head, first_head + heads).  The first loop
  /// packs `do`, the gradients of o.  The second loop computes the blocks of middle nodes.
  void portion(backend& ex, index_t first, index_t last, index_t first_head, index_t heads) const {
    auto const& g = in.g;
    index_t place = 0;
    for (index_t graph = first; graph < last; ++graph) {
      in.scratch.first_gradient[graph] = place;
      if (!is_small(g.size(graph), in.width)) place += heads * tiles(graph).gradients();
    }
    // Successive tasks read the same rows for different heads, because the rows that one head reads are then still in
    // the cache for the next head.
    each_tiled(
        ex, in.width, g, first, last, in.scratch.first_task,
        [&](index_t n) { return heads * backward_tiles{n, in.width}.row_blocks(); },
        [&](index_t graph, index_t task, int) {
          auto const c = task % heads;
          pack_gradient(tiles(graph), in.rows_of_head(d_o, graph, first_head + c), task / heads, packed(graph, c));
        });
    each_tiled(
        ex, in.width, g, first, last, in.scratch.first_task, [&](index_t n) { return heads * blocks(n); },
        [&](index_t graph, index_t task, int thread) {
          auto const of_head = blocks(g.size(graph));
          one_block(graph, first_head, task / of_head, task % of_head, thread);
        });
  }
  /// Computes block number `block` of the middle nodes for head first_head + c.
  void one_block(index_t graph, index_t first_head, index_t c, index_t block, int thread) const {
    auto const n = in.g.size(graph), size = tiles(graph).block(), l0 = block * size, number = first_head + c,
               line = in.scratch.statistics_rows, all = in.options.heads * line;
    float const* const s = in.scratch.statistics + number * line + in.g.edge_begin(graph);
    auto const here = in.head_of(graph, number);
    backward_block<RightValue> work(here, {s, s + all, s + 2 * all}, packed(graph, c),
                                    in.rows_of_head(dx.query, graph, number), in.rows_of_head(dx.key, graph, number),
                                    in.rows_of_head(dx.left_value, graph, number), right_gradient(graph, number), l0,
                                    std::min(size, n - l0), in.memory(thread));
    work.run();
  }
};

}  // namespace triangles

template <std::same_as<float> T>
std::size_t do_triangle_workspace(backend& ex, triangle_options const& options, triangle_projections<T const> const& x,
                                  graph_dims const& dims) {
  return triangles::forward_parts(ex, options, x.query.extent(1) / options.heads, dims, nullptr).bytes;
}

template <std::same_as<float> T>
std::size_t do_triangle_grad_workspace(backend& ex, triangle_options const& options,
                                       triangle_projections<T const> const& x, triangle_projections<T> const& dx,
                                       graph_dims const& dims) {
  return triangles::backward_parts(ex, options, x.query.extent(1) / options.heads, dims, dx.bias, nullptr).bytes;
}

template <std::same_as<float> T>
void do_triangle(backend& ex, triangle_options const& options, triangle_projections<T const> const& x,
                 graph_batch const& g, triangle_statistics<T> const& statistics, matrix<T> o, workspace ws) {
  if (options.form == triangle_form::flat || !triangles::rows_are_contiguous(options.form, x) ||
      !triangles::rows_are_alike(statistics) || o.stride(1) != 1)
    return reference::do_triangle(ex, options, x, g, statistics, o, ws);
  triangles::expect_measured(g);
  auto const width = x.query.extent(1) / options.heads;
  auto const scratch = triangles::forward_parts(ex, options, width, g.dims, ws.data);
  triangles::make_bits(ex, options, g.dims, scratch.bits);
  with_triangle_form(options.form, [&](auto own_key, auto right_value) {
    triangles::forward_call<own_key(), right_value()> const call{
        {options, x, g, width, statistics.maximum.stride(0), scratch}, statistics, o};
    call.run(ex);
  });
}

template <std::same_as<float> T>
void do_triangle_grad(backend& ex, triangle_options const& options, triangle_projections<T const> const& x,
                      graph_batch const& g, triangle_statistics<T const> const& statistics, matrix<T const> o,
                      matrix<T const> d_o, triangle_projections<T> const& dx, workspace ws) {
  if (options.form == triangle_form::flat || !triangles::rows_are_contiguous(options.form, x) ||
      !triangles::rows_are_contiguous(options.form, dx) || !triangles::rows_are_alike(statistics) || o.stride(1) != 1 ||
      d_o.stride(1) != 1)
    return reference::do_triangle_grad(ex, options, x, g, statistics, o, d_o, dx, ws);
  triangles::expect_measured(g);
  auto const width = x.query.extent(1) / options.heads;
  auto const scratch = triangles::backward_parts(ex, options, width, g.dims, dx.bias, ws.data);
  triangles::make_bits(ex, options, g.dims, scratch.bits);
  auto const d_bias = triangles::bias_of_tasks(dx.bias, options.heads, g.dims, scratch.bias).sums;
  with_triangle_form(options.form, [&](auto own_key, auto right_value) {
    triangles::backward_call<own_key(), right_value()> const call{
        {options, x, g, width, statistics.maximum.stride(0), scratch, d_bias}, statistics, o, d_o, dx};
    call.run(ex);
  });
  if (triangles::adds_tasks(dx.bias)) triangles::sum_bias(ex, g, options.heads, d_bias, dx.bias);
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
