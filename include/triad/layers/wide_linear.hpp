// An affine map of a few very wide rows.  It maps a whole tree to one vector.
// SPDX-License-Identifier: Apache-2.0
//
//   y = x w' + b                   x (rows, in), w (out, in), b (out), y (rows, out);  in much larger than rows and out
//   dx = dy w,  dw += dy' x,  db += column sums of dy
//
// The columns of x from `used` on must be zero.  These columns are not read, and their gradient is not computed.  The
// weight is copied once into the layout that the products use.  All uses of the layer share this copy
// (ops/wide_matmul.hpp).
#pragma once

#include "triad/core/fields.hpp"
#include "triad/layers/linear.hpp"
#include "triad/ops/wide_matmul.hpp"

namespace triad {

template <class T, index_t Out = dyn>
struct wide_linear {
  using map = linear<T, dyn, Out>;
  using output = tensor<T, dyn, Out>;  // (rows, out)

  index_t in;
  [[no_unique_address]] extents<Out> shape;

  constexpr index_t out() const { return shape.extent(0); }
  constexpr map whole() const { return {extents<dyn, Out>(in, out())}; }

  template <class S>
  using fields = fields_of<map, S>;
  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return plan<S>(whole(), place);
  }

  /// Returns the weight in the layout that the products use, for inputs with at most `used` non-zero columns.  The
  /// result is valid until the scratch memory is released.
  template <backend Ex>
  wide_factor<T> lay_out(Ex& ex, arena& scratch, fields<T const> w, index_t used) const {
    return lay_out_wide(ex, scratch, as_matrix(w.weight), used);
  }

  /// Overwrites y.
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, wide_factor<T> const& factor, tensor<T const, dyn, dyn> x,
               index_t used, output y) const {
    wide_matmul(ex, *c.scratch, as_matrix(x), factor, used, vec<T const>(w.bias),
                tensor<T, dyn, dyn>(y.data_handle(), y.extent(0), y.extent(1)));
  }

  /// Adds to the first `used` columns of dx (rows, in).
  template <backend Ex>
  void backward_input(Ex& ex, wide_factor<T> const& factor, const_view<output> dy, index_t used,
                      tensor<T, dyn, dyn> dx) const {
    wide_matmul_back(ex, as_matrix(dy), factor, used, as_matrix(dx));
  }
  /// Adds to the gradient of the parameters.  x (rows, in) may have the rows of several uses at once.  The unused
  /// columns of x must be zero.
  template <backend Ex>
  void backward_params(Ex& ex, call const& c, tensor<T const, dyn, dyn> x, const_view<output> dy,
                       fields<T> gradient) const {
    whole().backward_params(ex, c, x, dy, gradient);
  }
};

}  // namespace triad
