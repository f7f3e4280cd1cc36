// Cross-attention with its projections.  The tokens of a decoder attend to states that an encoder computed for the
// source.
// SPDX-License-Identifier: Apache-2.0
//
//   q = x w_q' + b_q                      x (rows, d)
//   [k v] = source w' + b                 source (source rows, e); one matrix product for all tokens of a target
//   y = attention(q, k, v) w_o' + b_o     (rows, d); the mathematics of the attention is in ops/attention.hpp
#pragma once

#include <algorithm>

#include "triad/layers/stacked_linear.hpp"
#include "triad/ops/attention.hpp"
#include "triad/ops/matmul.hpp"

namespace triad {

/// The sequences to which the tokens attend.  Their states come from another network.
template <class T>
struct source_states {
  tensor<T const, dyn, dyn> x;  // (source rows, e); has a gradient
  sequence_batch sequences;
  vec<std::uint8_t const> masked{nullptr, 0};  // (source rows) 1: no query attends to this key; (0): no mask
};

/// The input of cross-attention.  Sequence s of x attends to sequence s of the source.  Every row of x and of the
/// source must belong to a sequence.
template <class T, index_t D = dyn>
struct cross_input {
  tensor<T const, dyn, D> x;  // (rows, d); has a gradient
  sequence_batch sequences;
  source_states<T> source;
};

/// The number of rows of x and the number of rows of the source.
struct cross_dims : row_dims {
  index_t source_rows;
  constexpr cross_dims(row_dims r, index_t source) : row_dims(r), source_rows(source) {}
};
template <class F>
constexpr void each_count(cross_dims& d, F&& f) {
  f.sum(d.rows, "rows");
  f.sum(d.source_rows, "tokens of sources");
}

template <class T, index_t D = dyn, index_t H = dyn>
struct cross_attention {
  using input = cross_input<T, D>;
  using output = tensor<T, dyn, D>;  // (rows, d)
  using ends_with_product = cross_attention;
  using projected = tensor<T, dyn, dyn>;  // (source rows, 2 d): keys and values side by side
  using planned_with = cross_dims;
  using pair = stacked_linear<T, key_value, dyn, D>;

  [[no_unique_address]] extents<D, H> shape;  // d, h
  index_t source_width;                       // e
  double dropout = 0;                         // the dropout rate of the attention weights, after the softmax

  constexpr index_t width() const { return shape.extent(0); }
  constexpr index_t heads() const { return shape.extent(1); }
  constexpr linear<T, D, D> square() const { return {extents<D, D>(width(), width()), true}; }
  constexpr pair keys_values() const { return {extents<dyn, D>(source_width, width())}; }

  template <class S>
  struct fields {
    fields_of<linear<T, D, D>, S> query;
    fields_of<pair, S> source;
    fields_of<linear<T, D, D>, S> output;
    template <class F>
    constexpr void each(F&& f) {
      f("query", query);
      source.each(f);
      f("output", output);
    }
  };
  struct saved {
    projected source;           // (source rows, 2 d)
    tensor<T, dyn, D> query;    // (rows, d)
    vec<T> lse;                 // (h rows)
    tensor<T, dyn, D> context;  // (rows, d)
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(square(), place), plan<S>(keys_values(), place), plan<S>(square(), place)};
  }
  projected plan_source(arena& place, index_t source_rows) const {
    return place.make<projected>(source_rows, 2 * width());
  }
  saved plan_saved(arena& place, cross_dims const& dims, keep = keep::everything) const {
    auto const source = plan_source(place, dims.source_rows);
    return {source, place.make<output>(dims.rows, width()), place.make<vec<T>>(heads() * dims.rows),
            place.make<output>(dims.rows, width())};
  }

  /// The smallest extent, apart from the number of rows, of the products that read the source's states.  No other
  /// operation reads them.
  constexpr index_t source_extent() const { return std::min(source_width, 2 * width()); }

  /// Overwrites y, then applies `after` to y.
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output y,
               epilogue<T> const& after = {}) const {
    project(ex, c, w, in.source.x, s.source);
    forward(ex, c, w, in, s, y, after, read_only(s.source));
  }
  /// Overwrites `to` (source rows, 2 d) with the keys and values of a source (source rows, e).
  template <backend Ex>
  void project(Ex& ex, call const& c, fields<T const> w, tensor<T const, dyn, dyn> source, projected to) const {
    keys_values().forward(ex, c, w.source, source, {}, to);
  }
  /// forward() with the keys and values that project() computed.  Of in.source, reads only the members `sequences` and
  /// `masked`.
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output y,
               epilogue<T> const& after, const_view<projected> source) const {
    square().forward(ex, c, w.query, in.x, {}, s.query);
    attention(ex, *c.scratch, options(c, in), sequences_of(in), operands(read_only(s.query), source), s.lse,
              as_matrix(s.context));
    square().forward(ex, c, w.output, s.context, {}, y, after);
  }

  /// Overwrites dx, then applies `after` to dx.  Adds to d_source (source rows, e), the gradient of the source.  If
  /// d_source has no rows, does not compute this gradient.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, const_view<output> dy,
                output dx, fields<T> gradient, epilogue<T> const& after, tensor<T, dyn, dyn> d_source) const {
    auto const frame = c.scratch->open();
    index_t const rows = in.x.extent(0);
    auto const d_context = c.scratch->template make<output>(rows, width()),
               dq = c.scratch->template make<output>(rows, width());
    auto const d_projected = plan_source(*c.scratch, in.source.x.extent(0));
    square().backward(ex, c, w.output, s.context, {}, dy, d_context, gradient.output);
    attention_grad(ex, *c.scratch, options(c, in), sequences_of(in), operands(read_only(s.query), read_only(s.source)),
                   vec<T const>(s.lse), as_matrix(read_only(s.context)), as_matrix(read_only(d_context)),
                   operands(dq, d_projected));
    keys_values().product().backward_params(ex, c, in.source.x, read_only(d_projected), gradient.source.all);
    if (d_source.extent(0) != 0) matmul_add(ex, d_projected, w.source.all.weight, d_source);
    square().backward(ex, c, w.query, in.x, {}, dq, dx, gradient.query, after);
  }

 private:
  attention_options options(call const& c, input const& in) const {
    return {heads(), false, in.source.masked, c.child(0).dropout(dropout)};
  }
  static attention_sequences sequences_of(input const& in) { return {in.sequences, in.source.sequences}; }
  template <class S>
  attention_operands<S> operands(tensor<S, dyn, D> query, tensor<S, dyn, dyn> source) const {
    return {as_matrix(query), keys_values().part(source, 0), keys_values().part(source, 1)};
  }
};

}  // namespace triad
