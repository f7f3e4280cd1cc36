// Attention: a block has sixteen queries of one head, or for their gradients sixteen keys, and goes through the other
// side.
// SPDX-License-Identifier: Apache-2.0
//
// Forward keeps the largest score and the sum so far (Milakov and Gimelshein 2018) and shrinks what it has when a
// larger comes. Kernels with relative positions are types of their own, so that those without know nothing of them.
#pragma once

#include <cuda/std/cmath>
#include <cuda/std/limits>

#include "triad/cuda/device/attention_tile.cuh"

namespace triad::cuda {

namespace detail {

template <class T, bool Relative>
struct attention_forward {
  static constexpr char const* name = Relative ? "attention with relative positions" : "attention";
  static constexpr int threads = attention_warps * warp;
  struct shared {
    own_tile<T> query, weight;
    other_tile<T> other;  // keys, then values
  };

  TRIAD_DEVICE void operator()(block const& b, attention_rule<T> rule, attention_operands<T const> in,
                               relative_forward<T> relative, vec<T> lse, matrix<T> context) const {
    constexpr T none = -::cuda::std::numeric_limits<T>::infinity();
    attention_place<T> const at(b, rule, rule.sequences.queries.longest);
    if (at.first >= at.queries) return;  // the whole block
    auto& s = b.shared<shared>();
    index_t const count = at.queries - at.first, last = at.first + (count < attention_own ? count : attention_own) - 1,
                  keys = at.seen(last);
    index_t const own = at.first + b.row() * attention_each;  // the warp's first query
    T maximum[attention_each], total[attention_each] = {}, shrink[attention_each];
    TRIAD_UNROLL
    for (int r = 0; r < attention_each; ++r) maximum[r] = none;
    for (index_t begin = 0; begin < keys; begin += warp) {
      T score[attention_each] = {};
      for (index_t e = 0; e < rule.width; e += warp) {
        b.sync();
        at.stage(b, s.query, in.query, at.first_query + at.first, count, e);
        at.stage(b, s.other, in.key, at.first_key + begin, at.keys - begin, e);
        b.sync();
        add_dots<T>(b, s.query, s.other, score);
      }
      index_t const j = begin + b.lane();
      TRIAD_UNROLL
      for (int r = 0; r < attention_each; ++r) {
        bool const sees = at.sees(own + r, j);
        if constexpr (Relative)
          if (sees) score[r] += at.by_offset(relative.bias, own + r, j);
        T const x = sees ? score[r] * rule.scale : none, larger = warp_maximum(b, x > maximum[r] ? x : maximum[r]);
        T const base = larger > none ? larger : T(0);
        T const p = sees ? ::cuda::std::exp(x - base) : T(0);
        shrink[r] = maximum[r] > none ? ::cuda::std::exp(maximum[r] - base) : T(0);
        total[r] = total[r] * shrink[r] + warp_sum(b, p);
        maximum[r] = larger;
        s.weight[b.row() * attention_each + r][b.lane()] = sees ? p * at.kept(own + r, j) : T(0);
      }
      for (index_t e = 0; e < rule.width; e += warp) {
        b.sync();
        at.stage(b, s.other, in.value, at.first_key + begin, at.keys - begin, e);
        b.sync();
        TRIAD_UNROLL
        for (int r = 0; r < attention_each; ++r) {
          T const sum = weighted<T>(b, s.weight, s.other, r);
          if (own + r >= at.queries || e + b.lane() >= rule.width) continue;
          T& to = context(at.first_query + own + r, at.head * rule.width + e + b.lane());
          to = begin == 0 ? sum : to * shrink[r] + sum;
        }
      }
      if constexpr (Relative)
        for (int r = 0; r < attention_each; ++r)
          at.sum_by_offset(b, s.weight, r, own + r, begin, shrink[r], relative.offset_weights);
    }
    TRIAD_UNROLL
    for (int r = 0; r < attention_each; ++r) {
      if (own + r >= at.queries) continue;
      bool const blind = total[r] == T(0);
      at.each_own_column(b, [&](index_t f) {
        T& to = context(at.first_query + own + r, f);
        to = blind ? T(0) : to / total[r];
      });
      if constexpr (Relative)
        at.each_own_offset(b, [&](index_t u) {
          T& weight = at.offset(relative.offset_weights, own + r, u);
          weight = blind ? T(0) : weight / total[r];
        });
      if (b.lane() == 0) lse(at.statistic(own + r)) = blind ? none : maximum[r] + ::cuda::std::log(total[r]);
    }
  }
};

template <class T, bool Relative>
struct attention_slopes {
  attention_rule<T> rule;
  attention_operands<T const> in;
  relative_backward<T> relative;
  vec<T const> lse;
  matrix<T const> context, dc;
  attention_operands<T> dx;
  vec<T> delta;  // (h q rows) written by the owners of queries, read by the owners of keys

