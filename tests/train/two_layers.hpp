// A small model for tests of the training parts: a norm and two affine maps, of which one may lie unused.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/layers/layer_norm.hpp"
#include "triad/layers/linear.hpp"

namespace triad::test {

template <class T>
struct two_layers {
  using output = tensor<T, dyn, dyn>;  // (rows, out)

  layer_norm_layer<T> norm;
  linear<T> first, second;

  two_layers(index_t in, index_t hidden, index_t out)
      : norm{extents<dyn>(in)}, first{extents<dyn, dyn>(in, hidden)}, second{extents<dyn, dyn>(hidden, out)} {}

  template <class S>
  struct fields {
    typename layer_norm_layer<T>::template fields<S> norm;
    typename linear<T>::template fields<S> first, second;
    template <class F>
    constexpr void each(F&& f) {
      f("norm", norm);
      f("first", first);
      f("second", second);
    }
  };
  template <class S = T>
  fields<S> plan_params(arena& place) const {
    auto const n = norm.template plan_params<S>(place);
    auto const a = first.template plan_params<S>(place);
    return {n, a, second.template plan_params<S>(place)};
  }
};

}  // namespace triad::test
