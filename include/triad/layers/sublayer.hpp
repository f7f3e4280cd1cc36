// A branch, which is attention or a feed-forward block, with its residual sum and its norm.  The norm comes after the
// sum or before the branch.
// SPDX-License-Identifier: Apache-2.0
//
//   norm_position::after    s = x + drop(branch(x));  y = norm(s)
//   norm_position::before   s = norm(x);              y = x + drop(branch(s))          x, s, y (rows, d)
#pragma once

#include <concepts>

#include "triad/core/fields.hpp"
#include "triad/layers/layer.hpp"
#include "triad/layers/layer_norm.hpp"
#include "triad/ops/dropout.hpp"
#include "triad/ops/matmul.hpp"

namespace triad {

/// The place of the norm.  `after`: the norm follows the residual sum, as in Vaswani et al. 2017.  `before`: the norm
/// precedes the branch, as in Xiong et al. 2020.  Here the residual sum is not normalised, so another norm follows the
/// last layer.
enum class norm_position { after, before };

/// Whether the last step of Layer::forward() is a product that takes its whole epilogue, also a norm.  A layer says so
/// by naming itself: `using ends_with_product = my_layer;`.  A derived layer, which may have a forward() of its own, must
/// say it again.
template <class Layer>
concept ends_with_product = std::same_as<typename Layer::ends_with_product, Layer>;

/// A branch with its residual sum and its norm.  `Branch` is a layer from (rows, d) to (rows, d).  Its forward() takes
/// an epilogue for y, and its backward() takes an epilogue for dx.  If its forward() ends with a product, the product
/// also computes the norm that follows.
template <class T, class Branch, index_t D = dyn>
  requires(detail::expect_layer<Branch>())
struct sublayer {
  using input = typename Branch::input;
  using output = tensor<T, dyn, D>;  // (rows, d)
  using planned_with = layer_dims<Branch>;

  Branch branch;
  layer_norm_layer<T, D> norm;
  double dropout = 0;  // the dropout rate of the branch's result
  norm_position norms = norm_position::after;

  constexpr index_t width() const { return norm.width(); }

  template <class S>
  struct fields {
    fields_of<Branch, S> branch;
    fields_of<layer_norm_layer<T, D>, S> norm;
    template <class F>
    constexpr void each(F&& f) {
      branch.each(f);
      f("norm", norm);
    }
  };
  struct saved {
    typename Branch::saved branch;
    output s;  // (rows, d)
    typename layer_norm_layer<T, D>::saved norm;
  };

  template <class S = T>
  fields<S> plan_params(arena& a) const {
    return {plan<S>(branch, a), plan<S>(norm, a)};
  }
  template <class Dims>
  saved plan_saved(arena& a, Dims const& dims, keep kept = keep::everything) const {
    return {branch.plan_saved(a, dims, kept), a.make<output>(dims.rows, width()),
            norm.plan_saved(a, row_dims(dims.rows))};
  }

  /// Overwrites y.  `more` are further arguments of the branch's forward(), which follow the epilogue.
  template <backend Ex, class... More>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output y,
               More const&... more) const {
    epilogue<T> add{.dropout = c.child(1).dropout(dropout), .residual = as_matrix(state_of(in))};
    if (norms == norm_position::after) {
      if constexpr (ends_with_product<Branch>) add.norm = norm.following(w.norm, s.norm, y);
      branch.forward(ex, c.child(0), w.branch, in, s.branch, s.s, add, more...);
      if constexpr (!ends_with_product<Branch>) norm.forward(ex, c, w.norm, s.s, s.norm, y);
    } else {
      norm.forward(ex, c, w.norm, state_of(in), s.norm, s.s);
      branch.forward(ex, c.child(0), w.branch, with_state(in, read_only(s.s)), s.branch, y, add, more...);
    }
  }

  /// Overwrites dx, which must not be dy.  `more` are further arguments of the branch's backward(), which follow the
  /// epilogue.
  template <backend Ex, class... More>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, const_view<output> dy,
                output dx, fields<T> gradient, More const&... more) const {
    auto const frame = c.scratch->open();
    auto const dropped = c.scratch->template make<output>(dy.extent(0), width());
    auto const mask = c.child(1).dropout(dropout);
    if (norms == norm_position::after) {
      auto const ds = c.scratch->template make<output>(dy.extent(0), width());
      auto const d = norm.backward(ex, c, w.norm, s.s, s.norm, dy, ds, gradient.norm, mask, dropped);
      epilogue<T> const add{.residual = as_matrix(ds)};
      branch.backward(ex, c.child(0), w.branch, in, s.branch, d, dx, gradient.branch, add, more...);
    } else {
      branch.backward(ex, c.child(0), w.branch, with_state(in, read_only(s.s)), s.branch,
                      undropped(ex, mask, dy, dropped), dx, gradient.branch, epilogue<T>{}, more...);
      norm.backward(ex, c, w.norm, state_of(in), s.norm, dx, dx, gradient.norm, as_matrix(dy));
    }
  }
};

}  // namespace triad
