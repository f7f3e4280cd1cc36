// Graph attention, directly from its definition in ops/graph_attention.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "triad/ops/graph_attention.hpp"
#include "triad/reference/backend.hpp"

namespace triad::TRIAD_REFERENCE {

template <class T>
void do_graph_attention(backend&, graph_attention_options const& options, graph_attention_operands<T const> const& in,
                        graph_batch const& g, vec<index_t const> label, vec<T> weights, matrix<T> context) {
  index_t const d = in.value.extent(1), width = d / options.heads;
  for (index_t graph = 0; graph < g.dims.graphs; ++graph) {
    index_t const n = g.size(graph), node = g.node_begin(graph), edge = g.edge_begin(graph);
    for (index_t c = 0; c < options.heads; ++c)
      for (index_t x = 0; x < n; ++x) {
        auto const at = [&](index_t y) { return relation_weight(options.heads, edge, n, c, x, y); };
        auto const score = [&](index_t y) {
          T const z = in.query_score(node + x, c) + in.key_score(node + y, c) + in.edge_score(edge + x * n + y, c);
          return leaky_relu<T>{T(options.slope)}(z);
        };
        auto const neighbour = [&](index_t y) { return are_neighbours(label, edge, n, x, y); };
        T maximum = score(x), sum = 0;
        for (index_t y = 0; y < n; ++y)
          if (neighbour(y)) maximum = score(y) > maximum ? score(y) : maximum;
        for (index_t y = 0; y < n; ++y) sum += weights(at(y)) = neighbour(y) ? std::exp(score(y) - maximum) : T(0);
        for (index_t f = c * width; f < (c + 1) * width; ++f) context(node + x, f) = T(0);
        for (index_t y = 0; y < n; ++y) {
          if (!neighbour(y)) continue;
          T const p = weights(at(y)) / sum;
          bool const kept = !options.dropout.active() || options.dropout.keeps(static_cast<std::uint64_t>(at(y)));
          weights(at(y)) = kept ? p : -p;
          if (!kept) continue;
          T const dropped = options.dropout.active() ? p * T(options.dropout.scale()) : p;
          for (index_t f = c * width; f < (c + 1) * width; ++f)
            context(node + x, f) += dropped * (in.value(node + y, f) + in.edge_value(edge + x * n + y, f));
        }
      }
  }
}

template <class T>
void do_graph_attention_grad(backend&, graph_attention_options const& options,
                             graph_attention_operands<T const> const& in, graph_batch const& g,
                             vec<index_t const> label, vec<T const> weights, matrix<T const> context,
                             matrix<T const> dc, graph_attention_operands<T> const& dx, edge_gradients edges) {
  index_t const d = in.value.extent(1), width = d / options.heads;
  bool const add = edges == edge_gradients::added;
  T const scale = options.dropout.active() ? T(options.dropout.scale()) : T(1);
  for (index_t r = 0; r < g.dims.nodes; ++r) {
    for (index_t f = 0; f < d; ++f) dx.value(r, f) = T(0);
    for (index_t c = 0; c < options.heads; ++c) dx.query_score(r, c) = dx.key_score(r, c) = T(0);
  }
  for (index_t graph = 0; graph < g.dims.graphs; ++graph) {
    index_t const n = g.size(graph), node = g.node_begin(graph), edge = g.edge_begin(graph);
    for (index_t c = 0; c < options.heads; ++c)
      for (index_t x = 0; x < n; ++x) {
        index_t const first = c * width, last = first + width, to = node + x;
        T delta = 0;
        for (index_t f = first; f < last; ++f) delta += dc(to, f) * context(to, f);
        for (index_t y = 0; y < n; ++y) {
          index_t const r = edge + x * n + y, from = node + y;
          T dz = 0, dropped = 0;
          if (are_neighbours(label, edge, n, x, y)) {
            T const w = weights(relation_weight(options.heads, edge, n, c, x, y)), p = std::abs(w),
                    keep = w > T(0) ? scale : T(0);
            T dp = 0;
            for (index_t f = first; f < last; ++f) dp += keep * dc(to, f) * (in.value(from, f) + in.edge_value(r, f));
            T const z = in.query_score(to, c) + in.key_score(from, c) + in.edge_score(r, c);
            dz = leaky_relu_grad<T>{T(options.slope)}(z, p * (dp - delta));
            dropped = keep * p;
          }
          dx.query_score(to, c) += dz;
          dx.key_score(from, c) += dz;
          dx.edge_score(r, c) = dz + (add ? dx.edge_score(r, c) : T(0));
          for (index_t f = first; f < last; ++f) {
            T const to_value = dropped * dc(to, f);
            dx.value(from, f) += to_value;
            dx.edge_value(r, f) = to_value + (add ? dx.edge_value(r, f) : T(0));
          }
        }
      }
  }
}

}  // namespace triad::TRIAD_REFERENCE