  /// p~ and ds of query i and key j.
  TRIAD_DEVICE void at(attention_place<T> const& place, index_t i, index_t j, T score, T slope, T offset, T delta_i,
                       T& dropped, T& ds) const {
    bool const sees = place.sees(i, j);
    if constexpr (Relative)
      if (sees) {
        score += place.by_offset(relative.bias, i, j);
        slope += place.by_offset(relative.d_offset_weights, i, j);
      }
    T const p = sees ? ::cuda::std::exp(score * rule.scale - offset) : T(0), keep = sees ? place.kept(i, j) : T(0);
    dropped = p * keep;
    ds = sees ? p * (keep * slope - delta_i) * rule.scale : T(0);
  }
};

/// dquery, and delta.
template <class T, bool Relative>
struct attention_backward_to {
  static constexpr char const* name =
      Relative ? "attention_grad of queries, with relative positions" : "attention_grad of queries";
  static constexpr int threads = attention_warps * warp;
  struct shared {
    own_tile<T> query, gradient, ds;
    other_tile<T> key, value;
  };

  TRIAD_DEVICE void operator()(block const& b, attention_slopes<T, Relative> t) const {
    auto const& rule = t.rule;
    attention_place<T> const at(b, rule, rule.sequences.queries.longest);
    if (at.first >= at.queries) return;  // the whole block
    auto& s = b.shared<shared>();
    index_t const count = at.queries - at.first, last = at.first + (count < attention_own ? count : attention_own) - 1,
                  keys = at.seen(last);
    index_t const own = at.first + b.row() * attention_each, row = at.first_query + own;
    T delta[attention_each], offset[attention_each];
    TRIAD_UNROLL
    for (int r = 0; r < attention_each; ++r) {
      bool const live = own + r < at.queries;
      T part = 0;
      if (live) at.each_own_column(b, [&](index_t f) { part += t.dc(row + r, f) * t.context(row + r, f); });
      delta[r] = warp_sum(b, part);
      offset[r] = live ? t.lse(at.statistic(own + r)) : T(0);
      if (live && b.lane() == 0) t.delta(at.statistic(own + r)) = delta[r];
      if (live && keys == 0) at.each_own_column(b, [&](index_t f) { t.dx.query(row + r, f) = T(0); });
      if constexpr (Relative)
        if (live && keys == 0)
          at.each_own_offset(b, [&](index_t u) { at.offset(t.relative.d_bias, own + r, u) = T(0); });
    }
    for (index_t begin = 0; begin < keys; begin += warp) {
      T score[attention_each] = {}, slope[attention_each] = {};
      for (index_t e = 0; e < rule.width; e += warp) {
        b.sync();
        at.stage(b, s.query, t.in.query, at.first_query + at.first, count, e);
        at.stage(b, s.gradient, t.dc, at.first_query + at.first, count, e);
        at.stage(b, s.key, t.in.key, at.first_key + begin, at.keys - begin, e);
        at.stage(b, s.value, t.in.value, at.first_key + begin, at.keys - begin, e);
        b.sync();
        add_dots<T>(b, s.query, s.key, score);
        add_dots<T>(b, s.gradient, s.value, slope);
      }
      TRIAD_UNROLL
      for (int r = 0; r < attention_each; ++r) {
        T dropped, ds;
        t.at(at, own + r, begin + b.lane(), score[r], slope[r], offset[r], delta[r], dropped, ds);
        s.ds[b.row() * attention_each + r][b.lane()] = ds;
      }
      for (index_t e = 0; e < rule.width; e += warp) {
        b.sync();
        at.stage(b, s.key, t.in.key, at.first_key + begin, at.keys - begin, e);
        b.sync();
        TRIAD_UNROLL
        for (int r = 0; r < attention_each; ++r) {
          T const sum = weighted<T>(b, s.ds, s.key, r);
          if (own + r >= at.queries || e + b.lane() >= rule.width) continue;
          T& to = t.dx.query(row + r, at.head * rule.width + e + b.lane());
          to = begin == 0 ? sum : to + sum;
        }
      }
      if constexpr (Relative)
        for (int r = 0; r < attention_each; ++r) at.sum_by_offset(b, s.ds, r, own + r, begin, T(1), t.relative.d_bias);
    }
  }
};

/// dkey and dvalue.
template <class T, bool Relative>
struct attention_backward_from {
  static constexpr char const* name =
      Relative ? "attention_grad of keys and values, with relative positions" : "attention_grad of keys and values";
  static constexpr int threads = attention_warps * warp;
  struct shared {
    own_tile<T> key, value, ds, dropped;
    other_tile<T> query, gradient;
  };

