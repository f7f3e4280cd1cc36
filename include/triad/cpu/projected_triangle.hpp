// Triangular attention of states.  If an engine computes products and the graphs are small, a thread computes a few
// graphs at a time: their projections, which stay in its second-level cache, and then their triangles.  Backward
// computes the gradients of the projections of a few graphs, and multiplies them while they are in the cache.
// SPDX-License-Identifier: Apache-2.0
//
// A chunk is a run of graphs.  Chunks and pieces of sums depend on the sizes of the graphs alone, so results have the
// same bits with any number of threads.  A row of the projections does not depend on the other rows of its product, so
// results of forward have the bits of a product and a triangle.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstring>

#include "triad/cpu/linear_grad.hpp"
#include "triad/cpu/matmul.hpp"
#include "triad/cpu/products/blocks.hpp"
#include "triad/cpu/triangle.hpp"
#include "triad/ops/projected_triangle.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

namespace triangles {

/// Batches with fewer rows or graphs are computed by parts, because chunks would leave threads without work.
inline constexpr index_t least_chunked_rows = 2048, least_chunked_graphs = 16;

/// Chunks need room in scratch memory for 8 sums of a weight gradient, and products of 96 rows or more, because each
/// product reads all weights.  So layers of up to 256 columns are computed by chunks, and of up to 341
/// without right values.
inline constexpr index_t least_pieces = 8, least_rows_of_chunk = 96;

/// The number of rows near which a chunk ends.  Their projections take up to 384 KiB.
constexpr index_t chunk_rows(index_t out) { return std::max<index_t>(32, (index_t{3} << 15) / out / 32 * 32); }

/// Whether the graphs of a batch are computed by chunks, if they are small and many.
inline bool may_chunk(backend const& ex, triangle_options const& options, projected_triangle_operands<float> const& x) {
  return ex.engine != nullptr && options.form != triangle_form::flat &&
         std::min(x.out(), x.x.extent(1)) >= ex.least_rounded && chunk_rows(x.out()) >= least_rows_of_chunk &&
         cpu::detail::gradient_blocks::pieces_of(x.out(), x.x.extent(1)) >= least_pieces &&
         (!x.x.is_rounded() || ex.arithmetic == arithmetic::bf16);
}
inline index_t head_width(triangle_options const& options, projected_triangle_operands<float> const& x) {
  return x.out() / (uses_right_value(options.form) ? 4 : 3) / options.heads;
}
inline bool by_chunks(backend const& ex, triangle_options const& options, projected_triangle_operands<float> const& x,
                      graph_dims const& dims) {
  return may_chunk(ex, options, x) && is_small(dims.max_nodes, head_width(options, x)) &&
         dims.rows >= least_chunked_rows && dims.graphs >= least_chunked_graphs;
}

/// The largest batch that is computed by parts although its graphs are small.
inline graph_dims not_chunked(graph_dims dims) {
  auto const most = dims.max_nodes * dims.max_nodes;
  dims.rows = std::min(dims.rows, std::max(least_chunked_rows - 1, (least_chunked_graphs - 1) * most));
  dims.triangles = std::min(dims.triangles, dims.rows * dims.max_nodes);
  return dims;
}

/// The scratch memory of a call by chunks.  If `base` is null, only the size is computed.
struct chunk_parts {
  static constexpr index_t left = 32;  // backward: fewer rows than this are left for the next product

  std::uint64_t* bits;
  float* threads;
  index_t projected, gradient, each;  // floats of a thread: where the gradient of the projections begins, and all
  std::size_t bytes;

