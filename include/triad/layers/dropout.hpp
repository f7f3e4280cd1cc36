// Dropout as a layer.  The mathematics is in ops/dropout.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/layers/layer.hpp"
#include "triad/ops/dropout.hpp"

namespace triad {

template <class T, index_t D = dyn>
struct dropout_layer {
  using input = tensor<T const, dyn, D>;  // (rows, d)
  using output = tensor<T, dyn, D>;       // (rows, d)

  [[no_unique_address]] extents<D> shape;
  double rate = 0;

  constexpr index_t width() const { return shape.extent(0); }

  template <class S>
  struct fields {
    template <class F>
    constexpr void each(F&&) {}
  };
  struct saved {};

  template <class S = T>
  fields<S> plan_params(arena&) const {
    return {};
  }
  saved plan_saved(arena&, row_dims, keep = keep::everything) const { return {}; }

  /// Overwrites y, which may be x.
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const>, input x, saved const&, output y) const {
    dropout(ex, c.dropout(rate), x, y);
  }
  /// Overwrites dx, which may be dy.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const>, input, saved const&, const_view<output> dy, output dx,
                fields<T>) const {
    dropout_grad(ex, c.dropout(rate), dy, dx);
  }
};

}  // namespace triad
