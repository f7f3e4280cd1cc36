// Attention.  The result of a query is a weighted sum of the values of a sequence.  The weights are the softmax of the
// dot products of the query and the keys.
// SPDX-License-Identifier: Apache-2.0
//
// The formulas are for one head of width k (d = h k).  There is a batch of sequences of queries (q rows) and a batch of
// sequences of keys and values (k rows).  Sequences may differ in length.  In self-attention, the queries, keys and
// values belong to the same sequences.  J(i) is the set of keys that query i attends to.
//
//   s(i, j) = query(i) . key(j) / sqrt(k),  j in J(i);  lse(i) = log sum_j exp s(i, j)
//   p(i, j) = exp(s(i, j) - lse(i));  p~ = dropout(p)
//   c(i)    = sum_j p~(i, j) value(j);  0 where J(i) is empty
//
//   dp~ = dc(i) . value(j);  dp = dropout'(dp~);  ds = p (dp - delta(i)) / sqrt(k),  delta(i) = dc(i) . c(i)
//   dquery(i) = sum_j ds key(j)     dkey(j) = sum_i ds query(i)     dvalue(j) = sum_i p~ dc(i)
//
// The forward pass saves lse.  The backward pass computes p again from lse, so no array of size queries x keys is
// stored.
//
// Relative positions (Shaw et al. 2018): the offset of a key from a query selects a row of table a, which is added to
// the key, and a row of table b, which is added to the value.  Offsets are clipped to the reach R > 0.  The tables are
// (2R + 1, k), and all heads share them.  Query i is at the position of key i + keys - queries of its sequence:
//
//   r(i, j) = clip(j - (i + keys - queries), -R, R) + R
//   s(i, j) = query(i) . (key(j) + a(r)) / sqrt(k),  c(i) = sum_j p~(i, j) (value(j) + b(r)),  r = r(i, j)
//
// Kernels do not use the tables.  Kernels read and write matrices (q rows, h (2R + 1)) with one number for each query,
// head and offset.  Matrix products compute these matrices from the tables, and the gradients of the tables from these
// matrices:
//
//   bias = query a';  s(i, j) = (query(i) . key(j) + bias(i, r)) / sqrt(k)
//   offset_weights(i, r) = sum_{j: r(i, j) = r} p~(i, j);  c(i) = sum_j p~(i, j) value(j) + offset_weights(i) b
//
//   doffsets = dc b';  dp~ = dc(i) . value(j) + doffsets(i, r);  delta(i) = dc(i) . c(i), where c includes b's part
//   dbias(i, r) = sum_{j: r(i, j) = r} ds(i, j);  dquery += dbias a;  da += dbias' query;  db += offset_weights' dc
//
// A bias of the scores that does not depend on the queries takes the place of bias = query a' (distance_bias.hpp).  It
// has no values of offsets, so d offset_weights is 0.
//
// If an operand has a NaN, or if a score is +infinity, every row and gradient that depends on this value has a NaN.  A
// masked key has the weight 0.  But a backend may multiply whole tiles, and 0 times NaN is NaN.  So masked keys and
// values must be finite, too.
#pragma once

#include "triad/core/backend.hpp"
#include "triad/core/sequences.hpp"
#include "triad/core/views.hpp"
#include "triad/ops/elementwise.hpp"
#include "triad/ops/matmul.hpp"
#include "triad/ops/reduce.hpp"

