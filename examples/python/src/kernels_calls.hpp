// The code that the kernels for the host share with those for GPUs.  It makes views of a call's arrays, checks them,
// and makes error messages.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "kernels.h"
#include "triad/core/arena.hpp"
#include "triad/core/scratch.hpp"
#include "triad/ops/fuse_attention.hpp"
#include "triad/ops/triangle.hpp"
#include "triad/tree/positions.hpp"

namespace triad_torch {

using triad::index_t;

/// Returns the message of an exception without the source location at its end.  The location does not help callers in
/// Python.
inline std::string sentence_of(std::exception const& e) {
  std::string text = e.what();
  auto const place = text.rfind(" (");
  if (place != std::string::npos && text.ends_with(")") &&
      (text.find(".hpp:", place) != std::string::npos || text.find(".cuh:", place) != std::string::npos))
    text.resize(place);
  return text;
}

/// Calls work().  If work() throws, writes the error message to `message` and returns 1.
template <class Work>
int guarded(char* message, std::int64_t room, Work&& work) {
  auto const say = [&](std::string const& text) {
    std::snprintf(message, static_cast<std::size_t>(room), "%s", text.c_str());
    return 1;
  };
  try {
    work();
    return 0;
  } catch (std::bad_alloc const&) {
    return say("out of memory for what the kernels work in");
  } catch (std::exception const& e) {
    return say(sentence_of(e));
  }
}

/// Calls f with a value of the data's element type.
template <class F>
void with_type(std::int64_t type, F&& f) {
  TRIAD_EXPECTS(type == triad_float32 || type == triad_float64, "kernels: data are float32 or float64");
  if (type == triad_float32)
    f(float{});
  else
    f(double{});
}

/// A kernel may load some bytes after the end of an operand.  Returns true if these bytes are in the operand's last
/// page, so that they can be loaded.
inline bool may_read_past(void const* end) {
  constexpr std::uintptr_t page = 4096;
  auto const last = reinterpret_cast<std::uintptr_t>(end) - 1;
  return last / page == (last + triad::arena_slack) / page;
}

/// Returns the caller's rows as an operand.  Kernels load whole vectors, and so read beyond the end of the rows
/// (triad/ops/triangle.hpp).  If the end is too close to the end of a page, copies the rows with copy(to, from, rows,
/// columns, stride).
template <class T, class Copy>
triad::matrix<T const> operand(triad::arena& place, triad_rows const& x, index_t rows, index_t columns, Copy&& copy) {
  TRIAD_EXPECTS(rows <= 1 || x.stride >= columns, "kernels: rows of an operand overlap");
  auto const* const data = static_cast<T const*>(x.data);
  if (rows == 0 || may_read_past(data + (rows - 1) * x.stride + columns))
    return triad::make_matrix(data, rows, columns, x.stride);
  auto const dense = place.make<triad::tensor<T, triad::dyn, triad::dyn>>(rows, columns);
  if (!place.measuring()) copy(dense.data_handle(), data, rows, columns, x.stride);
  return triad::make_matrix<T const>(dense.data_handle(), rows, columns, columns);
}
template <class T>
triad::matrix<T> result(triad_rows const& x, index_t rows, index_t columns) {
  return triad::make_matrix(static_cast<T*>(x.data), rows, columns, x.stride);
}

/// The size and the first index of each graph of a call, in the host's memory.
struct graph_sizes {
  std::vector<index_t> size, node, edge, triangle;
  triad::graph_dims dims;

