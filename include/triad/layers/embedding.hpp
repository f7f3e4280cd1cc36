// A table of vectors that are looked up by index.  The vectors are states of edges, looked up by label, or states of
// tokens, looked up by id.
// SPDX-License-Identifier: Apache-2.0
//
//   y(r, :) = table(label(r), :)           table (v, d), y (rows, d)
//   dtable(label(r), :) += dy(r, :)
#pragma once

#include "triad/layers/layer.hpp"
#include "triad/ops/gather.hpp"

namespace triad {

template <class T, index_t V = dyn, index_t D = dyn>
struct embedding {
  using input = vec<index_t const>;  // (rows); no gradient
  using output = tensor<T, dyn, D>;  // (rows, d)

  [[no_unique_address]] extents<V, D> shape;

  constexpr index_t out() const { return shape.extent(1); }

  template <class S>
  struct fields {
    tensor<S, V, D> table;  // (v, d)
    template <class F>
    constexpr void each(F&& f) {
      f("table", table);
    }
  };
  struct saved {};

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {place.make<tensor<S, V, D>>(shape.extent(0), shape.extent(1))};
  }
  saved plan_saved(arena&, row_dims, keep = keep::everything) const { return {}; }

  template <backend Ex>
  void forward(Ex& ex, call const&, fields<T const> w, input label, saved const&, output y) const {
    gather_rows(ex, w.table, label, y);
  }
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const>, input label, saved const&, const_view<output> dy,
                fields<T> gradient) const {
    scatter_add_rows(ex, c.scratch, dy, label, gradient.table);
  }
};

}  // namespace triad
