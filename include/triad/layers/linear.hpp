// An affine map of rows.
// SPDX-License-Identifier: Apache-2.0
//
//   y = x w' + b                       x (rows, in), w (out, in), b (out) or none, y (rows, out)
//   dx = dy w,  dw += dy' x,  db += column sums of dy
#pragma once

#include "triad/layers/layer.hpp"
#include "triad/ops/linear_grad.hpp"
#include "triad/ops/matmul_norm.hpp"

namespace triad {

template <class T, index_t In = dyn, index_t Out = dyn>
struct linear {
  using input = tensor<T const, dyn, In>;  // (rows, in)
  using output = tensor<T, dyn, Out>;      // (rows, out)
  using ends_with_product = linear;

  [[no_unique_address]] extents<In, Out> shape;
  bool bias = true;

  constexpr index_t in() const { return shape.extent(0); }
  constexpr index_t out() const { return shape.extent(1); }

  template <class S>
  struct fields {
    tensor<S, Out, In> weight;  // (out, in)
    vec<S> bias;                // (out) or (0)
    template <class F>
    constexpr void each(F&& f) {
      f("weight", weight);
      f("bias", bias);
    }
  };
  struct saved {};

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {place.make<tensor<S, Out, In>>(out(), in()), place.make<vec<S>>(bias ? out() : 0)};
  }
  saved plan_saved(arena&, row_dims, keep = keep::everything) const { return {}; }

  /// Overwrites y with x w' + b, then applies `after` to y.  Does not read after.bias.  x and y are views, or factors
  /// that the caller keeps (core/kept_factor.hpp).  If `after` has a norm, y must not be rounded.
  template <backend Ex>
  void forward(Ex& ex, call const&, fields<T const> w, kept_factor<T const, In> x, saved const&, kept_factor<T, Out> y,
               epilogue<T> after = {}) const {
    after.bias = w.bias;
    if (after.norm.empty())
      matmul_kept(ex, x, transposed(w.weight), y, after);
    else
      matmul_norm(ex, x, transposed(w.weight), y, after);
  }

  /// Overwrites dx, unless dx is empty, then applies `after` to dx.  `dropout` is the dropout of y if dy is the
  /// gradient of drop(y).  `rounded_gate` is the gate of `after` if that gate is kept in bfloat16.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, kept_factor<T const, In> x, saved const&,
                const_view<output> dy, tensor<T, dyn, In> dx, fields<T> gradient, epilogue<T> const& after = {},
                dropout_mask dropout = {}, matrix<bfloat16 const> rounded_gate = no_matrix<bfloat16 const>()) const {
    linear_grad<Ex, T>(ex, *c.scratch,
                       {as_matrix(x.values), as_matrix(w.weight), as_matrix(dy), as_matrix(dx),
                        as_matrix(gradient.weight), gradient.bias, after, as_matrix(x.rounded), rounded_gate, dropout});
  }

  template <backend Ex, class X, class Dy>
  void backward_params(Ex& ex, call const& c, X x, Dy dy, fields<T> gradient) const {
    linear_grad<Ex, T>(
        ex, *c.scratch,
        {as_matrix(x), no_matrix<T const>(), as_matrix(dy), no_matrix<T>(), as_matrix(gradient.weight), gradient.bias});
  }
};

}  // namespace triad