  explicit graph_sizes(triad_triangle_call const& c) {
    TRIAD_EXPECTS(c.graphs >= 0 && c.nodes >= 0, "triangular_attention: a number of graphs or nodes is negative");
    dims.graphs = c.graphs;
    for (auto* all : {&size, &node, &edge, &triangle}) all->reserve(static_cast<std::size_t>(c.graphs));
    for (index_t g = 0; g < c.graphs; ++g) {
      index_t const n = c.sizes ? c.sizes[g] : c.nodes;
      TRIAD_EXPECTS(n >= 0 && n < (index_t{1} << 20), "triangular_attention: graph " + std::to_string(g) + " has " +
                                                          std::to_string(n) + " nodes, expected 0 to 2^20 - 1");
      TRIAD_EXPECTS(n * n <= c.rows - dims.rows, "triangular_attention: graphs 0 to " + std::to_string(g) +
                                                     " have more edges than there are rows, " + std::to_string(c.rows));
      size.push_back(n);
      node.push_back(dims.nodes);
      edge.push_back(dims.rows);
      triangle.push_back(dims.triangles);
      dims.nodes += n;
      dims.rows += n * n;
      dims.triangles += n * n * n;
      dims.max_nodes = std::max(dims.max_nodes, n);
    }
    TRIAD_EXPECTS(dims.rows == c.rows, "triangular_attention: the graphs have " + std::to_string(dims.rows) +
                                           " edges, and there are " + std::to_string(c.rows) + " rows");
    TRIAD_EXPECTS(!c.masked || dims.triangles == c.masks, "triangular_attention: the mask has " +
                                                              std::to_string(c.masks) + " bytes, and there are " +
                                                              std::to_string(dims.triangles) + " triangles");
  }
  /// Calls f(vector) for each of the four vectors, and returns the four results as a graph_batch.
  template <class F>
  triad::graph_batch view(F&& f) const {
    auto const s = f(size), n = f(node), e = f(edge), t = f(triangle);
    return {dims, s, n, e, t};
  }
  /// Returns a graph_batch for kernels that run on the host.
  triad::graph_batch on_host() const {
    return view(
        [](std::vector<index_t> const& v) { return triad::make_vec(v.data(), static_cast<index_t>(v.size())); });
  }
};

/// Returns the dropout mask whose step is the seed.  Kernels read the seed from memory of the data's device, so the
/// code is the same for the host and for GPUs.
inline triad::dropout_mask dropout(double rate, std::uint64_t const* seed) {
  TRIAD_EXPECTS(rate >= 0 && rate < 1,
                "dropout: the rate is " + std::to_string(rate) + ", expected 0 or more, below 1");
  return {rate, 0x7472696164, 0, rate > 0 ? seed : nullptr};
}

/// Triangular attention of one call, with one element type.
template <class T>
class triangle_call {
 public:
  explicit triangle_call(triad_triangle_call const& c) : call_(c), sizes_(c) {
    TRIAD_EXPECTS(c.form >= 0 && c.form <= static_cast<std::int64_t>(triad::triangle_form::flat),
                  "triangular_attention: no such form");
    how_.form = static_cast<triad::triangle_form>(c.form);
    how_.heads = c.heads;
    if (c.masked) how_.mask = {triad::make_vec(c.masked, sizes_.dims.triangles), c.fill};
    if (c.sources) how_.sources = triad::make_vec(static_cast<index_t const*>(c.sources), c.graphs);
    how_.dropout = dropout(c.dropout, c.seed);
    auto const has = [&](std::int64_t axis) { return (c.bias_axes & axis) != 0; };
    axes_ = {has(triad_axis_graphs), has(triad_axis_heads), has(triad_axis_i), has(triad_axis_l), has(triad_axis_j)};
    TRIAD_EXPECTS(!c.bias || axes_.count(sizes_.dims, c.heads) == c.biases,
                  "triangular_attention: the bias has " + std::to_string(c.biases) + " numbers, expected " +
                      std::to_string(axes_.count(sizes_.dims, c.heads)) + " for its axes");
  }

  graph_sizes const& sizes() const { return sizes_; }
  triad::triangle_options const& options() const { return how_; }
  bool empty() const { return sizes_.dims.rows == 0; }

  template <class Ex, class Copy>
  void value(Ex& ex, triad::arena& scratch, triad::graph_batch const& graphs, Copy&& copy) const {
    triad::triangle(ex, scratch, how_, projections(scratch, copy), graphs, statistics(), rows_of(call_.output));
  }
  template <class Ex, class Copy>
  void gradient(Ex& ex, triad::arena& scratch, triad::graph_batch const& graphs, Copy&& copy) const {
    auto const x = projections(scratch, copy);
    auto const s = statistics();
    auto const o = operand<T>(scratch, call_.output, rows(), width(), copy),
               d_o = operand<T>(scratch, call_.d_output, rows(), width(), copy);
    triad::triangle_projections<T> const dx{rows_of(call_.d_query), rows_of(call_.d_key), rows_of(call_.d_left),
                                            has_right() ? rows_of(call_.d_right) : none<T>(),
                                            bias_of(static_cast<T*>(call_.d_bias))};
    triad::triangle_grad(ex, scratch, how_, x, graphs, triad::triangle_statistics<T const>{s.maximum, s.inverse_sum}, o,
                         d_o, dx);
  }

