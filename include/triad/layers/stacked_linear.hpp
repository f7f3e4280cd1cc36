// Several affine maps of one input, computed with one matrix product.
// SPDX-License-Identifier: Apache-2.0
//
//   [y_0 y_1 ...] = x w' + b              x (rows, in), w (p d, in), b (p d): p maps one under the other; y (rows, p d)
#pragma once

#include <array>

#include "triad/core/fields.hpp"
#include "triad/layers/linear.hpp"

namespace triad {

/// Names for stacked_linear: the projections in self-attention.
struct query_key_value {
  static constexpr std::array<char const*, 3> list{"query", "key", "value"};
};
/// Names for stacked_linear: the projections of the source in cross-attention.
struct key_value {
  static constexpr std::array<char const*, 2> list{"key", "value"};
};

/// Several affine maps of one input.  `Names` is a type whose member `list` has the names of the p maps.  Each map is a
/// field with its own name.  d is the number of columns of each result.
template <class T, class Names, index_t In = dyn, index_t D = In>
struct stacked_linear {
  static constexpr index_t maps = static_cast<index_t>(Names::list.size());
  using input = tensor<T const, dyn, In>;  // (rows, in)
  using output = tensor<T, dyn, dyn>;      // (rows, p d)

  [[no_unique_address]] extents<In, D> shape;

  constexpr stacked_linear() = default;
  constexpr stacked_linear(extents<In, D> const& e) : shape(e) {}
  /// Maps whose results have as many columns as the input.
  constexpr stacked_linear(extents<In> const& e) : shape(e.extent(0), e.extent(0)) {}

  constexpr index_t in() const { return shape.extent(0); }
  constexpr index_t width() const { return shape.extent(1); }
  constexpr index_t out() const { return maps * width(); }
  constexpr linear<T, In, dyn> product() const { return {extents<In, dyn>(in(), out()), true}; }

  template <class S>
  struct fields {
    fields_of<linear<T, In, dyn>, S> all;  // (p d, in), (p d)
    template <class F>
    constexpr void each(F&& f) {
      index_t const d = all.weight.extent(0) / maps, in = all.weight.extent(1);
      index_t k = 0;
      for (auto const* name : Names::list) {
        f(name,
          fields_of<linear<T, In, D>, S>{tensor<S, D, In>(all.weight.data_handle() + k * d * in, extents<D, In>(d, in)),
                                         vec<S>(all.bias.data_handle() + k * d, d)});
        ++k;
      }
    }
  };
  struct saved {};

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(product(), place)};
  }
  saved plan_saved(arena&, row_dims, keep = keep::everything) const { return {}; }

  /// Returns the columns of y that map k computes: (rows, d).
  template <class S>
  constexpr matrix<S> part(tensor<S, dyn, dyn> y, index_t k) const {
    return column_block(y, k * width(), width());
  }

  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input x, saved const&, output y) const {
    product().forward(ex, c, w.all, x, {}, y);
  }
  /// Overwrites dx, unless dx is empty, then applies `after` to dx.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input x, saved const&, const_view<output> dy,
                tensor<T, dyn, In> dx, fields<T> gradient, epilogue<T> const& after = {}) const {
    product().backward(ex, c, w.all, x, {}, dy, dx, gradient.all, after);
  }
};

}  // namespace triad
