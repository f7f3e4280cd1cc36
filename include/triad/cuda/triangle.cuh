// Triangular attention on a GPU, for any number of nodes, heads and channels, in float and double, and for every form.
// SPDX-License-Identifier: Apache-2.0
//
//   graphs of up to 6 nodes     one warp for each head of a graph           triangle/small.cuh, small_backward.cuh
//            up to 16 nodes     one block for each head of a graph          the same
//   others, forward             one block for each head and tile of (i, j)  triangle/forward.cuh
//           backward            one block for each head and block of l      triangle/backward.cuh, tile.cuh
//   the flat form, wide heads   one warp for each head and edge             triangle/general.cuh
//   a bias of the scores        the same
//
// The host knows only the size of the largest graph.  So every graph gets as many blocks as the largest graph needs,
// and the blocks that a smaller graph does not need end at once.  The size of a graph decides which kernel computes it.
// So the bits of the result of a graph do not depend on the other graphs of the batch.  No array of n^3 numbers is in
// device memory, except the gradients of all scores if backward computes the gradient of a bias that shares an axis.
// Exactly one warp or block computes each output, and adds its terms in a fixed order.
//
// Without a right value, o(i, ., .) is a product of two matrices for each i.  With own keys, the scores of each i are a
// product of two matrices too.  The kernels compute these products without cuBLAS.  With cuBLAS, all of p would be in
// device memory, and each i of every graph would need one call, because graphs differ in size.
//
// The arithmetic is exact float32 by default, and with tf32x3.  With tf32, f16 or bf16, queries and keys are rounded
// for graphs of more than 16 nodes with heads of up to 64 columns, if the attention is not ablated.  Forward computes
// their scores on tensor cores (tile_product.cuh).  With f16, it also sums p v1 v2 in f16, if the values are not
// ablated either (triangle/half_values.cuh).  Backward rounds the same queries and keys, and computes in float32.
#pragma once

#include <type_traits>

#include "triad/core/views.hpp"
#include "triad/cuda/backend.cuh"
#include "triad/cuda/triangle/backward.cuh"
#include "triad/cuda/triangle/forward.cuh"
#include "triad/cuda/triangle/general.cuh"
#include "triad/cuda/triangle/small.cuh"
#include "triad/cuda/triangle/small_backward.cuh"

namespace triad::cuda {

namespace triangles {

template <int Value>
using number = std::integral_constant<int, Value>;

/// The largest number of columns of a head that the tiles have memory for.
template <class T>
inline constexpr index_t widest = sizeof(T) == 4 ? 128 : 64;

/// Calls f(columns) with the smallest number of columns that is at least `width` and that has kernels.
template <class T, class F>
void with_width(index_t width, F&& f) {
  if (width <= 16) return f(number<16>());
  if (width <= 32) return f(number<32>());
  if (width <= 64) return f(number<64>());
  if constexpr (widest<T> >= 128) return f(number<128>());
}

/// How the forward kernels for graphs of more than 16 nodes compute.
template <product_path Path, arithmetic Factors>
struct computed_by {
  static constexpr product_path path = Path;
  static constexpr arithmetic factors = Factors;
};
/// The arithmetic of triangles on this backend.  tf32x3 has the error of float32, and triangles were 6 to 10 % slower
/// with it on an H200, so they take float32.
inline arithmetic arithmetic_of_triangles(backend const& ex) {
  return ex.arithmetic() == arithmetic::tf32x3 ? arithmetic::float32 : ex.arithmetic();
}
/// Calls f(computed_by).
template <class T, int Width, bool OwnKey, class F>
void with_path(arithmetic factors, F&& f) {
  if constexpr (rounds_scores<T, Width, OwnKey>) {
    constexpr auto cores = product_path::tensor_cores;
    if (factors == arithmetic::tf32) return f(computed_by<cores, arithmetic::tf32>());
    if (factors == arithmetic::f16) return f(computed_by<cores, arithmetic::f16>());
    if (factors == arithmetic::bf16) return f(computed_by<cores, arithmetic::bf16>());
  }
  f(computed_by<product_path::exact, arithmetic::float32>());
}

/// Whether the general kernels compute all graphs.
template <class T>
bool only_general(triangle_form form, triangle_bias<T const> const& bias) {
  return form == triangle_form::flat || !bias.empty();
}

/// The kernels that a batch needs.
struct paths {
  bool of_warps, of_blocks, tiled, general;  // of_warps, of_blocks: for small graphs
  paths(bool only_general, index_t width, bool fits, graph_dims const& dims) {
    bool const large = dims.max_nodes > whole_graph, alike = dims.nodes == dims.graphs * dims.max_nodes;
    of_warps = !only_general && (dims.max_nodes <= warp_graph || !alike);
    of_blocks = !only_general && dims.max_nodes > warp_graph && (!large || !alike);
    tiled = !only_general && large && fits && width > 0;
    general = only_general || (large && !tiled);
  }
};
template <class T>
paths paths_of(triangle_options const& options, triangle_projections<T const> const& x, graph_dims const& dims) {
  auto const width = x.query.extent(1) / options.heads;
  return {only_general(options.form, x.bias), width, width <= widest<T>, dims};
}

/// Calls f(largest number of nodes) for each kernel for small graphs that the batch needs.
template <class F>
void with_small(paths const& path, F&& f) {
  if (path.of_warps) f(number<warp_graph>());
  if (path.of_blocks) f(number<whole_graph>());
}

/// The general kernels skip graphs with fewer nodes than this number.
template <class T>
int least_of(triangle_form form, triangle_bias<T const> const& bias) {
  return only_general(form, bias) ? 1 : whole_graph + 1;
}

inline index_t general_blocks(graph_dims const& dims) {
  return blocks_for(dims.max_nodes * dims.max_nodes, general_place::warps);
}

/// The scratch memory of backward: delta of every edge and head, if a kernel needs it, and the gradients of all scores
/// if the bias shares an axis.
template <class T>
struct backward_scratch {
  matrix<T> delta;
  triangle_bias<T> d_scores;  // with all axes, or empty if no gradient of a bias is computed
  std::size_t bytes = 0;