  chunk_parts(std::byte* base, triangle_options const& options, projected_triangle_operands<float> const& x,
              graph_dims const& dims, int thread_count, bool backward) {
    auto const width = head_width(options, x), n = std::min(dims.max_nodes, most_small_nodes(width)),
               rows = chunk_rows(x.out()) + n * n;
    auto const padded = [](index_t floats_wanted) { return (floats_wanted + 2 * lanes + 15) / 16 * 16; };
    auto const scratch = backward ? small_backward_floats(n, width) : small_forward_floats(n, width);
    projected = padded(scratch);
    gradient = projected + (x.keeps() ? 0 : padded(rows * x.out()));
    each = gradient + (backward ? padded((rows + left) * x.out()) : 0);
    auto const words = options.dropout.active() ? scratch_parts::words(options, dims) * 8 + 64 : 0;
    auto const begin = static_cast<std::size_t>((words + 63) / 64 * 64);
    bits = reinterpret_cast<std::uint64_t*>(base);
    threads = base == nullptr ? nullptr : reinterpret_cast<float*>(base + begin);
    bytes = begin + static_cast<std::size_t>(each * thread_count) * sizeof(float);
  }
  float* memory(int thread) const { return threads + thread * each; }
};

/// A call by chunks.
template <bool OwnKey, bool RightValue>
struct chunked_call {
  triangle_options const& options;
  projected_triangle_operands<float> const& x;
  graph_batch const& g;
  chunk_parts const& scratch;
  index_t width, statistics_stride;

  cpu::detail::engine_task product(backend& ex) const {
    return {.engine = *ex.engine,
            .factors = ex.arithmetic,
            .m = x.rows(),
            .n = x.out(),
            .k = x.x.extent(1),
            .a = cpu::detail::factor_of(x.x),
            .b = {x.w.data_handle(), factor_form::columns, x.w.stride(0)},
            .c = nullptr,
            .ldc = x.out(),
            .add = false};
  }
  /// Returns the first graph whose edges begin at `row` or later.
  index_t graph_from(index_t row) const {
    auto const* const begin = g.edge_begin.data_handle();
    return std::lower_bound(begin, begin + g.dims.graphs, row) - begin;
  }
  /// The number of heads to compute: none in a graph without nodes, which has no edge.
  index_t heads_of(index_t graph) const { return g.size(graph) > 0 ? options.heads : 0; }
  index_t row_of(index_t graph) const { return graph < g.dims.graphs ? g.edge_begin(graph) : g.dims.rows; }

