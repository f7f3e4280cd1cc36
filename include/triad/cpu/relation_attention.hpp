// Relation-aware attention with graphs in parallel and lanes along the head width.  Graphs have a few nodes, so the
// data of a whole graph stay in the cache.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

#include "triad/core/math.hpp"
#include "triad/cpu/backend.hpp"
#include "triad/cpu/kernels/random.hpp"
#include "triad/reference/relation_attention.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

namespace relations {

template <class S>
bool rows_are_contiguous(relation_operands<S> const& x) {
  return x.query.stride(1) == 1 && x.key.stride(1) == 1 && x.value.stride(1) == 1 && x.edge_key.stride(1) == 1 &&
         x.edge_value.stride(1) == 1;
}

/// Returns a . (b + g).
template <class T>
[[gnu::always_inline]] inline T shifted_dot(T const* a, T const* b, T const* g, index_t width) {
  T s = 0;
#pragma omp simd reduction(+ : s)
  for (index_t e = 0; e < width; ++e) s += a[e] * (b[e] + g[e]);
  return s;
}

/// Replaces the n scores w of one node and head by weights.  A weight that dropout sets to zero gets a minus sign.
/// w[0] is element `first` of the dropout mask.
template <class T>
void softmax_row(relation_attention_options const& options, keep_source const& source, std::uint64_t first, index_t n,
                 T* w) {
  T maximum = w[0], sum = 0;
  for (index_t y = 1; y < n; ++y) maximum = w[y] > maximum ? w[y] : maximum;
  for (index_t y = 0; y < n; ++y) sum += w[y] = std::exp(w[y] - maximum);
  T const inverse = T(1) / sum;
  for (index_t y = 0; y < n; ++y) w[y] *= inverse;
  if (!options.dropout.active()) return;
  for (index_t y = 0; y < n;) {
    auto const element = first + static_cast<std::uint64_t>(y), begin = element % dropout_block;
    auto const kept = source.bits(element / dropout_block) >> begin;
    index_t const count = std::min(n - y, dropout_block - static_cast<index_t>(begin));
    for (index_t i = 0; i < count; ++i) w[y + i] = (kept >> i & 1) != 0 ? w[y + i] : -w[y + i];
    y += count;
  }
}

}  // namespace relations

template <class T>
void do_relation_attention(backend& ex, relation_attention_options const& options, relation_operands<T const> const& in,
                           graph_batch const& g, vec<T> weights, matrix<T> context) {
  if (!relations::rows_are_contiguous(in) || context.stride(1) != 1)
    return reference::do_relation_attention(ex, options, in, g, weights, context);
  index_t const d = in.query.extent(1), heads = options.heads, width = d / heads;
  T const scale = T(1) / std::sqrt(T(width)), kept = options.dropout.active() ? T(options.dropout.scale()) : T(1);
  keep_source const source(options.dropout);
  parallel_for(ex, g.dims.graphs, [&](index_t graph, int) {
    index_t const n = g.size(graph), node = g.node_begin(graph), edge = g.edge_begin(graph),
                  first = relation_weight(heads, edge, n, 0, 0, 0);
    T* const w = weights.data_handle() + first;  // [c][x][y]
    for (index_t x = 0; x < n; ++x)
      for (index_t y = 0; y < n; ++y) {
        index_t const r = edge + x * n + y;
        bool const masked = !options.mask.empty() && options.mask.masked(r) != 0;
        for (index_t c = 0; c < heads; ++c) {
          index_t const f = c * width;
          w[(c * n + x) * n + y] = masked ? T(options.mask.fill)
                                          : scale * relations::shifted_dot(&in.query(node + x, f), &in.key(node + y, f),
                                                                           &in.edge_key(r, f), width);
        }
      }
    for (index_t row = 0; row < heads * n; ++row)
      relations::softmax_row(options, source, static_cast<std::uint64_t>(first + row * n), n, w + row * n);
    for (index_t x = 0; x < n; ++x) {
      T* const to = &context(node + x, 0);
      std::fill_n(to, d, T(0));
      for (index_t y = 0; y < n; ++y) {
        T const *const v = &in.value(node + y, 0), *const gv = &in.edge_value(edge + x * n + y, 0);
        for (index_t c = 0; c < heads; ++c) {
          T const p = w[(c * n + x) * n + y], dropped = triad::detail::is_negative(p) ? T(0) : p * kept;
#pragma omp simd
          for (index_t f = c * width; f < (c + 1) * width; ++f) to[f] += dropped * (v[f] + gv[f]);
        }
      }
    }
  });
}

