// Graph attention with graphs in parallel and lanes along the head width.  Pairs of nodes that are not neighbours are
// skipped.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

#include "triad/cpu/backend.hpp"
#include "triad/reference/graph_attention.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

template <class T>
void do_graph_attention(backend& ex, graph_attention_options const& options,
                        graph_attention_operands<T const> const& in, graph_batch const& g, vec<index_t const> label,
                        vec<T> weights, matrix<T> context) {
  if (in.value.stride(1) != 1 || in.edge_value.stride(1) != 1 || context.stride(1) != 1)
    return reference::do_graph_attention(ex, options, in, g, label, weights, context);
  index_t const d = in.value.extent(1), heads = options.heads, width = d / heads;
  T const slope = T(options.slope), scale = options.dropout.active() ? T(options.dropout.scale()) : T(1);
  parallel_for(ex, g.dims.graphs, [&](index_t graph, int) {
    index_t const n = g.size(graph), node = g.node_begin(graph), edge = g.edge_begin(graph);
    for (index_t x = 0; x < n; ++x) {
      T* const to = &context(node + x, 0);
      std::fill_n(to, d, T(0));
      for (index_t c = 0; c < heads; ++c) {
        index_t const first = relation_weight(heads, edge, n, c, x, 0);
        T* const w = weights.data_handle() + first;
        auto const score = [&](index_t y) {
          T const z = in.query_score(node + x, c) + in.key_score(node + y, c) + in.edge_score(edge + x * n + y, c);
          return leaky_relu<T>{slope}(z);
        };
        T maximum = score(x), sum = 0;
        for (index_t y = 0; y < n; ++y) {
          if (!are_neighbours(label, edge, n, x, y)) continue;
          w[y] = score(y);
          maximum = w[y] > maximum ? w[y] : maximum;
        }
        for (index_t y = 0; y < n; ++y)
          sum += w[y] = are_neighbours(label, edge, n, x, y) ? std::exp(w[y] - maximum) : T(0);
        T const inverse = T(1) / sum;
        for (index_t y = 0; y < n; ++y) {
          if (!are_neighbours(label, edge, n, x, y)) continue;
          T const p = w[y] * inverse;
          bool const kept = !options.dropout.active() || options.dropout.keeps(static_cast<std::uint64_t>(first + y));
          w[y] = kept ? p : -p;
          if (!kept) continue;
          T const dropped = p * scale;
          T const *const v = &in.value(node + y, 0), *const ev = &in.edge_value(edge + x * n + y, 0);
#pragma omp simd
          for (index_t f = c * width; f < (c + 1) * width; ++f) to[f] += dropped * (v[f] + ev[f]);
        }
      }
    }
  });
}

template <class T>
void do_graph_attention_grad(backend& ex, graph_attention_options const& options,
                             graph_attention_operands<T const> const& in, graph_batch const& g,
                             vec<index_t const> label, vec<T const> weights, matrix<T const> context,
                             matrix<T const> dc, graph_attention_operands<T> const& dx, edge_gradients edges) {
  if (in.value.stride(1) != 1 || in.edge_value.stride(1) != 1 || context.stride(1) != 1 || dc.stride(1) != 1 ||
      dx.value.stride(1) != 1 || dx.edge_value.stride(1) != 1)
    return reference::do_graph_attention_grad(ex, options, in, g, label, weights, context, dc, dx, edges);
  index_t const d = in.value.extent(1), heads = options.heads, width = d / heads;
  T const slope = T(options.slope), scale = options.dropout.active() ? T(options.dropout.scale()) : T(1);
  parallel_for(ex, g.dims.graphs, [&](index_t graph, int) {
    index_t const n = g.size(graph), node = g.node_begin(graph), edge = g.edge_begin(graph);
    for (index_t x = node; x < node + n; ++x) {
      std::fill_n(&dx.value(x, 0), d, T(0));
      for (index_t c = 0; c < heads; ++c) dx.query_score(x, c) = dx.key_score(x, c) = T(0);
    }
    if (edges == edge_gradients::overwritten)
      for (index_t r = edge; r < edge + n * n; ++r) {
        std::fill_n(&dx.edge_value(r, 0), d, T(0));
        for (index_t c = 0; c < heads; ++c) dx.edge_score(r, c) = T(0);
      }
    for (index_t x = 0; x < n; ++x)
      for (index_t c = 0; c < heads; ++c) {
        index_t const f = c * width;
        T const *const gradient = &dc(node + x, f), *const result = &context(node + x, f),
                       *const w = weights.data_handle() + relation_weight(heads, edge, n, c, x, 0);
        T delta = 0;
#pragma omp simd reduction(+ : delta)
        for (index_t e = 0; e < width; ++e) delta += gradient[e] * result[e];
        for (index_t y = 0; y < n; ++y) {
          if (!are_neighbours(label, edge, n, x, y)) continue;
          index_t const r = edge + x * n + y;
          T const p = w[y] < T(0) ? -w[y] : w[y], keep = w[y] > T(0) ? scale : T(0), dropped = p * keep;
          T const *const v = &in.value(node + y, f), *const ev = &in.edge_value(r, f);
          T *const dv = &dx.value(node + y, f), *const dev = &dx.edge_value(r, f);
          T dp = 0;
#pragma omp simd reduction(+ : dp)
          for (index_t e = 0; e < width; ++e) dp += gradient[e] * (v[e] + ev[e]);
          T const z = in.query_score(node + x, c) + in.key_score(node + y, c) + in.edge_score(r, c),
                  dz = leaky_relu_grad<T>{slope}(z, p * (keep * dp - delta));
          dx.query_score(node + x, c) += dz;
          dx.key_score(node + y, c) += dz;
          dx.edge_score(r, c) += dz;
#pragma omp simd
          for (index_t e = 0; e < width; ++e) {
            T const to_value = dropped * gradient[e];
            dv[e] += to_value;
            dev[e] += to_value;
          }
        }
      }
  });
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