  /// Computes the projections of `count` rows, in x.projected or in the memory of a thread.  Returns the first of them.
  float* project(cpu::detail::row_products const& products, index_t row, index_t count, int thread) const {
    float* const to = x.keeps() ? &x.projected(row, 0) : scratch.memory(thread) + scratch.projected;
    products(to, row, count);
    if (x.b.extent(0) != 0)
      cpu::detail::finish_block(epilogue<float>{.bias = x.b}, to, x.out(), row, count, 0, x.out());
    return to;
  }
  template <class S>
  triangle_projections<S> split(S* first, index_t count) const {
    return split_projections(options.form, make_matrix(first, count, x.out(), x.out()));
  }
  /// `parts` are the projections from the edge `first_row` on.
  head head_of(triangle_projections<float const> const& parts, index_t first_row, index_t graph, index_t c) const {
    return make_head(options, parts, g, graph, c, statistics_stride, options.dropout.active() ? scratch.bits : nullptr,
                     first_row);
  }
};

template <bool OwnKey, bool RightValue>
void forward_by_chunks(backend& ex, chunked_call<OwnKey, RightValue> const& call,
                       triangle_statistics<float> const& statistics, matrix<float> o) {
  auto const task = call.product(ex);
  task.expect_limits();
  cpu::detail::row_products const products(ex, task);
  index_t const length = chunk_rows(call.x.out());
  parallel_for(ex, (call.x.rows() + length - 1) / length, [&](index_t part, int thread) {
    index_t const first = call.graph_from(part * length), last = call.graph_from((part + 1) * length),
                  row = call.row_of(first), count = call.row_of(last) - row;
    if (count == 0) return;
    auto const projected = call.template split<float const>(call.project(products, row, count, thread), count);
    for (index_t graph = first; graph < last; ++graph)
      for (index_t c = 0; c < call.heads_of(graph); ++c) {
        index_t const edge = call.g.edge_begin(graph);
        small_forward<OwnKey, RightValue>(call.head_of(projected, row, graph, c), head_rows(o, edge, c, call.width),
                                          &statistics.maximum(edge, c), &statistics.inverse_sum(edge, c),
                                          call.scratch.memory(thread));
      }
  });
}

template <bool OwnKey, bool RightValue>
void backward_by_chunks(backend& ex, chunked_call<OwnKey, RightValue> const& call,
                        triangle_statistics<float const> const& statistics, matrix<float const> o,
                        matrix<float const> d_o, projected_triangle_gradients<float> const& to) {
  auto const& x = call.x;
  index_t const rows = x.rows(), out = x.out(), length = chunk_rows(out);
  auto const task = call.product(ex);
  task.expect_limits();
  // Only the shape of dy is read here: its rows come from the memory of a thread.
  linear_grad_operands<float> const map{
      as_matrix(x.x.values), x.w, make_matrix<float const>(nullptr, rows, out, out), to.dx, to.dw, to.db, to.after,
      as_matrix(x.x.rounded)};
  cpu::detail::gradient_blocks const sums(ex, map, std::clamp<index_t>(rows / 512, least_pieces, 32));
  cpu::detail::row_products const products(ex, task, cpu::detail::scratch_use::second_right_factor);
  index_t const piece_rows = (rows + sums.most_pieces() - 1) / sums.most_pieces(),
                pieces = (rows + piece_rows - 1) / piece_rows;
  parallel_for(ex, pieces, [&](index_t piece, int thread) {
    float* const memory = call.scratch.memory(thread);
    float* const gradient = memory + call.scratch.gradient;
    index_t const end = call.graph_from((piece + 1) * piece_rows);
    index_t graph = call.graph_from(piece * piece_rows);
    // `gradient` has the rows [done, filled).
    index_t const begin = call.row_of(graph);
    if (begin == call.row_of(end)) return sums.clear(piece);
    index_t done = begin, filled = begin;
    while (graph < end) {
      index_t last = graph + 1;
      while (last < end && call.row_of(last + 1) - filled <= length) ++last;
      index_t const count = call.row_of(last) - filled;
      float const* const projected = count == 0  ? nullptr  // graphs without nodes
                                     : x.keeps() ? &x.projected(filled, 0)
                                                 : call.project(products, filled, count, thread);
      auto const parts = call.split(projected, count);
      auto const dx = call.split(gradient, filled + count - done);
      for (; graph < last; ++graph)
        for (index_t c = 0; c < call.heads_of(graph); ++c) {
          index_t const edge = call.g.edge_begin(graph);
          auto const rows_of_head = [&](auto m) { return head_rows(m, edge - done, c, call.width); };
          small_backward<OwnKey, RightValue>(call.head_of(parts, filled, graph, c), head_rows(o, edge, c, call.width),
                                             head_rows(d_o, edge, c, call.width), &statistics.maximum(edge, c),
                                             &statistics.inverse_sum(edge, c), rows_of_head(dx.query),
                                             rows_of_head(dx.key), rows_of_head(dx.left_value),
                                             RightValue ? rows_of_head(dx.right_value) : out_rows{nullptr, 0}, memory);
        }
      filled += count;
      // A kernel is compiled for its number of rows, so the number is a multiple of 32 until the piece ends.
      index_t const ready = graph == end ? filled - done : (filled - done) / chunk_parts::left * chunk_parts::left;
      sums.add(piece, {gradient, factor_form::rows, out}, done, ready, done == begin);
      std::memmove(gradient, gradient + ready * out,
                   static_cast<std::size_t>((filled - done - ready) * out) * sizeof(float));
      done += ready;
    }
  });
  sums.finish(ex, pieces);
}

/// Calls run(call) with a call for the form.
template <class Run>
void with_chunked_call(backend& ex, triangle_options const& options, projected_triangle_operands<float> const& x,
                       graph_batch const& g, index_t statistics_stride, workspace ws, bool backward, Run&& run) {
  expect_measured(g);
  chunk_parts const scratch(ws.data, options, x, g.dims, ex.threads, backward);
  make_bits(ex, options, g.dims, scratch.bits);
  with_triangle_form(options.form, [&](auto own_key, auto right_value) {
    run(chunked_call<own_key(), right_value()>{options, x, g, scratch, head_width(options, x), statistics_stride});
  });
}

/// Templates, so that the target triad::kernels compiles them once.
template <std::same_as<float> T>
void projected_triangle_by_chunks(backend& ex, triangle_options const& options, projected_triangle_operands<T> const& x,
                                  graph_batch const& g, triangle_statistics<T> const& s, matrix<T> o, workspace ws) {
  with_chunked_call(ex, options, x, g, s.maximum.stride(0), ws, false,
                    [&](auto const& call) { forward_by_chunks(ex, call, s, o); });
}
template <std::same_as<float> T>
void projected_triangle_grad_by_chunks(backend& ex, triangle_options const& options,
                                       projected_triangle_operands<T> const& x, graph_batch const& g,
                                       triangle_statistics<T const> const& s, matrix<T const> o, matrix<T const> d_o,
                                       projected_triangle_gradients<T> const& to, workspace ws) {
  with_chunked_call(ex, options, x, g, s.maximum.stride(0), ws, true,
                    [&](auto const& call) { backward_by_chunks(ex, call, s, o, d_o, to); });
}

#if defined(TRIAD_KERNELS)
TRIAD_KERNELS template void projected_triangle_by_chunks<float>(backend&, triangle_options const&,
                                                                projected_triangle_operands<float> const&,
                                                                graph_batch const&, triangle_statistics<float> const&,
                                                                matrix<float>, workspace);
TRIAD_KERNELS template void projected_triangle_grad_by_chunks<float>(
    backend&, triangle_options const&, projected_triangle_operands<float> const&, graph_batch const&,
    triangle_statistics<float const> const&, matrix<float const>, matrix<float const>,
    projected_triangle_gradients<float> const&, workspace);
#endif

/// Memory is planned for the largest batch, but a smaller batch may be computed in the other way.
template <class T, class Ex, class Parts>
std::size_t larger_workspace(Ex& ex, triangle_options const& options, projected_triangle_operands<T> const& x,
                             graph_dims const& dims, bool backward, Parts&& by_parts) {
  if constexpr (std::same_as<T, float> && std::same_as<Ex, backend>)
    if (may_chunk(ex, options, x)) {
      bool const small = is_small(dims.max_nodes, head_width(options, x));
      return std::max(chunk_parts(nullptr, options, x, dims, ex.threads, backward).bytes,
                      by_parts(small ? not_chunked(dims) : dims));
    }
  return by_parts(dims);
}

}  // namespace triangles

