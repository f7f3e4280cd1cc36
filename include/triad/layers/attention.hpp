// Self-attention with its projections.  Every token attends to the tokens of its sequence.
// SPDX-License-Identifier: Apache-2.0
//
//   [q k v] = x w' + b                  x (rows, d); one matrix product
//   y = attention(q, k, v) w_o' + b_o   (rows, d); ops/attention.hpp has the mathematics of the attention and of
//                                       relative positions
//
// Relative positions have two tables (2 reach + 1, d / h), which all heads share.  xavier_uniform initialises these two
// tables like other matrices (train/initialize.hpp).
#pragma once

#include "triad/core/views.hpp"
#include "triad/layers/stacked_linear.hpp"
#include "triad/ops/attention.hpp"
#include "triad/ops/gather.hpp"

namespace triad {

/// The keys and values of all tokens so far.  The cache is for sequences that grow by one token in each step.  All
/// sequences have the same length and the same capacity `room`.
template <class T>
struct attention_cache {
  tensor<T, dyn, dyn, dyn> memory;  // (sequences, room, 2 d): keys and values side by side
  index_t length = 0;               // the number of tokens of each sequence, including the newest token
  attention_sequences sequences;    // sequence s has one query, in row s, and `length` keys
};

/// A bias of the scores of self-attention, which several layers may share.
template <class T>
struct score_bias {
  matrix<T const> values = no_matrix<T const>();  // (rows, h (2 reach + 1)), as ops/attention.hpp reads it
  vec<T> gradient{nullptr, 0};                    // (h (2 reach + 1)): backward adds the sums of the columns
  index_t reach = 0;                              // 0: no bias
};

/// The states of the tokens of a batch of sequences.  Every row must belong to a sequence, because the linear maps and
/// their gradients use all rows.
template <class T, index_t D>
struct sequence_input {
  tensor<T const, dyn, D> x;  // (rows, d); has a gradient
  sequence_batch sequences;
  vec<std::uint8_t const> masked{nullptr, 0};  // (rows) 1: no query attends to this key; (0): no mask
  score_bias<T> bias{};                        // has a gradient of its own
};

template <class T, index_t D = dyn, index_t H = dyn>
struct self_attention {
  using input = sequence_input<T, D>;
  using output = tensor<T, dyn, D>;  // (rows, d)
  using ends_with_product = self_attention;
  using planned_with = row_dims;
  using projection = stacked_linear<T, query_key_value, D>;

  [[no_unique_address]] extents<D, H> shape;  // d, h
  double dropout = 0;                         // the dropout rate of the attention weights, after the softmax
  bool causal = false;                        // true: a query does not attend to later keys
  index_t reach = 0;                          // the reach of relative positions; 0: no relative positions

  constexpr index_t width() const { return shape.extent(0); }
  constexpr index_t heads() const { return shape.extent(1); }
  /// The number of different relative positions.
  constexpr index_t offsets() const { return reach > 0 ? relative_offsets(reach) : 0; }
  constexpr projection stacked() const { return {extents<D>(width())}; }
  constexpr linear<T, D, D> mixer() const { return {extents<D, D>(width(), width()), true}; }

  template <class S>
  struct fields {
    fields_of<projection, S> projections;
    fields_of<linear<T, D, D>, S> output;
    tensor<S, dyn, dyn> relative_key, relative_value;  // (2 reach + 1, d / h) each; (0, d / h) if reach is 0
    template <class F>
    constexpr void each(F&& f) {
      projections.each(f);
      f("output", output);
      if (relative_key.extent(0) == 0) return;
      f("relative_key", relative_key);
      f("relative_value", relative_value);
    }
  };
  struct saved {
    tensor<T, dyn, dyn> projected;             // (rows, 3 d)
    vec<T> lse;                                // (h rows)
    tensor<T, dyn, D> context;                 // (rows, d)
    tensor<T, dyn, dyn> bias, offset_weights;  // (rows, h (2 reach + 1)) each; empty without relative positions
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    arena none;  // an arena without memory, for parameters that this layer does not have
    auto const table = [&] {
      return (reach > 0 ? place : none).template make<tensor<S, dyn, dyn>>(offsets(), width() / heads());
    };
    return {plan<S>(stacked(), place), plan<S>(mixer(), place), table(), table()};
  }
  saved plan_saved(arena& place, row_dims dims, keep = keep::everything) const {
    arena none;
    auto const by_offset = [&] {
      return (reach > 0 ? place : none).template make<tensor<T, dyn, dyn>>(dims.rows, heads() * offsets());
    };
    return {place.make<tensor<T, dyn, dyn>>(dims.rows, 3 * width()), place.make<vec<T>>(heads() * dims.rows),
            place.make<output>(dims.rows, width()), by_offset(), by_offset()};
  }

