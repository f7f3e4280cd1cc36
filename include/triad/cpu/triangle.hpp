// Triangular attention on the host: float, any number of nodes, heads and channels; the reference serves other types and the flat form.
// SPDX-License-Identifier: Apache-2.0
//
// A task is one graph and head (all heads of a graph where there are many graphs).  Every output has one owner and one order of
// summation, so results do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <cmath>

#include "triad/cpu/backend.hpp"
#include "triad/cpu/triangle_small.hpp"
#include "triad/reference/triangle.hpp"

namespace triad::cpu {

namespace triangles {

/// Floats from one thread's scratch to the next one's.
inline index_t scratch_floats(triangle_settings const& t, graph_dims const& dims, index_t kernel) {
  auto const n = dims.max_nodes;
  return simd::padded(kernel) + (t.dropout.active() ? 2 * ((bit_words(n * n * n) + 7) / 8 * 8) : 0);
}

/// Kernels read rows with a stride of one.
inline bool rows_are_contiguous(triangle_form form, triangle_projections<float const> const& x) {
  return x.query.stride(1) == 1 && x.key.stride(1) == 1 && x.left_value.stride(1) == 1 &&
         (!uses_right_value(form) || x.right_value.stride(1) == 1);
}

template <class T>
rows<T> head_rows(matrix<T> m, index_t first_edge, index_t head, index_t width) {
  return {m.data_handle() + first_edge * m.stride(0) + head * width, m.stride(0)};
}

inline head make_head(triangle_settings const& t, triangle_projections<float const> const& x, graph_batch const& g, index_t graph, index_t c,
                      index_t stat_stride, std::uint64_t* bits) {
  auto const n = g.size(graph), width = x.query.extent(1) / t.heads, edge = g.edge(graph);
  head h{n, width, head_rows(x.query, edge, c, width), head_rows(x.key, edge, c, width), head_rows(x.left_value, edge, c, width), {nullptr, 0},
         1 / std::sqrt(static_cast<float>(width)), nullptr, static_cast<float>(t.mask.fill), nullptr, 0, 1, stat_stride};
  if (uses_right_value(t.form)) h.right = head_rows(x.right_value, edge, c, width);
  if (!t.mask.empty()) h.masked = t.mask.masked.data_handle() + g.triangle(graph);
  if (t.dropout.active()) {
    auto const first = g.triangle(graph) * t.heads + c * n * n * n;
    h.first = make_bits(keep_source(t.dropout), static_cast<std::uint64_t>(first), n * n * n, bits);
    h.bits = bits;
    h.kept = static_cast<float>(t.dropout.scale());
  }
  return h;
}

/// Calls f(own_key, right_value) with the form as compile-time constants.
template <class F>
void with_form(triangle_form form, F&& f) {
  switch (form) {
    case triangle_form::full: return f(std::false_type(), std::true_type());
    case triangle_form::value_ablation: return f(std::false_type(), std::false_type());
    case triangle_form::attention_ablation: return f(std::true_type(), std::true_type());
    case triangle_form::both_ablations: return f(std::true_type(), std::false_type());
    case triangle_form::flat: return;
  }
}

/// Asks for the rows of one matrix: `Write` where they will be overwritten.
template <bool Write, class T>
void prefetch(matrix<T> m, index_t first, index_t count) {
  for (index_t r = first; r < first + count; ++r) {
    auto const* const row = reinterpret_cast<char const*>(m.data_handle() + r * m.stride(0));
    for (index_t byte = 0; byte < m.extent(1) * 4; byte += 64) __builtin_prefetch(row + byte, Write, 2);
  }
}

/// Calls f(graph, head, thread) in parallel.  Graphs come in runs; while one is computed, fetch(first row, rows) asks for the
/// rows of the next, since a head reads a part of every row and no hardware prefetcher follows that.
template <class F, class P>
void each_head(backend& ex, index_t heads, graph_batch const& g, index_t row_bytes, F&& f, P&& fetch) {
  index_t const graphs = g.dims.graphs, run = graphs >= 64 ? 8 : 1;
  if (graphs < 16) {
    parallel_for(ex, graphs * heads, [&](index_t task, int thread) { f(task / heads, task % heads, thread); });
    return;
  }
  // What fits in the second-level cache beside the graph that is computed.
  auto const near = [&](index_t graph) { return g.size(graph) * g.size(graph) * row_bytes <= 400000; };
  parallel_for(ex, (graphs + run - 1) / run, [&](index_t task, int thread) {
    index_t const first = task * run, last = std::min(graphs, first + run);
    if (near(first)) fetch(g.edge(first), g.size(first) * g.size(first));
    for (index_t graph = first; graph < last; ++graph)
      for (index_t c = 0; c < heads; ++c) {
        if (graph + 1 < last && near(graph + 1)) {
          auto const rows_there = g.size(graph + 1) * g.size(graph + 1), begin = rows_there * c / heads;
          fetch(g.edge(graph + 1) + begin, rows_there * (c + 1) / heads - begin);
        }
        f(graph, c, thread);
      }
  });
}

}  // namespace triangles

inline std::size_t do_triangle_workspace(backend& ex, triangle_settings const& t, triangle_projections<float const> const&, graph_dims const& dims) {
  auto const floats = triangles::scratch_floats(t, dims, triangles::small_forward_floats(dims.max_nodes));
  return static_cast<std::size_t>(floats * ex.threads) * sizeof(float);
}

inline std::size_t do_triangle_grad_workspace(backend& ex, triangle_settings const& t, triangle_projections<float const> const& x,
                                              graph_dims const& dims) {
  auto const floats = triangles::scratch_floats(t, dims, triangles::small_backward_floats(dims.max_nodes, x.query.extent(1) / t.heads));
  return static_cast<std::size_t>(floats * ex.threads) * sizeof(float);
}

inline void do_triangle(backend& ex, triangle_settings const& t, triangle_projections<float const> const& x, graph_batch const& g,
                        triangle_statistics<float> const& statistics, matrix<float> o, workspace ws) {
  if (t.form == triangle_form::flat || !triangles::rows_are_contiguous(t.form, x) || o.stride(1) != 1)
    return reference::do_triangle(ex, t, x, g, statistics, o, ws);
  auto const kernel = triangles::small_forward_floats(g.dims.max_nodes), each = triangles::scratch_floats(t, g.dims, kernel);
  auto const width = x.query.extent(1) / t.heads;
  triangles::with_form(t.form, [&](auto own_key, auto right_value) {
    auto const fetch = [&](index_t first, index_t count) {
      triangles::prefetch<false>(x.query, first, count);
      triangles::prefetch<false>(x.key, first, count);
      triangles::prefetch<false>(x.left_value, first, count);
      if constexpr (right_value()) triangles::prefetch<false>(x.right_value, first, count);
      triangles::prefetch<true>(o, first, count);
    };
    triangles::each_head(ex, t.heads, g, 5 * t.heads * width * 4, [&](index_t graph, index_t c, int thread) {
      float* const scratch = reinterpret_cast<float*>(ws.data) + thread * each;
      auto const x_head = triangles::make_head(t, x, g, graph, c, statistics.maximum.stride(0),
                                              reinterpret_cast<std::uint64_t*>(scratch + simd::padded(kernel)));
      auto const edge = g.edge(graph);
      triangles::small_forward<own_key(), right_value()>(x_head, triangles::head_rows(o, edge, c, width), &statistics.maximum(edge, c),
                                                        &statistics.inverse_sum(edge, c), scratch);
    }, fetch);
  });
}

inline void do_triangle_grad(backend& ex, triangle_settings const& t, triangle_projections<float const> const& x, graph_batch const& g,
                             triangle_statistics<float const> const& statistics, matrix<float const> o, matrix<float const> d_o,
                             triangle_projections<float> const& dx, workspace ws) {
  if (t.form == triangle_form::flat || !triangles::rows_are_contiguous(t.form, x) || o.stride(1) != 1 || d_o.stride(1) != 1)
    return reference::do_triangle_grad(ex, t, x, g, statistics, o, d_o, dx, ws);
  auto const width = x.query.extent(1) / t.heads;
  auto const kernel = triangles::small_backward_floats(g.dims.max_nodes, width), each = triangles::scratch_floats(t, g.dims, kernel);
  triangles::with_form(t.form, [&](auto own_key, auto right_value) {
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
    triangles::each_head(ex, t.heads, g, 10 * t.heads * width * 4, [&](index_t graph, index_t c, int thread) {
      float* const scratch = reinterpret_cast<float*>(ws.data) + thread * each;
      auto const x_head = triangles::make_head(t, x, g, graph, c, statistics.maximum.stride(0),
                                              reinterpret_cast<std::uint64_t*>(scratch + simd::padded(kernel)));
      auto const edge = g.edge(graph);
      auto const at = [&](auto m) { return triangles::head_rows(m, edge, c, width); };
      triangles::small_backward<own_key(), right_value()>(x_head, at(o), at(d_o), &statistics.maximum(edge, c), &statistics.inverse_sum(edge, c),
                                                         at(dx.query), at(dx.key), at(dx.left_value),
                                                         right_value() ? at(dx.right_value) : triangles::out_rows{nullptr, 0}, scratch);
    }, fetch);
  });
}

}  // namespace triad::cpu
