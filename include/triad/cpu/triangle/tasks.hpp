// Divides a call of triangular attention into tasks, and plans the scratch memory of the call.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "triad/cpu/backend.hpp"
#include "triad/cpu/kernels/random.hpp"
#include "triad/cpu/triangle/bias.hpp"
#include "triad/cpu/triangle/small.hpp"
#include "triad/cpu/triangle/tiled_backward.hpp"
#include "triad/cpu/triangle/tiled_forward.hpp"
#include "triad/reference/triangle.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

namespace triangles {

/// Whether the elements of each row are contiguous in memory, which the kernels need.
template <class S>
bool rows_are_contiguous(triangle_form form, triangle_projections<S> const& x) {
  return x.query.stride(1) == 1 && x.key.stride(1) == 1 && x.left_value.stride(1) == 1 &&
         (!uses_right_value(form) || x.right_value.stride(1) == 1);
}

/// Whether the rows of both statistics have the same stride.
template <class S>
bool rows_are_alike(triangle_statistics<S> const& s) {
  return s.maximum.stride(0) == s.inverse_sum.stride(0);
}

template <class T>
rows<T> head_rows(matrix<T> m, index_t first_edge, index_t head, index_t width) {
  return {m.data_handle() + first_edge * m.stride(0) + head * width, m.stride(0)};
}

/// The parts of the scratch memory of one call.  If `base` is null, only the size is computed.
struct scratch_parts {
  index_t* first_task;      // (graphs + 1): the number of tasks of tiled graphs before each graph
  std::uint64_t* bits;      // dropout: bit e for element e
  float* statistics;        // backward of tiled graphs: [maximum, 1 / sum, delta][head][rows + tile]
  index_t statistics_rows;  // rows + tile, rounded up
  index_t* first_gradient;  // backward of tiled graphs: where `do` of each graph begins in `gradients`
  float* gradients;         // `do` of some graphs and heads, packed
  index_t gradients_room;
  float* bias;     // backward: the sums of all tasks for the gradient of the bias
  float* threads;  // `each` floats for each thread
  index_t each;
  std::size_t bytes;

  scratch_parts(std::byte* base, triangle_options const& options, index_t width, graph_dims const& dims,
                index_t floats_of_thread, int thread_count, bool backward, index_t floats_of_gradients,
                index_t floats_of_bias) {
    bytes = 0;
    auto const take = [&](index_t size_in_bytes) {
      auto* const part = base == nullptr ? nullptr : base + bytes;
      bytes += static_cast<std::size_t>((size_in_bytes + 63) / 64 * 64);
      return part;
    };
    bool const tiled = !is_small(dims.max_nodes, width);
    first_task = reinterpret_cast<index_t*>(take((dims.graphs + 1) * 8));
    bits = reinterpret_cast<std::uint64_t*>(take(options.dropout.active() ? words(options, dims) * 8 + 64 : 0));
    statistics_rows = (dims.rows + tile + 15) / 16 * 16;
    statistics = reinterpret_cast<float*>(take(tiled && backward ? 3 * options.heads * statistics_rows * 4 : 0));
    first_gradient = reinterpret_cast<index_t*>(take(floats_of_gradients > 0 ? dims.graphs * 8 : 0));
    gradients = reinterpret_cast<float*>(take(floats_of_gradients * 4));
    gradients_room = floats_of_gradients;
    bias = reinterpret_cast<float*>(take(floats_of_bias * 4));
    each = (floats_of_thread + 15) / 16 * 16;
    threads = reinterpret_cast<float*>(take(each * thread_count * 4));
  }

