// Attention, in which a block computes sixteen queries of one head in a loop over all keys.  For the gradients of keys
// and values, a block computes sixteen keys in a loop over all queries.
// SPDX-License-Identifier: Apache-2.0
//
// Forward keeps the largest score and the sums so far (Milakov and Gimelshein 2018).  If forward reads a larger score,
// it rescales the sums.  Kernels with relative positions are separate types, so that the other kernels contain no code
// for positions.
#pragma once

#include <cuda/std/cmath>
#include <cuda/std/limits>

#include "triad/cuda/device/attention_tile.cuh"

namespace triad::cuda {

namespace detail {

template <class T, bool Relative>
struct attention_forward {
  static constexpr char const* name = Relative ? "attention with relative positions" : "attention";
  static constexpr int threads = attention_warps * warp, resident = Relative ? 2 : 4;
  struct shared {
    alignas(16) kept_tile<T> query, weight;
    alignas(16) passing_tile<T> other;  // keys, then values
  };

  TRIAD_DEVICE void operator()(block const& b, attention_rule<T> rule, attention_operands<T const> in,
                               relative_forward<T> relative, vec<T> lse, matrix<T> context) const {
    constexpr T none = -::cuda::std::numeric_limits<T>::infinity();
    attention_place<T> const at(b, rule, rule.sequences.queries.longest);
    if (at.first >= at.queries) return;  // the whole block returns
    auto& s = b.shared<shared>();
    int const count = at.queries - at.first,
              last = at.first + (count < attention_tile_rows ? count : attention_tile_rows) - 1, keys = at.seen(last);
    int const first_row = at.first + b.row() * attention_warp_rows;  // the warp's first query
    T maximum[attention_warp_rows], total[attention_warp_rows] = {}, shrink[attention_warp_rows];
    attention_sums<T> mixed = {};  // sums of values, not yet divided by the sum of weights
    TRIAD_UNROLL
    for (int r = 0; r < attention_warp_rows; ++r) maximum[r] = none;
    TRIAD_NO_UNROLL
    for (int begin = 0; begin < keys; begin += warp) {
      T score[attention_warp_rows] = {};
      TRIAD_NO_UNROLL
      for (int e = 0; e < rule.width; e += warp) {
        b.sync();
        at.stage(b, s.query, in.query, at.first_query + at.first, count, e);
        at.stage(b, s.other, in.key, at.first_key + begin, at.keys - begin, e);
        at.finish_staging(b);
        add_dots<T>(b, s.query, s.other, score);
      }
      int const j = begin + b.lane();
      TRIAD_UNROLL
      for (int r = 0; r < attention_warp_rows; ++r) {
        bool const sees = at.sees(first_row + r, j);
        if constexpr (Relative)
          if (sees) score[r] += at.by_offset(relative.bias, first_row + r, j);
        T const x = sees ? score[r] * rule.scale : none, larger = warp_maximum(b, x > maximum[r] ? x : maximum[r]);
        T const base = larger > none ? larger : T(0);
        T const p = sees ? ::cuda::std::exp(x - base) : T(0);
        shrink[r] = maximum[r] > none ? ::cuda::std::exp(maximum[r] - base) : T(0);
        total[r] = total[r] * shrink[r] + warp_sum(b, p);
        maximum[r] = larger;
        s.weight[b.row() * attention_warp_rows + r][b.lane()] = sees ? p * at.kept(first_row + r, j) : T(0);
      }
      at.each_piece([&](int piece, int e) {
        b.sync();
        at.stage(b, s.other, in.value, at.first_key + begin, at.keys - begin, e);
        at.finish_staging(b);
        T sum[attention_warp_rows];
        weigh<T>(b, s.weight, s.other, sum);
        TRIAD_UNROLL
        for (int r = 0; r < attention_warp_rows; ++r)
          mixed[r][piece] = begin == 0 ? sum[r] : mixed[r][piece] * shrink[r] + sum[r];
      });
      if constexpr (Relative)
        for (int r = 0; r < attention_warp_rows && at.writes_rest(); ++r)
          at.sum_by_offset(b, s.weight, r, first_row + r, begin, shrink[r], relative.offset_weights);
    }
    TRIAD_UNROLL
    for (int r = 0; r < attention_warp_rows; ++r) {
      if (first_row + r >= at.queries) continue;
      bool const blind = total[r] == T(0);
      at.each_own_column(b, [&](int piece, index_t f) {
        context(at.first_query + first_row + r, f) = blind ? T(0) : mixed[r][piece] / total[r];
      });
      if (!at.writes_rest()) continue;
      if constexpr (Relative)
        at.each_own_offset(b, [&](index_t u) {
          T& weight = at.offset(relative.offset_weights, first_row + r, u);
          weight = blind ? T(0) : weight / total[r];
        });
      if (b.lane() == 0) lse(at.statistic(first_row + r)) = blind ? none : maximum[r] + ::cuda::std::log(total[r]);
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
  vec<T> delta;  // (h q rows) written by the blocks of queries, read by the blocks of keys

  /// Computes p~ and ds of query i and key j.
  TRIAD_DEVICE void at(attention_place<T> const& place, int i, int j, T score, T slope, T offset, T delta_i, T& dropped,
                       T& ds) const {
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

/// Computes dquery and delta.
template <class T, bool Relative>
struct attention_backward_to {
  static constexpr char const* name =
      Relative ? "attention_grad of queries, with relative positions" : "attention_grad of queries";
  static constexpr int threads = attention_warps * warp, resident = Relative ? 2 : 3;
  struct shared {
    alignas(16) kept_tile<T> query, gradient, ds;
    alignas(16) passing_tile<T> key, value;
  };

  TRIAD_DEVICE void operator()(block const& b, attention_slopes<T, Relative> t) const {
    auto const& rule = t.rule;
    attention_place<T> const at(b, rule, rule.sequences.queries.longest);
    if (at.first >= at.queries) return;  // the whole block returns
    auto& s = b.shared<shared>();
    int const count = at.queries - at.first,
              last = at.first + (count < attention_tile_rows ? count : attention_tile_rows) - 1, keys = at.seen(last);
    int const first_row = at.first + b.row() * attention_warp_rows;
    index_t const row = at.first_query + first_row;
    T delta[attention_warp_rows], offset[attention_warp_rows];
    attention_sums<T> d_query = {};
    TRIAD_UNROLL
    for (int r = 0; r < attention_warp_rows; ++r) {
      bool const live = first_row + r < at.queries;
      T part = 0;
      if (live) at.each_column(b, [&](index_t f) { part += t.dc(row + r, f) * t.context(row + r, f); });
      delta[r] = warp_sum(b, part);
      offset[r] = live ? t.lse(at.statistic(first_row + r)) : T(0);
      if (live && b.lane() == 0 && at.writes_rest()) t.delta(at.statistic(first_row + r)) = delta[r];
      if constexpr (Relative)
        if (live && keys == 0 && at.writes_rest())
          at.each_own_offset(b, [&](index_t u) { at.offset(t.relative.d_bias, first_row + r, u) = T(0); });
    }
    TRIAD_NO_UNROLL
    for (int begin = 0; begin < keys; begin += warp) {
      T score[attention_warp_rows] = {}, slope[attention_warp_rows] = {};
      TRIAD_NO_UNROLL
      for (int e = 0; e < rule.width; e += warp) {
        b.sync();
        at.stage(b, s.query, t.in.query, at.first_query + at.first, count, e);
        at.stage(b, s.gradient, t.dc, at.first_query + at.first, count, e);
        at.stage(b, s.key, t.in.key, at.first_key + begin, at.keys - begin, e);
        at.stage(b, s.value, t.in.value, at.first_key + begin, at.keys - begin, e);
        at.finish_staging(b);
        add_dots<T>(b, s.query, s.key, score);
        add_dots<T>(b, s.gradient, s.value, slope);
      }
      TRIAD_UNROLL
      for (int r = 0; r < attention_warp_rows; ++r) {
        T dropped, ds;
        t.at(at, first_row + r, begin + b.lane(), score[r], slope[r], offset[r], delta[r], dropped, ds);
        s.ds[b.row() * attention_warp_rows + r][b.lane()] = ds;
      }
      at.each_piece([&](int piece, int e) {
        b.sync();
        at.stage(b, s.key, t.in.key, at.first_key + begin, at.keys - begin, e);
        at.finish_staging(b);
        T sum[attention_warp_rows];
        weigh<T>(b, s.ds, s.key, sum);
        TRIAD_UNROLL
        for (int r = 0; r < attention_warp_rows; ++r)
          d_query[r][piece] = begin == 0 ? sum[r] : d_query[r][piece] + sum[r];
      });
      if constexpr (Relative)
        for (int r = 0; r < attention_warp_rows && at.writes_rest(); ++r)
          at.sum_by_offset(b, s.ds, r, first_row + r, begin, T(1), t.relative.d_bias);
    }
    TRIAD_UNROLL
    for (int r = 0; r < attention_warp_rows; ++r)
      if (first_row + r < at.queries)
        at.each_own_column(b, [&](int piece, index_t f) { t.dx.query(row + r, f) = d_query[r][piece]; });
  }
};

/// Computes dkey and dvalue.
template <class T, bool Relative>
struct attention_backward_from {
  static constexpr char const* name =
      Relative ? "attention_grad of keys and values, with relative positions" : "attention_grad of keys and values";
  static constexpr int threads = attention_warps * warp, resident = 3;
  struct shared {
    alignas(16) kept_tile<T> key, value, ds, dropped;
    alignas(16) passing_tile<T> query, gradient;
  };

  TRIAD_DEVICE void operator()(block const& b, attention_slopes<T, Relative> t) const {
    auto const& rule = t.rule;
    attention_place<T> const at(b, rule, rule.sequences.keys.longest);
    if (at.first >= at.keys) return;  // the whole block returns
    auto& s = b.shared<shared>();
    int const count = at.keys - at.first, start = at.first_seeing(at.first);
    int const first_row = at.first + b.row() * attention_warp_rows;
    index_t const row = at.first_key + first_row;
    attention_sums<T> d_key = {}, d_value = {};
    TRIAD_NO_UNROLL
    for (int begin = start; begin < at.queries; begin += warp) {
      int const i = begin + b.lane();
      index_t const first = at.first_query + begin;
      T score[attention_warp_rows] = {}, slope[attention_warp_rows] = {};
      TRIAD_NO_UNROLL
      for (int e = 0; e < rule.width; e += warp) {
        b.sync();
        at.stage(b, s.key, t.in.key, at.first_key + at.first, count, e);
        at.stage(b, s.value, t.in.value, at.first_key + at.first, count, e);
        at.stage(b, s.query, t.in.query, first, at.queries - begin, e);
        at.stage(b, s.gradient, t.dc, first, at.queries - begin, e);
        at.finish_staging(b);
        add_dots<T>(b, s.key, s.query, score);
        add_dots<T>(b, s.value, s.gradient, slope);
      }
      T const offset = i < at.queries ? t.lse(at.statistic(i)) : T(0),
              delta = i < at.queries ? t.delta(at.statistic(i)) : T(0);
      TRIAD_UNROLL
      for (int r = 0; r < attention_warp_rows; ++r) {
        T dropped, ds;
        t.at(at, i, first_row + r, score[r], slope[r], offset, delta, dropped, ds);
        s.ds[b.row() * attention_warp_rows + r][b.lane()] = ds;
        s.dropped[b.row() * attention_warp_rows + r][b.lane()] = dropped;
      }
      at.each_piece([&](int piece, int e) {
        b.sync();
        at.stage(b, s.query, t.in.query, first, at.queries - begin, e);
        at.stage(b, s.gradient, t.dc, first, at.queries - begin, e);
        at.finish_staging(b);
        T to_key[attention_warp_rows], to_value[attention_warp_rows];
        weigh<T>(b, s.ds, s.query, to_key);
        weigh<T>(b, s.dropped, s.gradient, to_value);
        TRIAD_UNROLL
        for (int r = 0; r < attention_warp_rows; ++r) {
          d_key[r][piece] = begin == start ? to_key[r] : d_key[r][piece] + to_key[r];
          d_value[r][piece] = begin == start ? to_value[r] : d_value[r][piece] + to_value[r];
        }
      });
    }
    TRIAD_UNROLL
    for (int r = 0; r < attention_warp_rows; ++r)
      if (first_row + r < at.keys)
        at.each_own_column(b, [&](int piece, index_t f) {
          t.dx.key(row + r, f) = d_key[r][piece];
          t.dx.value(row + r, f) = d_value[r][piece];
        });
  }
};

}  // namespace detail

template <class T>
std::size_t do_attention_workspace(backend&, attention_options const&, attention_sequences const&,
                                   attention_operands<T const> const&) {
  return 0;
}

template <class T>
std::size_t do_attention_grad_workspace(backend&, attention_options const& options, attention_sequences const& s,
                                        attention_operands<T const> const&) {
  return static_cast<std::size_t>(options.heads * s.queries.rows) * sizeof(T);
}

template <class T>
void do_attention(backend& ex, attention_options const& options, attention_sequences const& s,
                  attention_operands<T const> const& x, relative_forward<T> const& relative, vec<T> lse,
                  matrix<T> context, workspace) {
  detail::attention_rule<T> const rule(options, s, x);
  auto const run = [&](auto const& kernel) {
    launch(ex, kernel, rule.blocks(s.queries), rule, x, relative, lse, context);
  };
  if (options.reach > 0)
    run(detail::attention_forward<T, true>{});
  else
    run(detail::attention_forward<T, false>{});
}

namespace detail {
template <bool Relative, class T>
void attention_grad_by(backend& ex, attention_sequences const& s, attention_slopes<T, Relative> const& all) {
  launch(ex, attention_backward_to<T, Relative>{}, all.rule.blocks(s.queries), all);
  launch(ex, attention_backward_from<T, Relative>{}, all.rule.blocks(s.keys), all);
}
}  // namespace detail

template <class T>
void do_attention_grad(backend& ex, attention_options const& options, attention_sequences const& s,
                       attention_operands<T const> const& x, relative_backward<T> const& relative, vec<T const> lse,
                       matrix<T const> context, matrix<T const> dc, attention_operands<T> const& dx, workspace ws) {
  vec<T> const delta(reinterpret_cast<T*>(ws.data), options.heads * s.queries.rows);
  detail::attention_rule<T> const rule(options, s, x, dc);
  if (options.reach > 0)
    detail::attention_grad_by<true, T>(ex, s, {rule, x, relative, lse, context, dc, dx, delta});
  else
    detail::attention_grad_by<false, T>(ex, s, {rule, x, relative, lse, context, dc, dx, delta});
}

}  // namespace triad::cuda