  /// Overwrites y, then applies `after` to y.
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output y,
               epilogue<T> const& after = {}) const {
    stacked().forward(ex, c, w.projections, in.x, {}, s.projected);
    auto const x = split(read_only(s.projected));
    if (in.bias.reach > 0)
      attention(ex, *c.scratch, options(c, in), {in.sequences, in.sequences}, x, in.bias.values, s.lse,
                as_matrix(s.context));
    else
      attend(ex, c, w, options(c, in), {in.sequences, in.sequences}, x, s);
    mixer().forward(ex, c, w.output, s.context, {}, y, after);
  }
  /// forward() for the newest token of every sequence.  Row s of x is the newest token of sequence s.  Adds the key and
  /// value of this token to the cache, then attends to all keys in the cache.  The attention is always causal.  Masks
  /// are not allowed.
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output y,
               epilogue<T> const& after, attention_cache<T> const& cache) const {
    index_t const d = width(), count = cache.memory.extent(0), room = cache.memory.extent(1);
    expect_shape("self_attention", "cache.memory", cache.memory, {count, room, 2 * d});
    expect_extent("self_attention", "rows of x", in.x.extent(0), count);
    TRIAD_EXPECTS(cache.length > 0 && cache.length <= room,
                  "self_attention: the cache has " + std::to_string(cache.length) + " tokens, expected 1 to " +
                      std::to_string(room) + ", its room");
    TRIAD_EXPECTS(in.masked.extent(0) == 0, "self_attention: a mask with a cache, expected none; leave `masked` empty");
    TRIAD_EXPECTS(in.bias.reach == 0, "self_attention: a bias of the scores with a cache, expected none");
    stacked().forward(ex, c, w.projections, in.x, {}, s.projected);
    auto* const memory = cache.memory.data_handle();
    auto const newest =
        make_matrix(memory != nullptr ? memory + (cache.length - 1) * 2 * d : nullptr, count, 2 * d, room * 2 * d);
    gather_rows(ex, column_block(s.projected, d, 2 * d), cache.sequences.queries.begin, newest);
    auto const all = make_matrix<T const>(memory, count * room, 2 * d, 2 * d);
    attention_options now = options(c, in);
    now.causal = false;  // the query is the newest token, so it may attend to all keys
    attend(ex, c, w, now, cache.sequences,
           {column_block(read_only(s.projected), 0, d), column_block(all, 0, d), column_block(all, d, d)}, s);
    mixer().forward(ex, c, w.output, s.context, {}, y, after);
  }

  /// Overwrites dx, then applies `after` to dx.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, const_view<output> dy,
                output dx, fields<T> gradient, epilogue<T> const& after = {}) const {
    auto const frame = c.scratch->open();
    index_t const rows = in.x.extent(0);
    auto const d_context = c.scratch->template make<output>(rows, width());
    auto const d_projected = c.scratch->template make<tensor<T, dyn, dyn>>(rows, 3 * width());
    mixer().backward(ex, c, w.output, s.context, {}, dy, d_context, gradient.output);
    auto const now = options(c, in);
    attention_sequences const both{in.sequences, in.sequences};
    auto const x = split(read_only(s.projected));
    auto const lse = vec<T const>(s.lse);
    auto const context = as_matrix(read_only(s.context)), d = as_matrix(read_only(d_context));
    if (in.bias.reach > 0)
      attention_grad(ex, *c.scratch, now, both, x, in.bias.values, lse, context, d, split(d_projected),
                     in.bias.gradient);
    else if (reach > 0)
      attention_grad(ex, *c.scratch, now, both, x, tables(w), memory(s), lse, context, d, split(d_projected),
                     tables(gradient));
    else
      attention_grad(ex, *c.scratch, now, both, x, lse, context, d, split(d_projected));
    stacked().backward(ex, c, w.projections, in.x, {}, d_projected, dx, gradient.projections, after);
  }

 private:
  attention_options options(call const& c, input const& in) const {
    TRIAD_EXPECTS(reach == 0 || in.bias.reach == 0,
                  "self_attention: relative positions and a bias of the scores, expected one of them");
    return {heads(), causal, in.masked, c.child(0).dropout(dropout), reach + in.bias.reach};
  }
  template <class S>
  static relative_tables<S> tables(fields<S> const& w) {
    return {as_matrix(w.relative_key), as_matrix(w.relative_value)};
  }
  static relative_memory<T> memory(saved const& s) { return {as_matrix(s.bias), as_matrix(s.offset_weights)}; }
  template <class Ex>
  void attend(Ex& ex, call const& c, fields<T const> const& w, attention_options const& now,
              attention_sequences const& of, attention_operands<T const> const& x, saved const& s) const {
    if (reach > 0)
      attention(ex, *c.scratch, now, of, x, tables(w), memory(s), s.lse, as_matrix(s.context));
    else
      attention(ex, *c.scratch, now, of, x, s.lse, as_matrix(s.context));
  }
  /// Splits projected (rows, 3 d) into q, k and v.
  template <class S>
  attention_operands<S> split(tensor<S, dyn, dyn> projected) const {
    index_t const d = width();
    return {column_block(projected, 0, d), column_block(projected, d, d), column_block(projected, 2 * d, d)};
  }
};

}  // namespace triad
