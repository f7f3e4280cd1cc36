// Affine map of a few very wide rows: what shrinks a whole tree to one vector.
// SPDX-License-Identifier: Apache-2.0
//
//   y = x w' + b                       x (rows, in), w (out, in), b (out), y (rows, out);  in much larger than rows and out
//   dx = dy w,  dw += dy' x,  db += column sums of dy
//
// The sum over `in` is cut into chunks, which are as many independent products, and these are added in order.  Columns from `used` on
// are known to be zero and are not read, nor is their gradient made.
#pragma once

#include "triad/layers/linear.hpp"

namespace triad {

template <class T, index_t Out = dyn>
struct wide_linear {
  using map = linear<T, dyn, Out>;
  using output = tensor<T, dyn, Out>;  // (rows, out)
  static constexpr index_t chunk = 4096;  // columns

  index_t in;
  [[no_unique_address]] extents<Out> shape;

  constexpr index_t out() const { return shape.extent(0); }
  constexpr map whole() const { return {extents<dyn, Out>(in, out())}; }

  template <class S>
  using fields = typename map::template fields<S>;
  template <class S = T>
  fields<S> plan_params(arena& place) const { return whole().template plan_params<S>(place); }

  /// Overwrites y.
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, tensor<T const, dyn, dyn> x, index_t used, output y) const {
    TRIAD_EXPECTS(used > 0 && used <= in && x.extent(1) == in, "wide_linear: rows have another width");
    index_t const rows = x.extent(0), chunks = used / chunk, rest = used - chunks * chunk, done = rest > 0 ? chunks : chunks - 1;
    auto const frame = c.scratch->open();
    auto const partial = c.scratch->template make<tensor<T, dyn, dyn, dyn>>(done, rows, out());
    index_t const last = done * chunk;  // the columns of the product that takes the bias
    epilogue<T> add;
    add.bias = w.bias;
    matmul(ex, column_block(x, last, used - last), transposed(column_block(w.weight, last, used - last)), y, add);
    if (done == 0) return;
    batched_matmul(ex, make_matrices(x.data_handle(), done, rows, chunk, chunk, in), make_matrices(w.weight.data_handle(), done, chunk, out(), chunk, 1, in),
                   make_matrices(partial.data_handle(), done, rows, out(), rows * out(), out()));
    column_sums_add(ex, *c.scratch, make_matrix<T const>(partial.data_handle(), done, rows * out(), rows * out()), as_vec(y));
  }

  /// Adds to the first `used` columns of dx (rows, in).
  template <backend Ex>
  void backward_input(Ex& ex, fields<T const> w, const_view<output> dy, index_t used, tensor<T, dyn, dyn> dx) const {
    matmul_add(ex, dy, column_block(w.weight, 0, used), column_block(dx, 0, used));
  }
  /// Adds to the gradient, for the rows of any number of uses: x (rows, in) zero where it was not used.
  template <backend Ex>
  void backward_params(Ex& ex, call const& c, tensor<T const, dyn, dyn> x, const_view<output> dy, fields<T> gradient) const {
    whole().backward_params(ex, c, x, dy, gradient);
  }
};

}  // namespace triad
