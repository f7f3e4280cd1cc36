// Triangular attention on the host: float, any number of nodes, heads and channels; the reference serves other types
// and the flat form.
// SPDX-License-Identifier: Apache-2.0
//
//   graphs of a few nodes   one task a graph or head          triangle/small.hpp
//   others, forward         one task a head and tile of j     triangle/tiled_forward.hpp
//           backward        one task a head and block of l    triangle/tiled_backward.hpp
//
// Every output has one owner and one order of summation, so results do not depend on the number of threads.  Dropout
// bits of the whole call are made first, since tasks share blocks of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>

#include "triad/cpu/backend.hpp"
#include "triad/cpu/triangle/small.hpp"
#include "triad/cpu/triangle/tasks.hpp"
#include "triad/cpu/triangle/tiled_backward.hpp"
#include "triad/cpu/triangle/tiled_forward.hpp"
#include "triad/ops/triangle.hpp"
#include "triad/reference/triangle.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

template <std::same_as<float> T>
std::size_t do_triangle_workspace(backend& ex, triangle_options const& options, triangle_projections<T const> const& x,
                                  graph_dims const& dims) {
  return triangles::forward_parts(ex, options, x.query.extent(1) / options.heads, dims, nullptr).bytes;
}

template <std::same_as<float> T>
std::size_t do_triangle_grad_workspace(backend& ex, triangle_options const& options,
                                       triangle_projections<T const> const& x, graph_dims const& dims) {
  return triangles::backward_parts(ex, options, x.query.extent(1) / options.heads, dims, nullptr).bytes;
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
    auto const make = [&](index_t graph, index_t c) {
      return triangles::make_head(options, x, g, graph, c, statistics.maximum.stride(0), scratch.bits);
    };
    auto const fetch = [&](index_t first, index_t count) {
      triangles::prefetch<false>(x.query, first, count);
      triangles::prefetch<false>(x.key, first, count);
      triangles::prefetch<false>(x.left_value, first, count);
      if constexpr (right_value()) triangles::prefetch<false>(x.right_value, first, count);
      triangles::prefetch<true>(o, first, count);
    };
    triangles::each_small(
        ex, options.heads, g, triangles::whole_graph, 5 * options.heads * width * 4,
        [&](index_t graph, index_t c, int thread) {
          auto const edge = g.edge_begin(graph);
          triangles::small_forward<own_key(), right_value()>(
              make(graph, c), triangles::head_rows(o, edge, c, width), &statistics.maximum(edge, c),
              &statistics.inverse_sum(edge, c), scratch.threads + thread * scratch.each);
        },
        fetch);
    if (triangles::is_small(g.dims.max_nodes)) return;
    auto const tiles = [](index_t n) { return (n + triangles::tile - 1) / triangles::tile; };
    triangles::each_tiled(
        ex, g, 0, g.dims.graphs, scratch.first_task, [&](index_t n) { return options.heads * tiles(n); },
        [&](index_t graph, index_t task, int thread) {
          auto const edge = g.edge_begin(graph), n = g.size(graph), c = task / tiles(n),
                     j0 = task % tiles(n) * triangles::tile;
          auto const columns = std::min<index_t>(triangles::tile, n - j0);
          auto const run = [&](auto vectors) {
            triangles::tiled_forward<own_key(), right_value(), vectors()>(
                make(graph, c), j0, columns, triangles::head_rows(o, edge, c, width), &statistics.maximum(edge, c),
                &statistics.inverse_sum(edge, c), scratch.threads + thread * scratch.each);
          };
          if (columns > simd::lanes) {
            run(triangles::size<2>());
          } else {
            run(triangles::size<1>());
          }
        });
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
  auto const scratch = triangles::backward_parts(ex, options, width, g.dims, ws.data);
  triangles::make_bits(ex, options, g.dims, scratch.bits);
  with_triangle_form(options.form, [&](auto own_key, auto right_value) {
    auto const make = [&](index_t graph, index_t c) {
      return triangles::make_head(options, x, g, graph, c, statistics.maximum.stride(0), scratch.bits);
    };
    auto const fetch = [&](index_t first, index_t count) {
      triangles::prefetch<false>(x.query, first, count);
      triangles::prefetch<false>(x.key, first, count);
      triangles::prefetch<false>(x.left_value, first, count);
      if constexpr (right_value()) triangles::prefetch<false>(x.right_value, first, count);
      triangles::prefetch<false>(o, first, count);
      triangles::prefetch<false>(d_o, first, count);
      triangles::prefetch<true>(dx.query, first, count);
      triangles::prefetch<true>(dx.key, first, count);
      triangles::prefetch<true>(dx.left_value, first, count);
      if constexpr (right_value()) triangles::prefetch<true>(dx.right_value, first, count);
    };
    // Own keys gather from every l: no block of l owns them, so a task takes all of a head.
    index_t const limit = own_key() ? g.dims.max_nodes : triangles::whole_graph;
    triangles::each_small(
        ex, options.heads, g, limit, 10 * options.heads * width * 4,
        [&](index_t graph, index_t c, int thread) {
          auto const edge = g.edge_begin(graph);
          auto const at = [&](auto m) { return triangles::head_rows(m, edge, c, width); };
          triangles::small_backward<own_key(), right_value()>(
              make(graph, c), at(o), at(d_o), &statistics.maximum(edge, c), &statistics.inverse_sum(edge, c),
              at(dx.query), at(dx.key), at(dx.left_value),
              right_value() ? at(dx.right_value) : triangles::out_rows{nullptr, 0},
              scratch.threads + thread * scratch.each);
        },
        fetch);
    if constexpr (!own_key()) {
      if (triangles::is_small(g.dims.max_nodes)) return;
      auto const rows = scratch.statistics_rows;
      triangles::gather_statistics(ex, options.heads, width, statistics, o, d_o, rows, scratch.statistics);
      auto const size_of = [&](index_t graph) { return triangles::backward_tiles{g.size(graph), width}; };
      auto const blocks = [&](index_t n) {
        return (n + triangles::backward_tiles{n, width}.block() - 1) / triangles::backward_tiles{n, width}.block();
      };
      triangles::each_portion(
          options.heads, width, g, scratch.gradients_room,
          [&](index_t first, index_t last, index_t first_head, index_t heads) {
            index_t place = 0;
            for (index_t graph = first; graph < last; ++graph) {
              scratch.first_gradient[graph] = place;
              if (!triangles::is_small(g.size(graph))) place += heads * size_of(graph).gradients();
            }
            auto const packed = [&](index_t graph, index_t c) {
              return scratch.gradients + scratch.first_gradient[graph] + (c - first_head) * size_of(graph).gradients();
            };
            // Heads innermost: rows that one head brings into the cache are there for the next.
            triangles::each_tiled(
                ex, g, first, last, scratch.first_task,
                [&](index_t n) { return heads * triangles::backward_tiles{n, width}.row_blocks(); },
                [&](index_t graph, index_t task, int) {
                  auto const c = first_head + task % heads;
                  triangles::pack_gradient(size_of(graph), triangles::head_rows(d_o, g.edge_begin(graph), c, width),
                                           task / heads, packed(graph, c));
                });
            triangles::each_tiled(
                ex, g, first, last, scratch.first_task, [&](index_t n) { return heads * blocks(n); },
                [&](index_t graph, index_t task, int thread) {
                  auto const edge = g.edge_begin(graph), n = g.size(graph), c = first_head + task / blocks(n),
                             block = size_of(graph).block(), l0 = task % blocks(n) * block;
                  auto const at = [&](auto m) { return triangles::head_rows(m, edge, c, width); };
                  float const* const s = scratch.statistics + c * rows + edge;
                  auto const head_here = make(graph, c);
                  triangles::backward_block<right_value()> work(
                      head_here, {s, s + options.heads * rows, s + 2 * options.heads * rows}, packed(graph, c),
                      at(dx.query), at(dx.key), at(dx.left_value),
                      right_value() ? at(dx.right_value) : triangles::out_rows{nullptr, 0}, l0, std::min(block, n - l0),
                      scratch.threads + thread * scratch.each);
                  work.run();
                });
          });
    }
  });
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
