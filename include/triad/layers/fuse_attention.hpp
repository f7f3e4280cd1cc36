// Fuse-attention with its projections.  A token attends to its own states after each preceding layer (LRF equations 9
// and 10).
// SPDX-License-Identifier: Apache-2.0
//
//   q = (x w_q' + b_q) / sqrt(k)                                        x (rows, d): the query
//   u^h = q^h w_k^h;  m^h, s^h = fuse_attention(u^h, x_0 .. x_{l-1})    ops/fuse_attention.hpp
//   c^h = m^h w_v^h' + s^h b_v^h
//   y = c w_o' + b_o                                                    (rows, d)
//
// The superscript h is the head.  The columns of the heads, k for each head, are side by side.  The formulas leave out
// b_k, because b_k does not change the attention weights.
//
// The states x_j are not projected.  So the products of a token take 4 d^2 multiplications for any l.  With projected
// keys and values of each state, the products would take (2 l + 2) d^2 multiplications.
#pragma once

#include <cmath>

#include "triad/core/fields.hpp"
#include "triad/core/math.hpp"
#include "triad/core/sizes.hpp"
#include "triad/layers/linear.hpp"
#include "triad/ops/elementwise.hpp"
#include "triad/ops/fuse_attention.hpp"
#include "triad/ops/head_bias.hpp"
#include "triad/ops/matmul.hpp"

namespace triad {

/// The states that are projected to queries, and the earlier states to which the queries attend.
template <class T, index_t D = dyn>
struct fuse_input {
  tensor<T const, dyn, D> x;     // (rows, d); has a gradient
  layer_states<T const> states;  // (l or more, rows, d); has a gradient
  index_t layers = 0;            // l
};

/// The sizes of a batch, and the number of states for each token.
struct fuse_dims : row_dims {
  index_t layers;  // l
  constexpr fuse_dims(row_dims r, index_t l) : row_dims(r), layers(l) {}
};

template <class T, index_t D = dyn, index_t H = dyn>
struct fuse_attention_layer {
  using input = fuse_input<T, D>;
  using output = tensor<T, dyn, D>;  // (rows, d)
  using ends_with_product = fuse_attention_layer;
  using planned_with = fuse_dims;
  using map = linear<T, D, D>;

  [[no_unique_address]] extents<D, H> shape;  // d, h
  double dropout = 0;                         // the dropout rate of the attention weights, after the softmax

  fuse_attention_layer(index_t width, index_t h, double rate = 0)
      : shape(width_and_heads<D, H>("fuse_attention_layer", width, h)),
        dropout(dropout_rate("fuse_attention_layer", rate)) {}

  constexpr index_t width() const { return shape.extent(0); }
  constexpr index_t heads() const { return shape.extent(1); }
  constexpr map square() const { return {extents<D, D>(width(), width()), true}; }

  template <class S>
  struct fields {
    fields_of<map, S> query, key, value, output;
    template <class F>
    constexpr void each(F&& f) {
      f("query", query);
      f("key", key);
      f("value", value);
      f("output", output);
    }
  };
  struct saved {
    tensor<T, dyn, D> query;       // (rows, d): q
    tensor<T, dyn, dyn> u, mixed;  // (rows, h d)
    tensor<T, dyn, dyn> weights;   // (rows, h l)
    tensor<T, dyn, dyn> kept;      // (rows, h)
    tensor<T, dyn, D> context;     // (rows, d)
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(square(), place), plan<S>(square(), place), plan<S>(square(), place), plan<S>(square(), place)};
  }
  saved plan_saved(arena& place, fuse_dims const& dims, keep = keep::everything) const {
    auto const make = [&](index_t columns) { return place.make<tensor<T, dyn, dyn>>(dims.rows, columns); };
    auto const q = place.make<output>(dims.rows, width());
    auto const u = make(heads() * width()), m = make(heads() * width()), w = make(heads() * dims.layers),
               s = make(heads());
    return {.query = q, .u = u, .mixed = m, .weights = w, .kept = s, .context = place.make<output>(dims.rows, width())};
  }