template <class T>
void do_relation_attention_grad(backend& ex, relation_attention_options const& options,
                                relation_operands<T const> const& in, graph_batch const& g, vec<T const> weights,
                                matrix<T const> context, matrix<T const> dc, relation_operands<T> const& dx,
                                edge_gradients edges) {
  if (!relations::rows_are_contiguous(in) || !relations::rows_are_contiguous(dx) || context.stride(1) != 1 ||
      dc.stride(1) != 1)
    return reference::do_relation_attention_grad(ex, options, in, g, weights, context, dc, dx, edges);
  index_t const d = in.query.extent(1), heads = options.heads, width = d / heads;
  T const scale = T(1) / std::sqrt(T(width)), kept = options.dropout.active() ? T(options.dropout.scale()) : T(1);
  parallel_for(ex, g.dims.graphs, [&](index_t graph, int) {
    index_t const n = g.size(graph), node = g.node_begin(graph), edge = g.edge_begin(graph);
    T const* const w = weights.data_handle() + relation_weight(heads, edge, n, 0, 0, 0);
    for (index_t x = node; x < node + n; ++x) {
      std::fill_n(&dx.query(x, 0), d, T(0));
      std::fill_n(&dx.key(x, 0), d, T(0));
      std::fill_n(&dx.value(x, 0), d, T(0));
    }
    for (index_t x = 0; x < n; ++x)
      for (index_t c = 0; c < heads; ++c) {
        index_t const f = c * width;
        T const *const q = &in.query(node + x, f), *const gradient = &dc(node + x, f),
                       *const result = &context(node + x, f);
        T* const dq = &dx.query(node + x, f);
        T delta = 0;
#pragma omp simd reduction(+ : delta)
        for (index_t e = 0; e < width; ++e) delta += gradient[e] * result[e];
        for (index_t y = 0; y < n; ++y) {
          index_t const r = edge + x * n + y;
          T const signed_p = w[(c * n + x) * n + y], p = signed_p < T(0) ? -signed_p : signed_p,
                  keep = signed_p > T(0) ? kept : T(0);
          T const *const k = &in.key(node + y, f), *const gk = &in.edge_key(r, f);
          T const dp = keep * relations::shifted_dot(gradient, &in.value(node + y, f), &in.edge_value(r, f), width);
          bool const masked = !options.mask.empty() && options.mask.masked(r) != 0;
          T const ds = masked ? T(0) : p * (dp - delta) * scale, dropped = p * keep;
          T *const dk = &dx.key(node + y, f), *const dv = &dx.value(node + y, f), *const dgk = &dx.edge_key(r, f),
                   *const dgv = &dx.edge_value(r, f);
          if (edges == edge_gradients::added) {
#pragma omp simd
            for (index_t e = 0; e < width; ++e) {
              T const to_key = ds * q[e], to_value = dropped * gradient[e];
              dq[e] += ds * (k[e] + gk[e]);
              dk[e] += to_key;
              dv[e] += to_value;
              dgk[e] += to_key;
              dgv[e] += to_value;
            }
          } else {
#pragma omp simd
            for (index_t e = 0; e < width; ++e) {
              T const to_key = ds * q[e], to_value = dropped * gradient[e];
              dq[e] += ds * (k[e] + gk[e]);
              dk[e] += to_key;
              dv[e] += to_value;
              dgk[e] = to_key;
              dgv[e] = to_value;
            }
          }
        }
      }
  });
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
