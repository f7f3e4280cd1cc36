// Adds the input of a layer to its output.
// SPDX-License-Identifier: Apache-2.0
//
//   y = x + layer(x)                 x, y (rows, columns)
//   dx = dy + dlayer/dx dy
#pragma once

#include <type_traits>

#include "triad/core/fields.hpp"
#include "triad/layers/layer.hpp"
#include "triad/ops/elementwise.hpp"
#include "triad/ops/matmul.hpp"

namespace triad {

template <class A>
  requires(detail::expect_layer<A>())
struct residual {
  using T = element_t<typename A::output>;
  using input = typename A::input;
  using output = typename A::output;

  static_assert(std::is_same_v<element_t<state_of_t<input>>, T> && state_of_t<input>::rank() == output::rank(),
                "residual: the layer's input and output differ in element type or rank, so they cannot be added");
  static_assert(!detail::columns_clash<state_of_t<input>, output>(),
                "residual: the layer's input and output differ in columns, so they cannot be added");

  A layer;

  constexpr explicit residual(A a) : layer(a) {
    expect_extent("residual", "columns out of the layer", columns_out(layer), columns_in(layer));
  }

  constexpr index_t width() const { return columns_out(layer); }

  template <class S>
  using fields = fields_of<A, S>;
  using saved = typename A::saved;

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return plan<S>(layer, place);
  }
  template <class Dims>
  saved plan_saved(arena& place, Dims const& dims, keep kept = keep::everything) const {
    return layer.plan_saved(place, dims, kept);
  }

  /// Overwrites y, which must not be x.
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output y) const {
    auto const x = state_of(in);
    if constexpr (requires(epilogue<T> after) {
                    layer.forward(ex, c, w, in, s, y, after);
                  }) {  // adds x to each row of y while the row is in the cache
      layer.forward(ex, c, w, in, s, y, added(x));
    } else {
      layer.forward(ex, c, w, in, s, y);
      transform(ex, plus(), x, y, y);
    }
  }
  /// Overwrites dx, which must not be dy.
  template <backend Ex, class Dx>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, const_view<output> dy, Dx dx,
                fields<T> gradient) const {
    if constexpr (requires(epilogue<T> after) { layer.backward(ex, c, w, in, s, dy, dx, gradient, after); }) {
      layer.backward(ex, c, w, in, s, dy, dx, gradient, added(dy));
    } else {
      layer.backward(ex, c, w, in, s, dy, dx, gradient);
      transform(ex, plus(), dy, dx, dx);
    }
  }

 private:
  template <class View>
  static epilogue<T> added(View x) {
    return {.residual = as_matrix(x)};
  }
};

}  // namespace triad