  /// Overwrites y, then applies `after` to y.
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output y,
               epilogue<T> const& after = {}) const {
    square().forward(ex, c, w.query, in.x, {}, s.query);
    transform(ex, scale_by<double>{1 / std::sqrt(static_cast<double>(head_width()))}, s.query, s.query);
    batched_matmul(ex, narrow(read_only(s.query)), of_heads(w.key), wide(s.u));
    fuse_attention(ex, options(c), in.layers, read_only(s.u), in.states, s.weights, s.mixed, s.kept);
    batched_matmul(ex, wide(read_only(s.mixed)), of_heads_across(w.value), narrow(s.context));
    head_bias_add(ex, read_only(s.kept), w.value.bias, tensor<T, dyn, dyn>(s.context));
    square().forward(ex, c, w.output, s.context, {}, y, after);
  }

  /// Overwrites dx, then applies `after` to dx.  Adds to d_states, the gradient of in.states.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, const_view<output> dy,
                output dx, fields<T> gradient, epilogue<T> const& after, layer_states<T> d_states) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    index_t const rows = dy.extent(0), d = width(), k = head_width();
    auto const make = [&](index_t columns) { return scratch.make<tensor<T, dyn, dyn>>(rows, columns); };
    auto const d_context = scratch.make<output>(rows, d), dq = scratch.make<output>(rows, d);
    auto const d_mixed = make(heads() * d), du = make(heads() * d), d_kept = make(heads());
    square().backward(ex, c, w.output, s.context, {}, dy, d_context, gradient.output);
    head_bias_grad(ex, scratch, read_only(s.kept), w.value.bias, tensor<T const, dyn, dyn>(d_context), d_kept,
                   gradient.value.bias);
    batched_matmul(ex, narrow(read_only(d_context)), of_heads(w.value), wide(d_mixed));
    fuse_attention_grad(ex, options(c), in.layers, read_only(s.u), in.states, read_only(s.weights), read_only(d_mixed),
                        read_only(d_kept), du, d_states);
    batched_matmul(ex, wide(read_only(du)), of_heads_across(w.key), narrow(dq));
    for (index_t h = 0; h < heads(); ++h) {
      matmul_add(ex, transposed(column_block(d_context, h * k, k)), column_block(s.mixed, h * d, d),
                 row_block(gradient.value.weight, h * k, k));
      matmul_add(ex, transposed(column_block(s.query, h * k, k)), column_block(du, h * d, d),
                 row_block(gradient.key.weight, h * k, k));
    }
    transform(ex, scale_by<double>{1 / std::sqrt(static_cast<double>(k))}, dq, dq);
    square().backward(ex, c, w.query, in.x, {}, dq, dx, gradient.query, after);
  }

 private:
  constexpr index_t head_width() const { return width() / heads(); }
  fuse_attention_options options(call const& c) const { return {heads(), c.child(0).dropout(dropout)}; }
  /// narrow() views an array (rows, h k) as (h, rows, k).  wide() views an array (rows, h d) as (h, rows, d).
  template <class View>
  matrices<typename View::element_type> narrow(View v) const {
    return by_head(v, head_width());
  }
  template <class View>
  matrices<typename View::element_type> wide(View v) const {
    return by_head(v, width());
  }
  template <class View>
  matrices<typename View::element_type> by_head(View v, index_t columns) const {
    return make_matrices(v.data_handle(), heads(), v.extent(0), columns, columns, heads() * columns);
  }
  /// of_heads() views a weight (h k, d) as (h, k, d).  of_heads_across() views this weight as (h, d, k): the matrix of
  /// each head is transposed.
  matrices<T const> of_heads(fields_of<map, T const> const& w) const {
    return make_matrices(w.weight.data_handle(), heads(), head_width(), width(), head_width() * width(), width());
  }
  matrices<T const> of_heads_across(fields_of<map, T const> const& w) const {
    return make_matrices(w.weight.data_handle(), heads(), width(), head_width(), head_width() * width(), 1, width());
  }
};

}  // namespace triad
