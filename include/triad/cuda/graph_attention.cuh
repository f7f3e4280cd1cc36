// Graph attention with one warp for each node and head, as in cuda/relation_attention.cuh.
// SPDX-License-Identifier: Apache-2.0
//
// A score is a sum of three numbers, so each lane computes the score of one node.  For values, each lane has some
// columns of the head.  Nodes that are not neighbours have weight 0, and their values are skipped.
#pragma once

#include "triad/cuda/relation_attention.cuh"
#include "triad/ops/graph_attention.hpp"

namespace triad::cuda {

namespace detail {

/// The arguments of the kernels.
template <class T>
struct graph_attention_rule {
  graph_attention_options options;
  graph_attention_operands<T const> in;
  graph_batch graphs;
  vec<index_t const> label;
  index_t width;
  T slope, scale;
  bool drops;

  graph_attention_rule(graph_attention_options const& o, graph_attention_operands<T const> const& x,
                       graph_batch const& g, vec<index_t const> labels)
      : options(o),
        in(x),
        graphs(g),
        label(labels),
        width(x.value.extent(1) / o.heads),
        slope(T(o.slope)),
        scale(o.dropout.active() ? T(o.dropout.scale()) : T(1)),
        drops(o.dropout.active()) {}

  /// For nodes x and y of the graph, these functions return whether x and y are neighbours, their z, and the index of
  /// their weight.
  TRIAD_DEVICE bool neighbours(relation_place const& p, index_t x, index_t y) const {
    return are_neighbours(label, p.edge, p.n, x, y);
  }
  TRIAD_DEVICE T z(relation_place const& p, index_t x, index_t y) const {
    return in.query_score(p.node + x, p.head) + in.key_score(p.node + y, p.head) +
           in.edge_score(p.edge + x * p.n + y, p.head);
  }
  TRIAD_DEVICE index_t weight(relation_place const& p, index_t x, index_t y) const {
    return relation_weight(options.heads, p.edge, p.n, p.head, x, y);
  }
};

template <class T>
struct graph_attention_forward {
  static constexpr char const* name = "graph_attention";
  static constexpr int threads = relation_warps * warp;

  TRIAD_DEVICE void operator()(block const& b, graph_attention_rule<T> t, vec<T> weights, matrix<T> context) const {
    relation_place const at(b, t.graphs, t.options.heads);
    index_t const n = at.n, x = at.own;
    // A NaN does not become the maximum, but it makes the total NaN.
    T maximum = -::cuda::std::numeric_limits<T>::infinity(), total = 0;
    for (index_t y = b.lane(); y < n; y += warp)
      if (t.neighbours(at, x, y)) {
        T const s = leaky_relu<T>{t.slope}(t.z(at, x, y));
        weights(t.weight(at, x, y)) = s;  // below, only this lane reads it
        maximum = s > maximum ? s : maximum;
      }
    maximum = warp_maximum(b, maximum);
    for (index_t y = b.lane(); y < n; y += warp)
      if (t.neighbours(at, x, y)) total += ::cuda::std::exp(weights(t.weight(at, x, y)) - maximum);
    total = warp_sum(b, total);
    for (index_t begin = 0; begin < n; begin += warp) {
      int const count = relation_chunk(begin, n);
      T mine = 0;
      if (b.lane() < count) {
        index_t const y = begin + b.lane(), element = t.weight(at, x, y);
        T const p = t.neighbours(at, x, y) ? ::cuda::std::exp(weights(element) - maximum) / total : T(0);
        bool const kept = !t.drops || t.options.dropout.keeps(static_cast<std::uint64_t>(element));
        weights(element) = kept || p == T(0) ? p : -p;
        mine = kept ? p * t.scale : T(0);
      }
      for (index_t e = 0; e < t.width; e += warp) {
        bool const inside = e + b.lane() < t.width;
        index_t const f = at.head * t.width + e + b.lane();
        T sum = 0;
        for (int k = 0; k < count; ++k) {
          T const p = b.shuffle(mine, k);
          index_t const y = begin + k;
          if (inside && p != T(0)) sum += p * (t.in.value(at.node + y, f) + t.in.edge_value(at.edge + x * n + y, f));
        }
        if (inside) context(at.node + x, f) = begin == 0 ? sum : context(at.node + x, f) + sum;
      }
    }
  }
};

/// The values that both backward kernels need.
template <class T>
struct graph_attention_gradients {
  graph_attention_rule<T> rule;
  vec<T const> weights;
  matrix<T const> context, dc;
  graph_attention_operands<T> dx;

  struct pair {
    T dz = 0, dropped = 0;  // dz(x, y) and p~(x, y)
  };

