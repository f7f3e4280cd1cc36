// Several affine maps of one input as one product.
// SPDX-License-Identifier: Apache-2.0
//
//   [y_0 y_1 ...] = x w' + b              x (rows, d), w (p d, d), b (p d): p maps one under the other; y (rows, p d)
#pragma once

#include <array>

#include "triad/layers/linear.hpp"

namespace triad {

struct query_key_value {
  static constexpr std::array<char const*, 3> list{"query", "key", "value"};
};

/// Names: a type whose `list` holds the names of the p maps; each is a field of its own.
template <class T, class Names, index_t D = dyn>
struct stacked_linear {
  static constexpr index_t maps = static_cast<index_t>(Names::list.size());
  using input = tensor<T const, dyn, D>;  // (rows, d)
  using output = tensor<T, dyn, dyn>;     // (rows, p d)

  [[no_unique_address]] extents<D> shape;

  constexpr index_t width() const { return shape.extent(0); }
  constexpr index_t out() const { return maps * width(); }
  constexpr linear<T, D, dyn> product() const { return {extents<D, dyn>(width(), out()), true}; }

  template <class S>
  struct fields {
    typename linear<T, D, dyn>::template fields<S> all;  // (p d, d), (p d)
    template <class F>
    constexpr void each(F&& f) {
      index_t const d = all.weight.extent(1);
      index_t k = 0;
      for (auto const* name : Names::list) {
        f(name, typename linear<T, D, D>::template fields<S>{tensor<S, D, D>(all.weight.data_handle() + k * d * d, extents<D, D>(d, d)),
                                                             vec<S>(all.bias.data_handle() + k * d, d)});
        ++k;
      }
    }
  };
  struct saved {};

  template <class S = T>
  fields<S> plan_params(arena& place) const { return {product().template plan_params<S>(place)}; }
  saved plan_saved(arena&, row_dims, keep = keep::everything) const { return {}; }

  /// The columns of map k.
  template <class S>
  constexpr matrix<S> part(tensor<S, dyn, dyn> y, index_t k) const { return column_block(y, k * width(), width()); }

  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input x, saved const&, output y) const {
    product().forward(ex, c, w.all, x, {}, y);
  }
  /// Overwrites dx, then applies `after` to it; an empty dx is not computed.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input x, saved const&, const_view<output> dy, tensor<T, dyn, D> dx,
                fields<T> gradient, epilogue<T> const& after = {}) const {
    product().backward(ex, c, w.all, x, {}, dy, dx, gradient.all, after);
  }
};

}  // namespace triad