namespace triad {

/// Options of the operation.  J(i) is the set of all keys of the sequence that are not masked.
struct attention_options {
  index_t heads = 1;
  bool causal = false;  // masks keys after the query; the last query is at the position of the last key
  vec<std::uint8_t const> masked{nullptr, 0};  // (k rows) 1: the key is masked; (0): no key is masked
  dropout_mask dropout{};                      // attention_weight() numbers the elements of p
  index_t reach = 0;                           // R; 0: no relative positions
};

/// A batch of sequences of queries and a batch of sequences of keys, with equal numbers of sequences.  Queries of
/// sequence s attend to keys of sequence s.
struct attention_sequences {
  sequence_batch queries, keys;
};

/// Queries, keys and values.  If S is T const, they are inputs.  If S is T, they are the gradients of the inputs.
template <class S>
struct attention_operands {
  matrix<S> query;       // (q rows, d), heads side by side
  matrix<S> key, value;  // (k rows, d)
};

/// The tables of the vectors of relative positions.  If S is T const, they are inputs.  If S is T, they are the
/// gradients of the inputs.
template <class S>
struct relative_tables {
  matrix<S> key, value;  // (2R + 1, k) each: a and b
};
/// The matrices of relative positions that the forward pass saves for the backward pass.
template <class T>
struct relative_memory {
  matrix<T> bias, offset_weights;  // (q rows, h (2R + 1)) each, offsets side by side
};

/// The operands of a kernel for relative positions.  Each matrix is (q rows, h (2R + 1)), offsets side by side, and is
/// empty if reach is 0.
template <class T>
struct relative_forward {
  matrix<T const> bias = no_matrix<T const>();
  matrix<T> offset_weights = no_matrix<T>();
};
template <class T>
struct relative_backward {
  matrix<T const> bias = no_matrix<T const>(), d_offset_weights = no_matrix<T const>();
  matrix<T> d_bias = no_matrix<T>();
};

/// The number of offsets: 2R + 1.
TRIAD_HOST_DEVICE constexpr index_t relative_offsets(index_t reach) { return 2 * reach + 1; }
/// Returns r(i, j), the clipped offset of key j from query i, for a sequence with `queries` queries and `keys` keys.
TRIAD_HOST_DEVICE constexpr index_t relative_offset(index_t reach, index_t queries, index_t keys, index_t i,
                                                    index_t j) {
  index_t const ahead = j - (i + keys - queries);
  return (ahead < -reach ? -reach : ahead > reach ? reach : ahead) + reach;
}

/// Returns the number of keys that query i attends to if no key is masked.  Query i attends to the first keys of its
/// sequence.
TRIAD_HOST_DEVICE constexpr index_t keys_before(bool causal, index_t queries, index_t keys, index_t i) {
  index_t const seen = causal ? i + 1 + keys - queries : keys;
  return seen > 0 ? seen : 0;
}

/// Returns the number that a weight p has in dropout.  This is the weight of head c, row `query` of all queries, and
/// key j of the query's sequence.
TRIAD_HOST_DEVICE constexpr index_t attention_weight(attention_sequences const& s, index_t c, index_t query,
                                                     index_t j) {
  return (c * s.queries.rows + query) * s.keys.longest + j;
}

namespace detail {
template <class S>
void expect_attention(attention_options const& options, attention_sequences const& s, attention_operands<S> const& x) {
  auto const d = x.query.extent(1);
  expect_heads("attention", d, options.heads);
  expect_extent("attention", "sequences of keys", s.keys.count, s.queries.count);
  expect_shape("attention", "query", x.query, {s.queries.rows, d});
  expect_shape("attention", "key", x.key, {s.keys.rows, d});
  expect_shape("attention", "value", x.value, {s.keys.rows, d});
  if (options.masked.extent(0) != 0) expect_shape("attention", "masked", options.masked, {s.keys.rows});
  expect_rate("attention", options.dropout);
}
template <class S, class T>
void expect_relative(attention_options const& options, attention_operands<T const> const& x,
                     relative_tables<S> const& tables, relative_memory<T> const& m) {
  expect_heads("attention", x.query.extent(1), options.heads);
  index_t const offsets = relative_offsets(options.reach), rows = x.query.extent(0),
                k = x.query.extent(1) / options.heads;
  auto const expect_matrix = [](char const* what, auto v, index_t n, index_t width) {
    expect_shape("attention", what, v, {n, width});
    expect_unit_stride("attention", what, v);
  };
  TRIAD_EXPECTS(options.reach > 0, "attention: reach is " + std::to_string(options.reach) +
                                       ", expected 1 or more with tables of relative positions");
  expect_matrix("key of relative_tables", tables.key, offsets, k);
  expect_matrix("value of relative_tables", tables.value, offsets, k);
  expect_matrix("bias", m.bias, rows, options.heads * offsets);
  expect_matrix("offset_weights", m.offset_weights, rows, options.heads * offsets);
}

template <class T, class Bias>
void expect_score_bias(attention_options const& options, attention_operands<T const> const& x, char const* what,
                       Bias const& bias) {
  TRIAD_EXPECTS(options.reach > 0,
                "attention: reach is " + std::to_string(options.reach) + ", expected 1 or more with a bias of scores");
  expect_shape("attention", what, bias, {x.query.extent(0), options.heads * relative_offsets(options.reach)});
  expect_unit_stride("attention", what, bias);
}

/// Calls f(head of x, head of y) for every head of x (rows, h m) and y (rows, h n).  If x and y are contiguous, calls f
/// only once, with x as (rows h, m) and y as (rows h, n).
template <class X, class Y, class F>
void each_pair_of_heads(index_t heads, matrix<X> x, matrix<Y> y, F&& f) {
  index_t const rows = x.extent(0), m = x.extent(1) / heads, n = y.extent(1) / heads;
  if (x.stride(0) == x.extent(1) && x.stride(1) == 1 && y.stride(0) == y.extent(1) && y.stride(1) == 1) {
    f(make_matrix(x.data_handle(), rows * heads, m, m), make_matrix(y.data_handle(), rows * heads, n, n));
    return;
  }
  for (index_t c = 0; c < heads; ++c) f(column_block(x, c * m, m), column_block(y, c * n, n));
}

template <class Ex, class T>
void run_attention(Ex& ex, arena& scratch, attention_options const& options, attention_sequences const& s,
                   attention_operands<T const> const& x, relative_forward<T> const& relative, vec<T> lse, matrix<T> c) {
  expect_attention(options, s, x);
  expect_same_shape("attention", "c", c, x.query);
  expect_shape("attention", "lse", lse, {options.heads * s.queries.rows});
  with_workspace(ex, scratch, do_attention_workspace(planning(ex), options, s, x),
                 [&](auto ws) { do_attention(ex, options, s, x, relative, lse, c, ws); });
}
template <class Ex, class T>
void run_attention_grad(Ex& ex, arena& scratch, attention_options const& options, attention_sequences const& s,
                        attention_operands<T const> const& x, relative_backward<T> const& relative, vec<T const> lse,
                        matrix<T const> c, matrix<T const> dc, attention_operands<T> const& dx) {
  expect_attention(options, s, x);
  expect_attention(options, s, dx);
  expect_same_shape("attention_grad", "c", c, x.query);
  expect_same_shape("attention_grad", "dc", dc, x.query);
  expect_same_shape("attention_grad", "dx.query", dx.query, x.query);
  expect_shape("attention_grad", "lse", lse, {options.heads * s.queries.rows});
  with_workspace(ex, scratch, do_attention_grad_workspace(planning(ex), options, s, x),
                 [&](auto ws) { do_attention_grad(ex, options, s, x, relative, lse, c, dc, dx, ws); });
}
}  // namespace detail

/// Computes attention.  Overwrites c (q rows, d) and lse (h q rows, head by head).  The backward pass needs lse.  Rows
/// that belong to no sequence are not changed.
template <backend Ex, class T>
void attention(Ex& ex, arena& scratch, attention_options const& options, attention_sequences const& s,
               attention_operands<T const> const& x, vec<T> lse, matrix<T> c) {
  TRIAD_EXPECTS(options.reach == 0, "attention: reach is " + std::to_string(options.reach) +
                                        ", expected 0 without tables of relative positions; pass the tables");
  detail::run_attention(ex, scratch, options, s, x, relative_forward<T>{}, lse, c);
}
/// Computes attention with relative positions.  Also overwrites `relative`, which the backward pass needs.  Every row
/// of queries must belong to a sequence.
template <backend Ex, class T>
void attention(Ex& ex, arena& scratch, attention_options const& options, attention_sequences const& s,
               attention_operands<T const> const& x, relative_tables<T const> const& tables,
               relative_memory<T> const& relative, vec<T> lse, matrix<T> c) {
  detail::expect_relative(options, x, tables, relative);
  detail::each_pair_of_heads(options.heads, x.query, relative.bias,
                             [&](auto query, auto bias) { matmul(ex, query, transposed(tables.key), bias); });
  detail::run_attention(ex, scratch, options, s, x, relative_forward<T>{relative.bias, relative.offset_weights}, lse,
                        c);
  detail::each_pair_of_heads(options.heads, relative.offset_weights, c,
                             [&](auto offset_weights, auto to) { matmul_add(ex, offset_weights, tables.value, to); });
}

/// Computes attention with a bias of the scores that does not depend on the queries, such as distance_bias():
/// s(i, j) = (query(i) . key(j) + bias(i, r)) / sqrt(k).  bias is (q rows, h (2R + 1)), offsets side by side.  Every
/// row of queries must belong to a sequence.
template <backend Ex, class T>
void attention(Ex& ex, arena& scratch, attention_options const& options, attention_sequences const& s,
               attention_operands<T const> const& x, matrix<T const> bias, vec<T> lse, matrix<T> c) {
  detail::expect_score_bias(options, x, "bias", bias);
  auto const frame = scratch.open();
  // The kernels also write the weights of each offset, which no table of values reads here.
  auto const unused = as_matrix(scratch.template make<tensor<T, dyn, dyn>>(bias.extent(0), bias.extent(1)));
  detail::run_attention(ex, scratch, options, s, x, relative_forward<T>{bias, unused}, lse, c);
}

/// Computes the gradients of attention.  Overwrites every gradient in dx.  Rows that belong to no sequence are not
/// changed.
template <backend Ex, class T>
void attention_grad(Ex& ex, arena& scratch, attention_options const& options, attention_sequences const& s,
                    attention_operands<T const> const& x, vec<T const> lse, matrix<T const> c, matrix<T const> dc,
                    attention_operands<T> const& dx) {
  TRIAD_EXPECTS(options.reach == 0, "attention_grad: reach is " + std::to_string(options.reach) +
                                        ", expected 0 without tables of relative positions; pass the tables");
  detail::run_attention_grad(ex, scratch, options, s, x, relative_backward<T>{}, lse, c, dc, dx);
}
/// Computes the gradients of attention with relative positions.  Also adds to the gradients of the tables.  Every row
/// of queries must belong to a sequence.
template <backend Ex, class T>
void attention_grad(Ex& ex, arena& scratch, attention_options const& options, attention_sequences const& s,
                    attention_operands<T const> const& x, relative_tables<T const> const& tables,
                    relative_memory<T> const& relative, vec<T const> lse, matrix<T const> c, matrix<T const> dc,
                    attention_operands<T> const& dx, relative_tables<T> const& d_tables) {
  detail::expect_relative(options, x, tables, relative);
  detail::expect_relative(options, x, d_tables, relative);
  auto const frame = scratch.open();
  auto const by_offset = [&] {
    return as_matrix(
        scratch.template make<tensor<T, dyn, dyn>>(x.query.extent(0), options.heads * relative_offsets(options.reach)));
  };
  matrix<T> const d_offset_weights = by_offset(), d_bias = by_offset();
  detail::each_pair_of_heads(options.heads, dc, d_offset_weights,
                             [&](auto d, auto to) { matmul(ex, d, transposed(tables.value), to); });
  detail::each_pair_of_heads(options.heads, relative.offset_weights, dc, [&](auto offset_weights, auto d) {
    matmul_add(ex, transposed(offset_weights), d, d_tables.value);
  });
  detail::run_attention_grad(ex, scratch, options, s, x, relative_backward<T>{relative.bias, d_offset_weights, d_bias},
                             lse, c, dc, dx);
  detail::each_pair_of_heads(options.heads, d_bias, dx.query,
                             [&](auto d, auto to) { matmul_add(ex, d, tables.key, to); });
  detail::each_pair_of_heads(options.heads, d_bias, x.query,
                             [&](auto d, auto query) { matmul_add(ex, transposed(d), query, d_tables.key); });
}

/// Computes the gradients of attention with a bias of the scores.  Overwrites every gradient in dx.  Adds to d_bias_sum
/// (h (2R + 1)) the sums of the columns of the bias's gradient.  Every row of queries must belong to a sequence.
template <backend Ex, class T>
void attention_grad(Ex& ex, arena& scratch, attention_options const& options, attention_sequences const& s,
                    attention_operands<T const> const& x, matrix<T const> bias, vec<T const> lse, matrix<T const> c,
                    matrix<T const> dc, attention_operands<T> const& dx, vec<T> d_bias_sum) {
  detail::expect_score_bias(options, x, "bias", bias);
  expect_shape("attention_grad", "d_bias_sum", d_bias_sum, {bias.extent(1)});
  auto const frame = scratch.open();
  auto const by_offset = [&] { return scratch.template make<tensor<T, dyn, dyn>>(bias.extent(0), bias.extent(1)); };
  auto const none = by_offset(), d_bias = by_offset();
  fill(ex, T(0), none);  // there are no values of offsets
  detail::run_attention_grad(ex, scratch, options, s, x,
                             relative_backward<T>{bias, as_matrix(read_only(none)), as_matrix(d_bias)}, lse, c, dc, dx);
  column_sums_add(ex, scratch, d_bias, d_bias_sum);
}

}  // namespace triad
