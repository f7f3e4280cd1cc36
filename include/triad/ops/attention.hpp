// Attention: each query is answered by the values whose keys are like it, among those of its own sequence.
// SPDX-License-Identifier: Apache-2.0
//
// Per head of width k (d = h k), over ragged sequences of queries (q rows) and of keys and values (k rows); where both lists are
// one, this is self-attention.  J(i): the keys that query i sees.
//
//   s(i, j) = query(i) . key(j) / sqrt(k),  j in J(i);  lse(i) = log sum_j exp s(i, j)
//   p(i, j) = exp(s(i, j) - lse(i));  p~ = dropout(p)
//   c(i)    = sum_j p~(i, j) value(j);  0 where J(i) is empty
//
//   dp~ = dc(i) . value(j);  dp = dropout'(dp~);  ds = p (dp - delta(i)) / sqrt(k),  delta(i) = dc(i) . c(i)
//   dquery(i) = sum_j ds key(j)     dkey(j) = sum_i ds query(i)     dvalue(j) = sum_i p~ dc(i)
//
// Backward keeps lse and makes p again, so nothing of size queries x keys is stored.
#pragma once

#include "triad/core/backend.hpp"
#include "triad/core/random.hpp"
#include "triad/core/sequences.hpp"
#include "triad/core/views.hpp"

namespace triad {

/// What one use of the operation is made of, besides tensors.  J(i) is every key of the sequence but those that are shut.
struct attention_settings {
  index_t heads = 1;
  bool causal = false;                         // shut: keys after the query, where the last query stands at the last key
  vec<std::uint8_t const> masked{nullptr, 0};  // (k rows) shut: keys with 1; or (0)
  dropout_mask dropout{};                      // element attention_weight(...) of p
};

/// Both lists have one sequence for each other's.
struct attention_sequences {
  sequence_batch queries, keys;
};

/// Queries, keys and values.  S = T const: inputs; S = T: their gradients.
template <class S>
struct attention_operands {
  matrix<S> query;       // (q rows, d), heads side by side
  matrix<S> key, value;  // (k rows, d)
};

/// How many keys of its sequence, from the first, query i may see.
TRIAD_HOST_DEVICE constexpr index_t keys_before(bool causal, index_t queries, index_t keys, index_t i) {
  index_t const seen = causal ? i + 1 + keys - queries : keys;
  return seen > 0 ? seen : 0;
}

/// Which element p of head c, row `query` of all queries and key j of its sequence is to dropout.
TRIAD_HOST_DEVICE constexpr index_t attention_weight(attention_sequences const& s, index_t c, index_t query, index_t j) {
  return (c * s.queries.rows + query) * s.keys.longest + j;
}

namespace detail {
template <class S>
void expect_attention(attention_settings const& t, attention_sequences const& s, attention_operands<S> const& x) {
  auto const d = x.query.extent(1);
  TRIAD_EXPECTS(t.heads > 0 && d > 0 && d % t.heads == 0, "attention: the width must be a multiple of the number of heads");
  TRIAD_EXPECTS(s.queries.count == s.keys.count, "attention: as many sequences of keys as of queries are needed");
  TRIAD_EXPECTS(x.query.extent(0) == s.queries.rows, "attention: the queries need the rows that their sequences say");
  TRIAD_EXPECTS(x.key.extent(0) == s.keys.rows && x.key.extent(1) == d && same_shape(x.value, x.key),
                "attention: keys and values need the rows that their sequences say, and the width of the queries");
  TRIAD_EXPECTS(t.masked.extent(0) == 0 || t.masked.extent(0) == s.keys.rows, "attention: the mask needs one byte a key");
}
}  // namespace detail

/// Overwrites c (q rows, d) and lse (h q rows, head by head), which backward needs; rows of no sequence are left alone.
template <backend Ex, class T>
void attention(Ex& ex, arena& scratch, attention_settings const& t, attention_sequences const& s, attention_operands<T const> const& x, vec<T> lse,
               matrix<T> c) {
  detail::expect_attention(t, s, x);
  TRIAD_EXPECTS(same_shape(c, x.query), "attention: the output needs the shape of the queries");
  TRIAD_EXPECTS(lse.extent(0) == t.heads * s.queries.rows, "attention: one lse for each head and query is needed");
  auto const frame = scratch.open();
  auto const ws = scratch.make_workspace(do_attention_workspace(planning(ex), t, s, x));
  if constexpr (executes<Ex>) do_attention(ex, t, s, x, lse, c, ws);
}

/// Overwrites every gradient in dx; rows of no sequence are left alone.
template <backend Ex, class T>
void attention_grad(Ex& ex, arena& scratch, attention_settings const& t, attention_sequences const& s, attention_operands<T const> const& x,
                    vec<T const> lse, matrix<T const> c, matrix<T const> dc, attention_operands<T> const& dx) {
  detail::expect_attention(t, s, x);
  detail::expect_attention(t, s, dx);
  TRIAD_EXPECTS(same_shape(c, x.query) && same_shape(dc, x.query) && same_shape(dx.query, x.query),
                "attention_grad: c and its gradient need the shape of the queries");
  TRIAD_EXPECTS(lse.extent(0) == t.heads * s.queries.rows, "attention_grad: one lse for each head and query is needed");
  auto const frame = scratch.open();
  auto const ws = scratch.make_workspace(do_attention_grad_workspace(planning(ex), t, s, x));
  if constexpr (executes<Ex>) do_attention_grad(ex, t, s, x, lse, c, dc, dx, ws);
}

}  // namespace triad
