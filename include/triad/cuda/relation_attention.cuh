// Relation-aware attention with one warp for each node and head.  Forward is a loop over the nodes that the node
// attends to.  Backward has two kernels: one for the node that attends, and one for the node that it attends to.
// SPDX-License-Identifier: Apache-2.0
//
// For dot products, each lane has some columns of the head.  For the softmax, each lane has one of the nodes that the
// node attends to.  The warp takes 32 of these nodes at a time.  Each lane holds the score or the weight of its node,
// and shuffles pass this number to the other lanes.  So any n and any width are possible without scratch memory.
//
// Backward needs no stored delta: dp - delta = dc(x) . (keep (v(y) + gv(x, y)) - c(x)).  This difference is computed
// twice, with the same bits.  The warp of x needs it for dq, dgk and dgv, and the warp of y needs it for dk and dv.
#pragma once

#include <cuda/std/cmath>
#include <cuda/std/limits>

#include "triad/cuda/device/rows.cuh"
#include "triad/ops/relation_attention.hpp"

namespace triad::cuda {

namespace detail {

inline constexpr int relation_warps = 4;

/// The node and head of a warp.  A warp beyond the last node gets a graph without nodes: the warp takes part in all
/// shuffles and barriers, but writes nothing.
struct relation_place {
  index_t head, graph, n, node, edge;  // n, node, edge: nodes, first node and first edge of the graph
  index_t own;                         // this node's number in the graph

  TRIAD_DEVICE relation_place(block const& b, graph_batch const& g, index_t heads) {
    index_t const item = b.index() * relation_warps + b.row();
    bool const live = item < g.dims.nodes * heads;
    index_t const at = live ? item / heads : 0;
    head = live ? item % heads : 0;
    graph = last_begun(b, g.node_begin, at);
    n = live ? g.size(graph) : 0;
    node = g.node_begin(graph);
    edge = g.edge_begin(graph);
    own = at - node;
  }
};

/// The options, and the values that the host computes from the options for the kernels.
template <class T>
struct relation_rule {
  relation_attention_options options;
  index_t width;
  T root, scale;
  bool drops;

  relation_rule(relation_attention_options const& o, index_t d)
      : options(o),
        width(d / o.heads),
        root(::cuda::std::sqrt(T(width))),
        scale(o.dropout.active() ? T(o.dropout.scale()) : T(1)),
        drops(o.dropout.active()) {}

  TRIAD_DEVICE bool masked(index_t edge) const {
    return options.mask.masked.extent(0) != 0 && options.mask.masked(edge) != 0;
  }
};

/// The number of nodes in the chunk that begins at node `begin`, at most 32.
TRIAD_DEVICE int relation_chunk(index_t begin, index_t n) {
  return static_cast<int>(n - begin < warp ? n - begin : warp);
}

/// Returns the sum of f(column) over the columns of the head.  All lanes get the same sum.
template <class T, class F>
TRIAD_DEVICE T head_sum(block const& b, index_t head, index_t width, F&& f) {
  T s = 0;
  for (index_t e = b.lane(); e < width; e += warp) s += f(head * width + e);
  return warp_sum(b, s);
}

/// Returns dp(x, y) - delta(x) for nodes x and y of the graph.  All lanes get the same value.  `keep` is the factor
/// that dropout gives to p.
template <class T, class Operands>
TRIAD_DEVICE T score_slope(block const& b, relation_place const& p, index_t width, Operands const& in,
                           matrix<T const> dc, matrix<T const> context, T keep, index_t x, index_t y) {
  index_t const r = p.edge + x * p.n + y;
  return head_sum<T>(b, p.head, width, [&](index_t f) {
    return dc(p.node + x, f) * (keep * (in.value(p.node + y, f) + in.edge_value(r, f)) - context(p.node + x, f));
  });
}

template <class T>
struct relation_forward {
  static constexpr char const* name = "relation_attention";
  static constexpr int threads = relation_warps * warp;