  /// Computes dz and p~ for nodes x and y of the graph.  All lanes get the same result.
  TRIAD_DEVICE pair at(block const& b, relation_place const& p, index_t x, index_t y) const {
    T const w = weights(rule.weight(p, x, y)), probability = w < T(0) ? -w : w, keep = w < T(0) ? T(0) : rule.scale;
    if (w == T(0)) return {};  // all lanes read the same number
    T const slope = score_slope<T>(b, p, rule.width, rule.in, dc, context, keep, x, y);
    return {leaky_relu_grad<T>{rule.slope}(rule.z(p, x, y), probability * slope), keep * probability};
  }
};

/// Computes dqs(x), and des and dev of the edges (x, y).
template <class T>
struct graph_attention_backward_to {
  static constexpr char const* name = "graph_attention_grad of queries and edges";
  static constexpr int threads = relation_warps * warp;

  TRIAD_DEVICE void operator()(block const& b, graph_attention_gradients<T> t, bool add) const {
    relation_place const at(b, t.rule.graphs, t.rule.options.heads);
    index_t const n = at.n, x = at.node + at.own, edge = at.edge + at.own * n, width = t.rule.width;
    T to_query = 0;
    for (index_t begin = 0; begin < n; begin += warp) {
      int const count = relation_chunk(begin, n);
      auto const own = own_pair(b, count, [&](int k) { return t.at(b, at, at.own, begin + k); });
      to_query += own.dz;
      if (b.lane() < count) {
        T& to = t.dx.edge_score(edge + begin + b.lane(), at.head);
        to = own.dz + (add ? to : T(0));
      }
      for (index_t e = 0; e < width; e += warp) {
        bool const inside = e + b.lane() < width;
        index_t const f = at.head * width + e + b.lane();
        T const gradient = inside ? t.dc(x, f) : T(0);
        for (int k = 0; k < count; ++k) {
          T const to_value = b.shuffle(own.dropped, k);
          if (!inside) continue;  // no break, since all lanes must take part in the shuffles of the next k
          T& to = t.dx.edge_value(edge + begin + k, f);
          to = to_value * gradient + (add ? to : T(0));
        }
      }
    }
    to_query = warp_sum(b, to_query);
    if (n > 0 && b.lane() == 0) t.dx.query_score(x, at.head) = to_query;
  }
};

/// Computes dks(y) and dv(y).
template <class T>
struct graph_attention_backward_from {
  static constexpr char const* name = "graph_attention_grad of keys and values";
  static constexpr int threads = relation_warps * warp;

  TRIAD_DEVICE void operator()(block const& b, graph_attention_gradients<T> t) const {
    relation_place const at(b, t.rule.graphs, t.rule.options.heads);
    index_t const n = at.n, y = at.node + at.own, width = t.rule.width;
    T to_key = 0;
    for (index_t begin = 0; begin < n; begin += warp) {
      int const count = relation_chunk(begin, n);
      auto const own = own_pair(b, count, [&](int k) { return t.at(b, at, begin + k, at.own); });
      to_key += own.dz;
      for (index_t e = 0; e < width; e += warp) {
        bool const inside = e + b.lane() < width;
        index_t const f = at.head * width + e + b.lane();
        T sum = 0;
        for (int k = 0; k < count; ++k) {
          T const from_value = b.shuffle(own.dropped, k);
          if (inside) sum += from_value * t.dc(at.node + begin + k, f);
        }
        if (inside) t.dx.value(y, f) = begin == 0 ? sum : t.dx.value(y, f) + sum;
      }
    }
    to_key = warp_sum(b, to_key);
    if (n > 0 && b.lane() == 0) t.dx.key_score(y, at.head) = to_key;
  }
};

}  // namespace detail

template <class T>
void do_graph_attention(backend& ex, graph_attention_options const& options,
                        graph_attention_operands<T const> const& in, graph_batch const& g, vec<index_t const> label,
                        vec<T> weights, matrix<T> context) {
  launch(ex, detail::graph_attention_forward<T>{}, blocks_for(g.dims.nodes * options.heads, detail::relation_warps),
         detail::graph_attention_rule<T>(options, in, g, label), weights, context);
}

template <class T>
void do_graph_attention_grad(backend& ex, graph_attention_options const& options,
                             graph_attention_operands<T const> const& in, graph_batch const& g,
                             vec<index_t const> label, vec<T const> weights, matrix<T const> context,
                             matrix<T const> dc, graph_attention_operands<T> const& dx, edge_gradients edges) {
  index_t const blocks = blocks_for(g.dims.nodes * options.heads, detail::relation_warps);
  detail::graph_attention_gradients<T> const all{detail::graph_attention_rule<T>(options, in, g, label), weights,
                                                 context, dc, dx};
  launch(ex, detail::graph_attention_backward_to<T>{}, blocks, all, edges == edge_gradients::added);
  launch(ex, detail::graph_attention_backward_from<T>{}, blocks, all);
}

}  // namespace triad::cuda
