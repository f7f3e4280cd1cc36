// Attention, directly from its definition in ops/attention.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "triad/core/finite.hpp"
#include "triad/ops/attention.hpp"
#include "triad/reference/backend.hpp"

namespace triad::TRIAD_REFERENCE {

namespace detail {

/// One head of attention, for one sequence of queries and its sequence of keys.
struct attended_head {
  attention_options const& t;
  attention_sequences const& s;
  index_t head, width;
  index_t queries, keys, first_query, first_key;

  index_t lse_of(index_t i) const { return head * s.queries.rows + first_query + i; }
  bool sees(index_t i, index_t j) const {
    return j < keys_before(t.causal, queries, keys, i) && (t.masked.extent(0) == 0 || t.masked(first_key + j) == 0);
  }
  /// Returns the factor by which dropout multiplies p(i, j).  The factor is 0 if p(i, j) is dropped.
  template <class T>
  T kept(index_t i, index_t j) const {
    if (!t.dropout.active()) return T(1);
    return t.dropout.keeps(static_cast<std::uint64_t>(attention_weight(s, head, first_query + i, j)))
               ? T(t.dropout.scale())
               : T(0);
  }
  /// Returns the dot product of row row_a of a and row row_b of b, over the columns of the head.
  template <class T>
  T dot(matrix<T const> a, index_t row_a, matrix<T const> b, index_t row_b) const {
    T sum = 0;
    for (index_t f = head * width; f < (head + 1) * width; ++f) sum += a(row_a, f) * b(row_b, f);
    return sum;
  }
  /// Returns s(i, j).  `bias` has one number for each offset, and is read only if there are relative positions.
  template <class T>
  T score(attention_operands<T const> const& x, matrix<T const> bias, index_t i, index_t j) const {
    T const product = dot(x.query, first_query + i, x.key, first_key + j);
    return (t.reach > 0 ? product + by_offset(bias, i, j) : product) / std::sqrt(T(width));
  }
  /// Returns the element of m (q rows, h (2R + 1)) for the offset of key j from query i.
  template <class S>
  S& by_offset(matrix<S> m, index_t i, index_t j) const {
    return m(first_query + i, head * relative_offsets(t.reach) + relative_offset(t.reach, queries, keys, i, j));
  }
  template <class T>
  void clear_offsets(matrix<T> m, index_t i) const {
    if (t.reach == 0) return;
    index_t const n = relative_offsets(t.reach);
    for (index_t r = head * n; r < (head + 1) * n; ++r) m(first_query + i, r) = T(0);
  }
};

template <class F>
void each_attended_head(attention_options const& options, attention_sequences const& s, index_t d, F&& f) {
  for (index_t b = 0; b < s.queries.count; ++b)
    for (index_t c = 0; c < options.heads; ++c)
      f(attended_head{options, s, c, d / options.heads, s.queries.size(b), s.keys.size(b), s.queries.begin(b),
                      s.keys.begin(b)});
}

}  // namespace detail

template <class T>
std::size_t do_attention_workspace(backend&, attention_options const&, attention_sequences const&,
                                   attention_operands<T const> const&) {
  return 0;
}

template <class T>
std::size_t do_attention_grad_workspace(backend&, attention_options const&, attention_sequences const&,
                                        attention_operands<T const> const&) {
  return 0;
}

template <class T>
void do_attention(backend&, attention_options const& options, attention_sequences const& s,
                  attention_operands<T const> const& x, relative_forward<T> const& relative, vec<T> lse,
                  matrix<T> context, workspace) {
  detail::each_attended_head(options, s, x.query.extent(1), [&](detail::attended_head const& at) {
    index_t const first = at.head * at.width, last = first + at.width;
    auto const score = [&](index_t i, index_t j) { return at.score(x, relative.bias, i, j); };
    for (index_t i = 0; i < at.queries; ++i) {
      T maximum = below_all<T>, sum = 0;
      for (index_t j = 0; j < at.keys; ++j)
        if (at.sees(i, j)) maximum = score(i, j) > maximum ? score(i, j) : maximum;
      for (index_t j = 0; j < at.keys; ++j)
        if (at.sees(i, j)) sum += std::exp(score(i, j) - maximum);
      index_t const to = at.first_query + i;
      lse(at.lse_of(i)) = maximum + std::log(sum);
      for (index_t f = first; f < last; ++f) context(to, f) = T(0);
      at.clear_offsets(relative.offset_weights, i);
      for (index_t j = 0; j < at.keys; ++j) {
        if (!at.sees(i, j)) continue;
        T const p = std::exp(score(i, j) - maximum) / sum * at.kept<T>(i, j);
        if (options.reach > 0) at.by_offset(relative.offset_weights, i, j) += p;
        for (index_t f = first; f < last; ++f) context(to, f) += p * x.value(at.first_key + j, f);
      }
    }
  });
}

template <class T>
void do_attention_grad(backend&, attention_options const& options, attention_sequences const& s,
                       attention_operands<T const> const& x, relative_backward<T> const& relative, vec<T const> lse,
                       matrix<T const> context, matrix<T const> dc, attention_operands<T> const& dx, workspace) {
  detail::each_attended_head(options, s, x.query.extent(1), [&](detail::attended_head const& at) {
    index_t const first = at.head * at.width, last = first + at.width;
    for (index_t f = first; f < last; ++f) {
      for (index_t i = 0; i < at.queries; ++i) dx.query(at.first_query + i, f) = T(0);
      for (index_t j = 0; j < at.keys; ++j) dx.key(at.first_key + j, f) = dx.value(at.first_key + j, f) = T(0);
    }
    for (index_t i = 0; i < at.queries; ++i) {
      index_t const to = at.first_query + i;
      T const delta = at.dot(dc, to, context, to);
      at.clear_offsets(relative.d_bias, i);
      for (index_t j = 0; j < at.keys; ++j) {
        if (!at.sees(i, j)) continue;
        index_t const from = at.first_key + j;
        T const p = std::exp(at.score(x, relative.bias, i, j) - lse(at.lse_of(i))), kept = at.kept<T>(i, j);
        T slope = at.dot(dc, to, x.value, from);
        if (options.reach > 0) slope += at.by_offset(relative.d_offset_weights, i, j);
        T const ds = p * (kept * slope - delta) / std::sqrt(T(at.width));
        if (options.reach > 0) at.by_offset(relative.d_bias, i, j) += ds;
        for (index_t f = first; f < last; ++f) {
          dx.query(to, f) += ds * x.key(from, f);
          dx.key(from, f) += ds * x.query(to, f);
          dx.value(from, f) += kept * p * dc(to, f);
        }
      }
    }
  });
}

}  // namespace triad::TRIAD_REFERENCE