  TRIAD_DEVICE void operator()(block const& b, relation_rule<T> t, relation_operands<T const> in, graph_batch g,
                               vec<T> weights, matrix<T> context) const {
    relation_place const at(b, g, t.options.heads);
    index_t const n = at.n, x = at.node + at.own, edge = at.edge + at.own * n;  // the edge to y = 0
    index_t const first = relation_weight(t.options.heads, at.edge, n, at.head, at.own, 0);
    // A NaN does not become the maximum, but it makes the total NaN.
    T maximum = -::cuda::std::numeric_limits<T>::infinity(), total = 0;
    for (index_t begin = 0; begin < n; begin += warp) {
      int const count = relation_chunk(begin, n);
      T mine = 0;
      for (int k = 0; k < count; ++k) {
        index_t const y = at.node + begin + k, r = edge + begin + k;
        T const s = head_sum<T>(b, at.head, t.width,
                                [&](index_t f) { return in.query(x, f) * (in.key(y, f) + in.edge_key(r, f)); });
        if (b.lane() == k) mine = s / t.root;
      }
      if (b.lane() < count) {
        if (t.masked(edge + begin + b.lane())) mine = T(t.options.mask.fill);
        weights(first + begin + b.lane()) = mine;  // below, only this lane reads it
        maximum = mine > maximum ? mine : maximum;
      }
    }
    maximum = warp_maximum(b, maximum);
    for (index_t y = b.lane(); y < n; y += warp) total += ::cuda::std::exp(weights(first + y) - maximum);
    total = warp_sum(b, total);
    for (index_t begin = 0; begin < n; begin += warp) {
      int const count = relation_chunk(begin, n);
      T mine = 0;
      if (b.lane() < count) {
        index_t const element = first + begin + b.lane();
        T const p = ::cuda::std::exp(weights(element) - maximum) / total;
        bool const kept = !t.drops || t.options.dropout.keeps(static_cast<std::uint64_t>(element));
        weights(element) = kept ? p : -p;
        mine = kept ? p * t.scale : T(0);
      }
      for (index_t e = 0; e < t.width; e += warp) {
        bool const inside = e + b.lane() < t.width;
        index_t const f = at.head * t.width + e + b.lane();
        T sum = 0;
        for (int k = 0; k < count; ++k) {
          T const p = b.shuffle(mine, k);
          if (inside) sum += p * (in.value(at.node + begin + k, f) + in.edge_value(edge + begin + k, f));
        }
        if (inside) context(x, f) = begin == 0 ? sum : context(x, f) + sum;
      }
    }
  }
};

/// The values that both backward kernels need.
template <class T>
struct relation_gradients {
  relation_rule<T> rule;
  relation_operands<T const> in;
  graph_batch graphs;
  vec<T const> weights;
  matrix<T const> context, dc;
  relation_operands<T> dx;

  struct pair {
    T ds = 0, dropped = 0;  // ds(x, y) and p~(x, y)
  };

  /// Computes ds and p~ for nodes x and y of the graph.  All lanes get the same result.
  TRIAD_DEVICE pair at(block const& b, relation_place const& p, index_t x, index_t y) const {
    index_t const r = p.edge + x * p.n + y;
    T const w = weights(relation_weight(rule.options.heads, p.edge, p.n, p.head, x, y)),
            probability = w < T(0) ? -w : w;
    T const keep = w < T(0) ? T(0) : rule.scale;
    T const slope = score_slope<T>(b, p, rule.width, in, dc, context, keep, x, y);
    return {rule.masked(r) ? T(0) : probability * slope / rule.root, keep * probability};
  }
};

/// The whole warp computes the pairs f(0), ..., f(count - 1) one by one.  Lane k keeps f(k).
template <class F>
TRIAD_DEVICE auto own_pair(block const& b, int count, F&& f) {
  decltype(f(0)) own{};
  for (int k = 0; k < count; ++k) {
    auto const pair = f(k);
    if (b.lane() == k) own = pair;
  }
  return own;
}

/// Computes dq(x), and dgk and dgv of the edges (x, y).
template <class T>
struct relation_backward_to {
  static constexpr char const* name = "relation_attention_grad of queries and edges";
  static constexpr int threads = relation_warps * warp;

