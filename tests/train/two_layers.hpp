// A small model for tests of the parts of training: a norm and two affine maps, one of which may be unused.
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
    fields_of<layer_norm_layer<T>, S> norm;
    fields_of<linear<T>, S> first, second;
    template <class F>
    constexpr void each(F&& f) {
      f("norm", norm);
      f("first", first);
      f("second", second);
    }
  };
  template <class S = T>
  fields<S> plan_params(arena& place) const {
    auto const n = plan<S>(norm, place);
    auto const a = plan<S>(first, place);
    return {n, a, plan<S>(second, place)};
  }
};

}  // namespace triad::test