template <std::floating_point T, std::derived_from<backend> Ex>
std::size_t do_projected_triangle_workspace(Ex& ex, triangle_options const& options,
                                            projected_triangle_operands<T> const& x, graph_dims const& dims) {
  return triangles::larger_workspace(ex, options, x, dims, false, [&](graph_dims const& of) {
    return parts_of_projected_triangle_workspace(ex, options, x, of);
  });
}
template <std::floating_point T, std::derived_from<backend> Ex>
std::size_t do_projected_triangle_grad_workspace(Ex& ex, triangle_options const& options,
                                                 projected_triangle_operands<T> const& x, graph_dims const& dims) {
  return triangles::larger_workspace(ex, options, x, dims, true, [&](graph_dims const& of) {
    return parts_of_projected_triangle_grad_workspace(ex, options, x, of);
  });
}

/// A derived backend may have products or a triangle of its own, so it computes one after the other.
template <std::floating_point T, std::derived_from<backend> Ex>
void do_projected_triangle(Ex& ex, triangle_options const& options, projected_triangle_operands<T> const& x,
                           graph_batch const& g, triangle_statistics<T> const& s, matrix<T> o, workspace ws) {
  if constexpr (std::same_as<T, float> && std::same_as<Ex, backend>)
    if (triangles::by_chunks(ex, options, x, g.dims))
      return triangles::projected_triangle_by_chunks(ex, options, x, g, s, o, ws);
  projected_triangle_by_parts(ex, options, x, g, s, o, ws);
}
template <std::floating_point T, std::derived_from<backend> Ex>
void do_projected_triangle_grad(Ex& ex, triangle_options const& options, projected_triangle_operands<T> const& x,
                                graph_batch const& g, triangle_statistics<T const> const& s, matrix<T const> o,
                                matrix<T const> d_o, projected_triangle_gradients<T> const& to, workspace ws) {
  if constexpr (std::same_as<T, float> && std::same_as<Ex, backend>)
    if (triangles::by_chunks(ex, options, x, g.dims))
      return triangles::projected_triangle_grad_by_chunks(ex, options, x, g, s, o, d_o, to, ws);
  projected_triangle_grad_by_parts(ex, options, x, g, s, o, d_o, to, ws);
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