  TRIAD_DEVICE void operator()(block const& b, relation_gradients<T> t, bool add) const {
    relation_place const at(b, t.graphs, t.rule.options.heads);
    index_t const n = at.n, x = at.node + at.own, edge = at.edge + at.own * n, width = t.rule.width;
    for (index_t begin = 0; begin < n; begin += warp) {
      int const count = relation_chunk(begin, n);
      auto const own = own_pair(b, count, [&](int k) { return t.at(b, at, at.own, begin + k); });
      for (index_t e = 0; e < width; e += warp) {
        bool const inside = e + b.lane() < width;
        index_t const f = at.head * width + e + b.lane();
        T const q = inside ? t.in.query(x, f) : T(0), gradient = inside ? t.dc(x, f) : T(0);
        T sum = 0;
        for (int k = 0; k < count; ++k) {
          T const to_score = b.shuffle(own.ds, k), to_value = b.shuffle(own.dropped, k);
          if (!inside) continue;  // no break, since all lanes must take part in the shuffles of the next k
          index_t const r = edge + begin + k;
          sum += to_score * (t.in.key(at.node + begin + k, f) + t.in.edge_key(r, f));
          t.dx.edge_key(r, f) = to_score * q + (add ? t.dx.edge_key(r, f) : T(0));
          t.dx.edge_value(r, f) = to_value * gradient + (add ? t.dx.edge_value(r, f) : T(0));
        }
        if (inside) t.dx.query(x, f) = begin == 0 ? sum : t.dx.query(x, f) + sum;
      }
    }
  }
};

/// Computes dk(y) and dv(y).
template <class T>
struct relation_backward_from {
  static constexpr char const* name = "relation_attention_grad of keys and values";
  static constexpr int threads = relation_warps * warp;

  TRIAD_DEVICE void operator()(block const& b, relation_gradients<T> t) const {
    relation_place const at(b, t.graphs, t.rule.options.heads);
    index_t const n = at.n, y = at.node + at.own, width = t.rule.width;
    for (index_t begin = 0; begin < n; begin += warp) {
      int const count = relation_chunk(begin, n);
      auto const own = own_pair(b, count, [&](int k) { return t.at(b, at, begin + k, at.own); });
      for (index_t e = 0; e < width; e += warp) {
        bool const inside = e + b.lane() < width;
        index_t const f = at.head * width + e + b.lane();
        T to_key = 0, to_value = 0;
        for (int k = 0; k < count; ++k) {
          T const from_score = b.shuffle(own.ds, k), from_value = b.shuffle(own.dropped, k);
          index_t const x = at.node + begin + k;
          if (inside) to_key += from_score * t.in.query(x, f);
          if (inside) to_value += from_value * t.dc(x, f);
        }
        if (!inside) continue;
        t.dx.key(y, f) = begin == 0 ? to_key : t.dx.key(y, f) + to_key;
        t.dx.value(y, f) = begin == 0 ? to_value : t.dx.value(y, f) + to_value;
      }
    }
  }
};

}  // namespace detail

template <class T>
void do_relation_attention(backend& ex, relation_attention_options const& options, relation_operands<T const> const& in,
                           graph_batch const& g, vec<T> weights, matrix<T> context) {
  launch(ex, detail::relation_forward<T>{}, blocks_for(g.dims.nodes * options.heads, detail::relation_warps),
         detail::relation_rule<T>(options, in.query.extent(1)), in, g, weights, context);
}

template <class T>
void do_relation_attention_grad(backend& ex, relation_attention_options const& options,
                                relation_operands<T const> const& in, graph_batch const& g, vec<T const> weights,
                                matrix<T const> context, matrix<T const> dc, relation_operands<T> const& dx,
                                edge_gradients edges) {
  index_t const blocks = blocks_for(g.dims.nodes * options.heads, detail::relation_warps);
  detail::relation_gradients<T> const all{
      detail::relation_rule<T>(options, in.query.extent(1)), in, g, weights, context, dc, dx};
  launch(ex, detail::relation_backward_to<T>{}, blocks, all, edges == edge_gradients::added);
  launch(ex, detail::relation_backward_from<T>{}, blocks, all);
}

}  // namespace triad::cuda