  TRIAD_DEVICE void operator()(block const& b, attention_slopes<T, Relative> t) const {
    auto const& rule = t.rule;
    attention_place<T> const at(b, rule, rule.sequences.keys.longest);
    if (at.first >= at.keys) return;  // the whole block
    auto& s = b.shared<shared>();
    index_t const count = at.keys - at.first, start = at.first_seeing(at.first);
    index_t const own = at.first + b.row() * attention_each, row = at.first_key + own;
    if (start >= at.queries)
      for (int r = 0; r < attention_each; ++r)
        if (own + r < at.keys)
          at.each_own_column(b, [&](index_t f) { t.dx.key(row + r, f) = t.dx.value(row + r, f) = T(0); });
    for (index_t begin = start; begin < at.queries; begin += warp) {
      index_t const i = begin + b.lane(), first = at.first_query + begin;
      T score[attention_each] = {}, slope[attention_each] = {};
      for (index_t e = 0; e < rule.width; e += warp) {
        b.sync();
        at.stage(b, s.key, t.in.key, at.first_key + at.first, count, e);
        at.stage(b, s.value, t.in.value, at.first_key + at.first, count, e);
        at.stage(b, s.query, t.in.query, first, at.queries - begin, e);
        at.stage(b, s.gradient, t.dc, first, at.queries - begin, e);
        b.sync();
        add_dots<T>(b, s.key, s.query, score);
        add_dots<T>(b, s.value, s.gradient, slope);
      }
      T const offset = i < at.queries ? t.lse(at.statistic(i)) : T(0),
              delta = i < at.queries ? t.delta(at.statistic(i)) : T(0);
      TRIAD_UNROLL
      for (int r = 0; r < attention_each; ++r) {
        T dropped, ds;
        t.at(at, i, own + r, score[r], slope[r], offset, delta, dropped, ds);
        s.ds[b.row() * attention_each + r][b.lane()] = ds;
        s.dropped[b.row() * attention_each + r][b.lane()] = dropped;
      }
      for (index_t e = 0; e < rule.width; e += warp) {
        b.sync();
        at.stage(b, s.query, t.in.query, first, at.queries - begin, e);
        at.stage(b, s.gradient, t.dc, first, at.queries - begin, e);
        b.sync();
        TRIAD_UNROLL
        for (int r = 0; r < attention_each; ++r) {
          T const to_key = weighted<T>(b, s.ds, s.query, r), to_value = weighted<T>(b, s.dropped, s.gradient, r);
          if (own + r >= at.keys || e + b.lane() >= rule.width) continue;
          index_t const f = at.head * rule.width + e + b.lane();
          t.dx.key(row + r, f) = begin == start ? to_key : t.dx.key(row + r, f) + to_key;
          t.dx.value(row + r, f) = begin == start ? to_value : t.dx.value(row + r, f) + to_value;
        }
      }
    }
  }
};

}  // namespace detail

template <class T>
std::size_t do_attention_workspace(backend&, attention_options const&, attention_sequences const&,
                                   attention_operands<T const> const&) {
  return 0;
}

template <class T>
std::size_t do_attention_grad_workspace(backend&, attention_options const& t, attention_sequences const& s,
                                        attention_operands<T const> const&) {
  return static_cast<std::size_t>(t.heads * s.queries.rows) * sizeof(T);
}

template <class T>
void do_attention(backend& ex, attention_options const& t, attention_sequences const& s,
                  attention_operands<T const> const& x, relative_forward<T> const& relative, vec<T> lse,
                  matrix<T> context, workspace) {
  auto const run = [&](auto const& kernel) {
    launch(ex, kernel, detail::attention_blocks(s.queries, t.heads), detail::attention_rule<T>(t, s, x.query.extent(1)),
           x, relative, lse, context);
  };
  if (t.reach > 0)
    run(detail::attention_forward<T, true>{});
  else
    run(detail::attention_forward<T, false>{});
}

namespace detail {
template <bool Relative, class T>
void attention_grad_by(backend& ex, attention_options const& t, attention_sequences const& s,
                       attention_slopes<T, Relative> const& all) {
  launch(ex, attention_backward_to<T, Relative>{}, attention_blocks(s.queries, t.heads), all);
  launch(ex, attention_backward_from<T, Relative>{}, attention_blocks(s.keys, t.heads), all);
}
}  // namespace detail

template <class T>
void do_attention_grad(backend& ex, attention_options const& t, attention_sequences const& s,
                       attention_operands<T const> const& x, relative_backward<T> const& relative, vec<T const> lse,
                       matrix<T const> context, matrix<T const> dc, attention_operands<T> const& dx, workspace ws) {
  vec<T> const delta(reinterpret_cast<T*>(ws.data), t.heads * s.queries.rows);
  detail::attention_rule<T> const rule(t, s, x.query.extent(1));
  if (t.reach > 0)
    detail::attention_grad_by<true, T>(ex, t, s, {rule, x, relative, lse, context, dc, dx, delta});
  else
    detail::attention_grad_by<false, T>(ex, t, s, {rule, x, relative, lse, context, dc, dx, delta});
}

}  // namespace triad::cuda
