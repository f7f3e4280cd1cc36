// Layer normalisation with gain and bias.  The mathematics is in ops/layer_norm.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/core/views.hpp"
#include "triad/layers/layer.hpp"
#include "triad/ops/layer_norm.hpp"
#include "triad/ops/matmul.hpp"

namespace triad {

template <class T, index_t D = dyn>
struct layer_norm_layer {
  using input = tensor<T const, dyn, D>;  // (rows, d)
  using output = tensor<T, dyn, D>;       // (rows, d)

  [[no_unique_address]] extents<D> shape;
  double epsilon = 1e-5;

  constexpr index_t width() const { return shape.extent(0); }

  template <class S>
  struct fields {
    tensor<S, D> gain, bias;  // (d) each
    template <class F>
    constexpr void each(F&& f) {
      f("gain", gain);
      f("bias", bias);
    }
  };
  struct saved {
    vec<T> mean, rstd;  // (rows) each
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {place.make<tensor<S, D>>(shape.extent(0)), place.make<tensor<S, D>>(shape.extent(0))};
  }
  saved plan_saved(arena& place, row_dims dims, keep = keep::everything) const {
    return {place.make<vec<T>>(dims.rows), place.make<vec<T>>(dims.rows)};
  }

  /// Overwrites y.  If `rounded` is not empty, overwrites it with y in bfloat16.
  template <backend Ex>
  void forward(Ex& ex, call const&, fields<T const> w, input x, saved const& s, output y,
               tensor<bfloat16, dyn, D> rounded = {}) const {
    layer_norm(ex, x, w.gain, w.bias, epsilon, y, s.mean, s.rstd, as_matrix(rounded));
  }
  /// The norm of forward() as the last step of the product that computes x.
  following_norm<T> following(fields<T const> w, saved const& s, output y) const {
    return {as_vec(w.gain), as_vec(w.bias), T(epsilon), as_matrix(y), s.mean, s.rstd};
  }
  /// Overwrites dx with the gradient.  Adds `add` to dx unless `add` is empty.  dx may be dy.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input x, saved const& s, const_view<output> dy, output dx,
                fields<T> gradient, matrix<T const> add = no_matrix<T const>()) const {
    layer_norm_grad(ex, *c.scratch, x, w.gain, s.mean, s.rstd, dy, add, dx, gradient.gain, gradient.bias);
  }
  /// The same for x = a + drop(b), without `add`.  Returns the gradient of b: dx if the mask drops no elements, else
  /// `memory`, which it overwrites.
  template <backend Ex>
  const_view<output> backward(Ex& ex, call const& c, fields<T const> w, input x, saved const& s, const_view<output> dy,
                              output dx, fields<T> gradient, dropout_mask mask, output memory) const {
    layer_norm_grad(ex, *c.scratch, x, w.gain, s.mean, s.rstd, dy, no_matrix<T const>(), dx, gradient.gain,
                    gradient.bias, mask, as_matrix(memory));
    return mask.active() ? memory : dx;
  }
};

}  // namespace triad