  backward_scratch(std::byte* base, paths const& path, triangle_bias<T> const& d_bias, index_t heads,
                   graph_dims const& dims)
      : delta(make_matrix<T>(nullptr, 0, 0, 0)), d_scores(d_bias) {
    auto const take = [&](index_t numbers) {
      auto* const part = base == nullptr ? nullptr : reinterpret_cast<T*>(base + bytes);
      bytes += (static_cast<std::size_t>(numbers) * sizeof(T) + 255) / 256 * 256;
      return part;
    };
    if (path.tiled || path.general) delta = make_matrix(take(dims.rows * heads), dims.rows, heads, heads);
    if (d_bias.empty() || d_bias.axes.all()) return;
    index_t const count = triangle_bias_axes{}.count(dims, heads);
    d_scores = {make_vec(take(count), count), {}};
  }
};

/// Computes the gradient of the bias from the gradients of all scores, unless it is these gradients.
template <class T>
void sum_bias(backend& ex, graph_batch const& g, index_t heads, triangle_bias<T> const& d_scores,
              triangle_bias<T> const& d_bias) {
  if (d_bias.empty() || d_bias.axes.all()) return;
  index_t const blocks = bias_sum_kernel<T>::blocks_of_head(d_bias.axes, g.dims),
                parts = (d_bias.axes.graphs ? g.dims.graphs : 1) * (d_bias.axes.heads ? heads : 1);
  triangle_bias<T const> const from{make_vec<T const>(d_scores.values.data_handle(), d_scores.values.extent(0)),
                                    d_scores.axes};
  launch(ex, bias_sum_kernel<T>(), parts * blocks, g, heads, blocks, from, d_bias);
}

}  // namespace triangles

template <class T>
std::size_t do_triangle_workspace(backend&, triangle_options const&, triangle_projections<T const> const&,
                                  graph_dims const&) {
  return 0;
}

template <class T>
std::size_t do_triangle_grad_workspace(backend&, triangle_options const& options,
                                       triangle_projections<T const> const& x, triangle_projections<T> const& dx,
                                       graph_dims const& dims) {
  using namespace triangles;
  return backward_scratch<T>(nullptr, paths_of(options, x, dims), dx.bias, options.heads, dims).bytes;
}

template <class T>
void do_triangle(backend& ex, triangle_options const& options, triangle_projections<T const> const& x,
                 graph_batch const& g, triangle_statistics<T> const& statistics, matrix<T> o, workspace) {
  using namespace triangles;
  if (g.dims.rows == 0) return;
  auto const path = paths_of(options, x, g.dims);
  auto const p = make_problem(options, x, g);
  auto const out = make_columns(o, p.width);
  auto const each = g.dims.graphs * options.heads;
  with_triangle_form(options.form,
                     [&]<bool OwnKey, bool RightValue>(std::bool_constant<OwnKey>, std::bool_constant<RightValue>) {
                       with_small(path, [&]<int N>(number<N>) {
                         using kernel = small_forward<T, N, OwnKey, RightValue>;
                         launch(ex, kernel(), blocks_for(each, kernel::team::teams), p, each, statistics.maximum,
                                statistics.inverse_sum, out);
                       });
                       if (path.tiled)
                         with_width<T>(p.width, [&]<int Width>(number<Width>) {
                           with_path<T, Width, OwnKey>(arithmetic_of_triangles(ex), [&]<class By>(By) {
                             using kernel = forward_kernel<T, Width, OwnKey, RightValue, By::path, By::factors>;
                             index_t const rows = blocks_for(g.dims.max_nodes, kernel::tile_i),
                                           columns = blocks_for(g.dims.max_nodes, kernel::tile_j);
                             launch(ex, kernel(), each * rows * columns, p, rows, columns, statistics.maximum,
                                    statistics.inverse_sum, out);
                           });
                         });
                     });
  if (path.general) {
    auto const blocks = general_blocks(g.dims);
    launch(ex, general_forward<T>(), each * blocks, p, score_bias<T>{x.bias, g}, options.form,
           least_of(options.form, x.bias), blocks, statistics.maximum, statistics.inverse_sum, out);
  }
}

template <class T>
void do_triangle_grad(backend& ex, triangle_options const& options, triangle_projections<T const> const& x,
                      graph_batch const& g, triangle_statistics<T const> const& statistics, matrix<T const> o,
                      matrix<T const> d_o, triangle_projections<T> const& dx, workspace ws) {
  using namespace triangles;
  auto const path = paths_of(options, x, g.dims);
  backward_scratch<T> const scratch(ws.data, path, dx.bias, options.heads, g.dims);
  if (g.dims.rows == 0) return sum_bias(ex, g, options.heads, scratch.d_scores, dx.bias);
  auto const p = make_problem(options, x, g, arithmetic_of_triangles(ex));
  auto const d_out = make_columns(d_o, p.width);
  gradients<T> const to{make_columns(dx.query, p.width), make_columns(dx.key, p.width),
                        make_columns(dx.left_value, p.width), make_columns(dx.right_value, p.width)};
  auto const each = g.dims.graphs * options.heads;
  statistics_views<T> saved{statistics.maximum, statistics.inverse_sum, statistics.maximum};
  if (path.tiled || path.general) {
    saved.delta = scratch.delta;
    launch(ex, delta_kernel<T>(), blocks_for(g.dims.rows, delta_kernel<T>::threads / warp), make_columns(o, p.width),
           d_out, g.dims.rows, options.heads, p.width, scratch.delta);
  }
  with_triangle_form(options.form,
                     [&]<bool OwnKey, bool RightValue>(std::bool_constant<OwnKey>, std::bool_constant<RightValue>) {
                       with_small(path, [&]<int N>(number<N>) {
                         using kernel = small_backward<T, N, OwnKey, RightValue>;
                         launch(ex, kernel(), blocks_for(each, kernel::team::teams), p, each, d_out, statistics.maximum,
                                statistics.inverse_sum, to);
                       });
                       if (path.tiled)
                         with_width<T>(p.width, [&]<int Width>(number<Width>) {
                           using kernel = backward_kernel<T, Width, OwnKey, RightValue>;
                           index_t const blocks = blocks_for(g.dims.max_nodes, kernel::tile_l);
                           launch(ex, kernel(), each * blocks, p, blocks, d_out, saved, to);
                           if constexpr (OwnKey) {
                             using of_keys = own_key_kernel<T, Width, RightValue>;
                             index_t const tiles = blocks_for(g.dims.max_nodes, of_keys::tile_i);
                             launch(ex, of_keys(), each * tiles * tiles, p, tiles, d_out, saved, to.key);
                           }
                         });
                     });
  if (path.general) {
    auto const blocks = general_blocks(g.dims);
    auto const run = [&](general_role role) {
      launch(ex, general_backward<T>(), each * blocks, p, score_bias<T>{x.bias, g}, options.form, role,
             least_of(options.form, x.bias), blocks, d_out, saved, to, scratch.d_scores);
    };
    if (options.form == triangle_form::flat) {
      run(general_role::flat_query);
      run(general_role::flat_key);
    } else {
      run(general_role::query_and_left);
      if (uses_own_key(options.form)) run(general_role::own_key);
      if (options.form != triangle_form::both_ablations) run(general_role::key_and_right);
    }
    sum_bias(ex, g, options.heads, scratch.d_scores, dx.bias);
  }
}

/// Writes nothing if the graph does not have the edge (i, j), because only the device knows the size of the graph.
template <class T>
void do_triangle_weights(backend& ex, triangle_options const& options, triangle_projections<T const> const& x,
                         graph_batch const& g, index_t graph, index_t i, index_t j, matrix<T> weights) {
  launch(ex, triangles::weights_kernel<T>(), options.heads, triangles::make_problem(options, x, g),
         triangles::score_bias<T>{x.bias, g}, options.form, graph, i, j, weights);
}

}  // namespace triad::cuda
