// Relation-aware attention, directly from its definition in ops/relation_attention.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "triad/ops/relation_attention.hpp"
#include "triad/reference/backend.hpp"

namespace triad::TRIAD_REFERENCE {

template <class T>
void do_relation_attention(backend&, relation_attention_options const& options, relation_operands<T const> const& in,
                           graph_batch const& g, vec<T> weights, matrix<T> context) {
  index_t const d = in.query.extent(1), width = d / options.heads;
  for (index_t graph = 0; graph < g.dims.graphs; ++graph) {
    index_t const n = g.size(graph), node = g.node_begin(graph), edge = g.edge_begin(graph);
    for (index_t c = 0; c < options.heads; ++c)
      for (index_t x = 0; x < n; ++x) {
        auto const at = [&](index_t y) { return relation_weight(options.heads, edge, n, c, x, y); };
        T maximum = 0, sum = 0;
        for (index_t y = 0; y < n; ++y) {
          index_t const r = edge + x * n + y;
          T s = 0;
          for (index_t f = c * width; f < (c + 1) * width; ++f)
            s += in.query(node + x, f) * (in.key(node + y, f) + in.edge_key(r, f));
          s /= std::sqrt(T(width));
          if (!options.mask.empty() && options.mask.masked(r) != 0) s = T(options.mask.fill);
          weights(at(y)) = s;
          maximum = y == 0 || s > maximum ? s : maximum;
        }
        for (index_t y = 0; y < n; ++y) sum += weights(at(y)) = std::exp(weights(at(y)) - maximum);
        for (index_t f = c * width; f < (c + 1) * width; ++f) context(node + x, f) = T(0);
        for (index_t y = 0; y < n; ++y) {
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
void do_relation_attention_grad(backend&, relation_attention_options const& options,
                                relation_operands<T const> const& in, graph_batch const& g, vec<T const> weights,
                                matrix<T const> context, matrix<T const> dc, relation_operands<T> const& dx,
                                edge_gradients edges) {
  index_t const d = in.query.extent(1), width = d / options.heads;
  bool const add = edges == edge_gradients::added;
  T const scale = options.dropout.active() ? T(options.dropout.scale()) : T(1);
  for (index_t r = 0; r < dx.query.extent(0); ++r)
    for (index_t f = 0; f < d; ++f) dx.query(r, f) = dx.key(r, f) = dx.value(r, f) = T(0);
  for (index_t graph = 0; graph < g.dims.graphs; ++graph) {
    index_t const n = g.size(graph), node = g.node_begin(graph), edge = g.edge_begin(graph);
    for (index_t c = 0; c < options.heads; ++c)
      for (index_t x = 0; x < n; ++x) {
        index_t const first = c * width, last = first + width, to = node + x;
        T delta = 0;
        for (index_t f = first; f < last; ++f) delta += dc(to, f) * context(to, f);
        for (index_t y = 0; y < n; ++y) {
          index_t const r = edge + x * n + y, from = node + y;
          T const w = weights(relation_weight(options.heads, edge, n, c, x, y)), p = std::abs(w),
                  keep = w > T(0) ? scale : T(0);
          T dp = 0;
          for (index_t f = first; f < last; ++f) dp += keep * dc(to, f) * (in.value(from, f) + in.edge_value(r, f));
          bool const masked = !options.mask.empty() && options.mask.masked(r) != 0;
          T const ds = masked ? T(0) : p * (dp - delta) / std::sqrt(T(width));
          for (index_t f = first; f < last; ++f) {
            T const dgk = ds * in.query(to, f), dgv = keep * p * dc(to, f);
            dx.query(to, f) += ds * (in.key(from, f) + in.edge_key(r, f));
            dx.key(from, f) += dgk;
            dx.value(from, f) += dgv;
            dx.edge_key(r, f) = dgk + (add ? dx.edge_key(r, f) : T(0));
            dx.edge_value(r, f) = dgv + (add ? dx.edge_value(r, f) : T(0));
          }
        }
      }
  }
}

}  // namespace triad::TRIAD_REFERENCE