 private:
  index_t rows() const { return sizes_.dims.rows; }
  index_t width() const { return call_.heads * call_.width; }
  bool has_right() const { return triad::uses_right_value(how_.form); }
  template <class S>
  static triad::matrix<S> none() {
    return triad::make_matrix<S>(nullptr, 0, 0, 0);
  }
  triad::matrix<T> rows_of(triad_rows const& x) const { return result<T>(x, rows(), width()); }
  template <class Copy>
  triad::triangle_projections<T const> projections(triad::arena& place, Copy&& copy) const {
    auto const of = [&](triad_rows const& x) { return operand<T>(place, x, rows(), width(), copy); };
    auto const query = of(call_.query), key = of(call_.key), left = of(call_.left);
    return {query, key, left, has_right() ? of(call_.right) : none<T const>(),
            bias_of(static_cast<T const*>(call_.bias))};
  }
  template <class S>
  triad::triangle_bias<S> bias_of(S* data) const {
    if (data == nullptr) return {};
    return {triad::make_vec(data, call_.biases), axes_};
  }
  triad::triangle_statistics<T> statistics() const {
    auto const of = [&](void* x) { return triad::make_matrix(static_cast<T*>(x), rows(), call_.heads, call_.heads); };
    return {of(call_.maximum), of(call_.inverse_sum)};
  }

  triad_triangle_call const& call_;
  graph_sizes sizes_;
  triad::triangle_options how_;
  triad::triangle_bias_axes axes_;
};

/// Fuse-attention of one call.
template <class T>
struct fuse_call {
  using rows_view = triad::tensor<T, triad::dyn, triad::dyn>;
  using rows_read = triad::tensor<T const, triad::dyn, triad::dyn>;

  triad_fuse_call const& c;
  triad::fuse_attention_options how{c.heads, dropout(c.dropout, c.seed)};

  rows_read read(void const* x, index_t columns) const { return rows_read(static_cast<T const*>(x), c.rows, columns); }
  rows_view write(void* x, index_t columns) const { return rows_view(static_cast<T*>(x), c.rows, columns); }
  triad::layer_states<T const> states() const {
    return triad::layer_states<T const>(static_cast<T const*>(c.states), c.layers, c.rows, c.width);
  }
  std::size_t bytes_of_states() const { return static_cast<std::size_t>(c.layers * c.rows * c.width) * sizeof(T); }

  template <class Ex>
  void value(Ex& ex) const {
    triad::fuse_attention(ex, how, c.layers, read(c.u, c.heads * c.width), states(),
                          write(c.weights, c.heads * c.layers), write(c.mixed, c.heads * c.width),
                          write(c.kept, c.heads));
  }
  /// Adds the gradient of the states to c.d_states.  Overwrites c.d_u.
  template <class Ex>
  void gradient(Ex& ex) const {
    triad::fuse_attention_grad(ex, how, c.layers, read(c.u, c.heads * c.width), states(),
                               read(c.weights, c.heads * c.layers), read(c.d_mixed, c.heads * c.width),
                               read(c.d_kept, c.heads), write(c.d_u, c.heads * c.width),
                               triad::layer_states<T>(static_cast<T*>(c.d_states), c.layers, c.rows, c.width));
  }
};

/// Checks the arguments of a call on trees, and returns the positions of its trees.
inline triad::tree_positions<> positions_of(triad_tree_call const& c) {
  triad::tree_positions<> const positions(c.branching, c.depth);
  TRIAD_EXPECTS(
      c.child >= 0 && c.child < c.branching,
      "trees: child " + std::to_string(c.child) + " is asked for, and a node has " + std::to_string(c.branching));
  return positions;
}

}  // namespace triad_torch