  static index_t words(triangle_options const& options, graph_dims const& dims) {
    return (dims.triangles * options.heads + dropout_block - 1) / dropout_block;
  }
};

inline scratch_parts forward_parts(backend& ex, triangle_options const& options, index_t width, graph_dims const& dims,
                                   std::byte* base) {
  auto const n = dims.max_nodes;
  auto floats_wanted = small_forward_floats(std::min(n, whole_graph), width);
  if (!is_small(n, width)) floats_wanted = std::max(floats_wanted, forward_tiles{n, width}.floats());
  return {base, options, width, dims, floats_wanted, ex.threads, false, 0, 0};
}

/// The largest number of floats of `do`, the gradient of o, that backward packs at once, for several graphs and heads.
/// If a single head has more floats, backward packs one head at a time.
inline constexpr index_t packed_budget = 1 << 22;

inline index_t packed_floats(triangle_options const& options, index_t width, graph_dims const& dims) {
  if (is_small(dims.max_nodes, width) || uses_own_key(options.form)) return 0;
  backward_tiles const largest{dims.max_nodes, width};
  auto const most = largest.gradients() * options.heads * dims.graphs;
  return std::min(most, std::max(largest.gradients(), packed_budget));
}

inline scratch_parts backward_parts(backend& ex, triangle_options const& options, index_t width, graph_dims const& dims,
                                    triangle_bias<float> const& d_bias, std::byte* base) {
  auto const n = dims.max_nodes;
  auto floats_wanted = small_backward_floats(uses_own_key(options.form) ? n : std::min(n, whole_graph), width);
  if (!is_small(n, width)) {
    floats_wanted = std::max(floats_wanted, backward_tiles{n, width}.most_floats());
    floats_wanted = std::max(floats_wanted, small_backward_floats(whole_graph, width));
  }
  return {base,
          options,
          width,
          dims,
          floats_wanted,
          ex.threads,
          true,
          packed_floats(options, width, dims),
          bias_of_tasks(d_bias, options.heads, dims, nullptr).floats};
}

inline void make_bits(backend& ex, triangle_options const& options, graph_dims const& dims, std::uint64_t* bits) {
  if (!options.dropout.active()) return;
  keep_source const keep(options.dropout);
  parallel_rows(ex, scratch_parts::words(options, dims), 512, [=](index_t first, index_t count, int) {
    for (index_t w = first; w < first + count; ++w) bits[w] = keep.bits(static_cast<std::uint64_t>(w));
  });
}

/// `first_row` is the number of the edge in row 0 of x.
inline head make_head(triangle_options const& options, triangle_projections<float const> const& x, graph_batch const& g,
                      index_t graph, index_t c, index_t stat_stride, std::uint64_t const* bits, index_t first_row = 0) {
  auto const n = g.size(graph), width = x.query.extent(1) / options.heads, edge = g.edge_begin(graph) - first_row;
  head h{n,
         width,
         head_rows(x.query, edge, c, width),
         head_rows(x.key, edge, c, width),
         head_rows(x.left_value, edge, c, width),
         {nullptr, 0},
         1 / std::sqrt(static_cast<float>(width)),
         nullptr,
         static_cast<float>(options.mask.fill),
         nullptr,
         0,
         1,
         stat_stride,
         options.causal() ? options.sources(graph) : n};
  h.bias = x.bias.of_head(g, graph, c, options.heads);
  if (uses_right_value(options.form)) h.right = head_rows(x.right_value, edge, c, width);
  if (!options.mask.empty()) h.masked = options.mask.masked.data_handle() + g.triangle_begin(graph);
  if (options.dropout.active()) {
    h.first = static_cast<std::uint64_t>(g.triangle_begin(graph) * options.heads + c * n * n * n);
    h.bits = bits;
    h.kept = static_cast<float>(options.dropout.scale());
  }
  return h;
}

/// Prefetches the rows [first, first + count) of a matrix.  If Write is true, prefetches them for writing.
template <bool Write, class T>
void prefetch(matrix<T> m, index_t first, index_t count) {
  for (index_t r = first; r < first + count; ++r) {
    auto const* const row = reinterpret_cast<char const*>(m.data_handle() + r * m.stride(0));
    for (index_t byte = 0; byte < m.extent(1) * 4; byte += 64) __builtin_prefetch(row + byte, Write, 2);
  }
}

/// Calls f(graph, head, thread) in parallel for the graphs of 1 to `limit` nodes.  A task computes one graph or a
/// few successive graphs, or one head if there are few graphs.  While one graph is computed, fetch(first row, rows)
/// prefetches the rows of the next graph.  The hardware does not prefetch these rows, because a head reads only a part
/// of each row.
template <class F, class P>
void each_small(backend& ex, index_t heads, graph_batch const& g, index_t limit, index_t row_bytes, F&& f, P&& fetch) {
  index_t const graphs = g.dims.graphs, run = graphs >= 64 ? 8 : 1;
  auto const is_computed = [&](index_t graph) { return g.size(graph) > 0 && g.size(graph) <= limit; };
  if (graphs < 16) {
    parallel_for(ex, graphs * heads, [&](index_t task, int thread) {
      if (is_computed(task / heads)) f(task / heads, task % heads, thread);
    });
    return;
  }
  // Whether a graph fits into the second-level cache together with the graph that is being computed.
  auto const near = [&](index_t graph) { return g.size(graph) * g.size(graph) * row_bytes <= 400000; };
  parallel_for(ex, (graphs + run - 1) / run, [&](index_t task, int thread) {
    index_t const first = task * run, last = std::min(graphs, first + run);
    if (near(first)) fetch(g.edge_begin(first), g.size(first) * g.size(first));
    for (index_t graph = first; graph < last; ++graph)
      for (index_t c = 0; c < heads; ++c) {
        if (graph + 1 < last && near(graph + 1)) {
          auto const rows_there = g.size(graph + 1) * g.size(graph + 1), begin = rows_there * c / heads;
          fetch(g.edge_begin(graph + 1) + begin, rows_there * (c + 1) / heads - begin);
        }
        if (is_computed(graph)) f(graph, c, thread);
      }
  });
}

/// Calls f(graph, task, thread) in parallel for each graph in [first, last) that is not small, and for each `task`
/// below tasks(n), where n is the number of nodes of the graph.  `width` is the width of a head.
template <class N, class F>
void each_tiled(backend& ex, index_t width, graph_batch const& g, index_t first, index_t last, index_t* first_task,
                N&& tasks, F&& f) {
  first_task[first] = 0;
  for (index_t graph = first; graph < last; ++graph)
    first_task[graph + 1] = first_task[graph] + (is_small(g.size(graph), width) ? 0 : tasks(g.size(graph)));
  parallel_for(ex, first_task[last], [&](index_t task, int thread) {
    auto const graph = std::upper_bound(first_task + first, first_task + last + 1, task) - first_task - 1;
    f(graph, task - first_task[graph], thread);
  });
}

/// Divides all graphs and heads into portions, so that the packed `do` of a portion fits into `room` floats.  A portion
/// is a run of graphs with all heads, or one graph with some heads.  Calls f(first, last, first_head, heads) for each
/// portion.
template <class F>
void each_portion(index_t heads, index_t width, graph_batch const& g, index_t room, F&& f) {
  auto const floats_of = [&](index_t graph) {
    return is_small(g.size(graph), width) ? 0 : backward_tiles{g.size(graph), width}.gradients();
  };
  for (index_t first = 0; first < g.dims.graphs;) {
    index_t last = first, sum = 0;
    while (last < g.dims.graphs && sum + heads * floats_of(last) <= room) sum += heads * floats_of(last++);
    if (last > first) {
      if (sum > 0) f(first, last, 0, heads);
      first = last;
      continue;
    }
    index_t const some = room / floats_of(first);
    for (index_t c = 0; c < heads; c += some) f(first, first + 1, c, std::min(some, heads - c));
    ++first;
  }
}

/// Throws contract_violation if the batch is larger than g.dims, because the scratch memory is for g.dims.
inline void expect_measured(graph_batch const& g) {
  index_t triangles = 0;
  for (index_t b = 0; b < g.dims.graphs; ++b) {
    auto const n = g.size(b);
    TRIAD_EXPECTS(n <= g.dims.max_nodes, "triangle: graph " + std::to_string(b) + " has " + std::to_string(n) +
                                             " nodes, expected at most " + std::to_string(g.dims.max_nodes) +
                                             ", the batch's `max_nodes`");
    triangles += n * n * n;
  }
  TRIAD_EXPECTS(triangles <= g.dims.triangles, "triangle: " + std::to_string(triangles) +
                                                   " triangles, expected at most " + std::to_string(g.dims.triangles) +
                                                   ", those of the batch's dims");
}

/// Copies the statistics, so that the values of each head are consecutive.  Also computes delta, the dot product of
/// `do` and o for each edge and head.
inline void gather_statistics(backend& ex, index_t heads, index_t width, triangle_statistics<float const> const& s,
                              matrix<float const> o, matrix<float const> d_o, index_t rows_there, float* to) {
  auto const rows = o.extent(0);
  parallel_rows(ex, rows, 256, [&](index_t first, index_t count, int) {
    alignas(64) float partial[lanes * lanes];
    for (index_t c = 0; c < heads; ++c) {
      float* const maximum = to + c * rows_there;
      float* const inverse_sum = maximum + heads * rows_there;
      float* const delta = inverse_sum + heads * rows_there;
      for (index_t r = first; r < first + count; ++r) {
        maximum[r] = s.maximum(r, c);
        inverse_sum[r] = s.inverse_sum(r, c);
      }
      in_rows const x = head_rows(o, first, c, width), y = head_rows(d_o, first, c, width);
      for (index_t r = 0; r < count; r += lanes) {
        auto const here = std::min<index_t>(lanes, count - r);
        for (index_t i = 0; i < here; ++i) dots<1, 1>(x.from(r + i), y.from(r + i), width, partial + i * lanes, 1);
        floats const sum = simd::sums(partial);
        simd::tail(here).store(delta + first + r, sum);
      }
    }
  });
}

}  // namespace triangles

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
