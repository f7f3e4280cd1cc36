// Triangular attention without tiles, with one warp for each edge and head.  This version is used for the flat form,
// for heads wider than a tile, for a bias of the scores, and for single edges.
// SPDX-License-Identifier: Apache-2.0
//
// A warp loops over the terms of its edge.  The warp computes the score of each term as a sum over lanes, and adds the
// term to columns in registers.  A lane holds `held` columns at a time.  Any form and any width are possible.  Backward
// computes the score and dp again for every gradient that the warp computes.
//
//   Lane t has columns t, t + 32, t + 64, t + 96, and then the next 128.  A block has 4 warps, for 4 edges (i, j) side
//   by side.  There is no shared memory: shuffles add the columns of a head over the lanes.
#pragma once

#include "triad/cuda/device/launch.cuh"
#include "triad/cuda/triangle/parts.cuh"

namespace triad::cuda::triangles {

/// The bias of the scores, and the graphs, which say where the bias of each graph begins.  It is not a part of the
/// problem, because the other kernels do not read it, and more arguments would change their code.
template <class T>
struct score_bias {
  triangle_bias<T const> numbers;
  graph_batch graphs;
};

/// One head of one graph in any form.  All lanes of a warp must call its functions together.
template <class T>
struct general_head : one_head<T> {
  using one_head<T>::width;
  triangle_form form;
  int terms;
  T fill, scale;
  triangle_bias_head<T const> bias;

  TRIAD_DEVICE general_head(problem<T> const& p, score_bias<T> const& s, triangle_form f, index_t graph, index_t c)
      : one_head<T>(p, graph, c, f == triangle_form::flat ? 2 : 1),
        form(f),
        terms(f == triangle_form::flat ? 2 * this->n : this->n),
        fill(p.fill),
        scale(p.scale),
        bias(s.numbers.of_head(s.graphs, graph, c, p.heads)) {}

  // The rows that term l of edge (i, j) reads.  In the flat form, the terms l >= n are the edges (l - n, j).
  TRIAD_DEVICE bool flat() const { return form == triangle_form::flat; }
  TRIAD_DEVICE int middle(int l) const { return l < this->n ? l : l - this->n; }
  TRIAD_DEVICE int query_row(int i, int l, int j) const { return flat() ? this->row(i, j) : this->row(i, l); }
  TRIAD_DEVICE int value_row(int i, int l, int j) const {
    return l < this->n ? this->row(i, l) : this->row(l - this->n, j);
  }
  TRIAD_DEVICE int key_row(int i, int l, int j) const {
    if (flat()) return value_row(i, l, j);
    return this->row(has_own_key() ? i : l, j);
  }
  TRIAD_DEVICE int right_row(int l, int j) const { return this->row(middle(l), j); }
  TRIAD_DEVICE bool has_own_key() const { return uses_own_key(form); }
  TRIAD_DEVICE bool has_right() const { return uses_right_value(form); }
  TRIAD_DEVICE bool is_masked(int i, int l, int j) const { return this->masked(i, middle(l), j); }
  TRIAD_DEVICE bool has_term(int i, int l, int j) const { return this->open(i, middle(l), j); }
  /// The terms of edge (i, j) are [0, end_of_terms(i, j)).
  TRIAD_DEVICE int end_of_terms(int i, int j) const { return flat() ? terms : this->end(i, j); }

  TRIAD_DEVICE T score(block const& b, int i, int l, int j) const {
    auto const q = query_row(i, l, j), k = key_row(i, l, j);
    T sum = 0;
    for (int c = b.lane(); c < width; c += warp) sum += this->query.at(q, c) * this->key.at(k, c);
    sum = warp_sum(b, sum);
    if (is_masked(i, l, j)) return fill;
    return bias.data == nullptr ? sum * scale : sum * scale + bias.at(i, l, j);
  }
  TRIAD_DEVICE T value(int i, int l, int j, int c) const {
    T const one = this->left.at(value_row(i, l, j), c);
    return has_right() ? one * this->right.at(right_row(l, j), c) : one;
  }

  struct softmax {
    T maximum, sum;
  };
  TRIAD_DEVICE softmax over_terms(block const& b, int i, int j) const {
    softmax x{score(b, i, 0, j), 1};
    for (int l = 1; l < end_of_terms(i, j); ++l) {
      T const s = score(b, i, l, j);
      if (s > x.maximum) {
        x.sum = x.sum * exponential(x.maximum - s) + 1;
        x.maximum = s;
      } else {
        x.sum += s == x.maximum ? T(1) : exponential(s - x.maximum);  // s == x.maximum also if both are -inf
      }
    }
    return x;
  }
};

/// The edge and head of a warp.  There are blocks for all edges of the largest graph, with `warps` edges in each block.
struct general_place {
  static constexpr int warps = 4;
  index_t edge, head, graph;

  TRIAD_DEVICE general_place(block const& b, index_t blocks_of_edges, index_t heads) {
    index_t where = b.index();
    edge = where % blocks_of_edges * warps + b.row();
    where /= blocks_of_edges;
    head = where % heads;
    graph = where / heads;
  }
};

inline constexpr int held = 4;  // columns of a lane at a time

template <class T>
struct general_forward {
  static constexpr char const* name = "triangle forward, any form and width";
  static constexpr int threads = general_place::warps * warp;

  /// Skips graphs of fewer than `least` nodes, because another kernel computes them.
  TRIAD_DEVICE void operator()(block const& b, problem<T> const& p, score_bias<T> const& bias, triangle_form form,
                               int least, index_t blocks_of_edges, matrix<T> maximum, matrix<T> inverse_sum,
                               columns<T> o) const {
    general_place const place(b, blocks_of_edges, p.heads);
    general_head<T> const at(p, bias, form, place.graph, place.head);
    if (at.n < least || place.edge >= index_t(at.n) * at.n) return;  // the whole warp returns; blocks have no barrier
    int const i = static_cast<int>(place.edge / at.n), j = static_cast<int>(place.edge % at.n);
    auto const row = at.row(i, j);
    auto const x = at.over_terms(b, i, j);
    if (b.lane() == 0) {
      at.number(maximum, row) = x.maximum;
      at.number(inverse_sum, row) = T(1) / x.sum;
    }
    keeper const keep(p);
    auto const out = at.part(o);
    for (int c0 = 0; c0 < p.width; c0 += held * warp) {
      T sum[held] = {};
      for (int l = 0; l < at.end_of_terms(i, j); ++l) {
        T const e = exponential(at.score(b, i, l, j) - x.maximum);
        if (!keep.keeps(at.element(i, l, j))) continue;
        TRIAD_UNROLL
        for (int r = 0; r < held; ++r) {
          int const c = c0 + r * warp + b.lane();
          if (c < p.width) sum[r] += e * at.value(i, l, j, c);
        }
      }
      TRIAD_UNROLL
      for (int r = 0; r < held; ++r) {
        int const c = c0 + r * warp + b.lane();
        if (c < p.width) out.at(row, c) = sum[r] * (p.kept / x.sum);
      }
    }
  }
};

/// The gradients that a warp computes for its edge (a, b).  These gradients decide which triangles (i, l, j) the warp
/// loops over.
enum class general_role {
  query_and_left,  // dq(i, l), dv1(i, l): over all j
  key_and_right,   // dk(l, j), dv2(l, j), those that the form has at this edge: over all i
  own_key,         // attention ablation: dk(i, j): over all l
  flat_query,      // flat: dq(i, j): over all terms
  flat_key,        // flat: dk, dv1 of an edge: as a term of the edges (a, j) and of the edges (i, b)
};

template <class T>
struct general_backward {
  static constexpr char const* name = "triangle backward, any form and width";
  static constexpr int threads = general_place::warps * warp;

  TRIAD_DEVICE void operator()(block const& b, problem<T> const& p, score_bias<T> const& bias, triangle_form form,
                               general_role role, int least, index_t blocks_of_edges, columns<T const> d_o,
                               statistics_views<T> statistics, gradients<T> dx, triangle_bias<T> d_bias) const {
    general_place const place(b, blocks_of_edges, p.heads);
    general_head<T> const at(p, bias, form, place.graph, place.head);
    int const n = at.n;
    if (n < least || place.edge >= index_t(n) * n) return;  // the whole warp returns; blocks have no barrier
    int const u = static_cast<int>(place.edge / n), v = static_cast<int>(place.edge % n), width = p.width;
    bool const of_query = role == general_role::query_and_left || role == general_role::flat_query;
    bool const has_score = role != general_role::key_and_right || !at.has_own_key();
    bool const has_value = role == general_role::query_and_left || role == general_role::flat_key ||
                           (role == general_role::key_and_right && at.has_right());
    bool const of_right = role == general_role::key_and_right;
    auto const gradient = at.part(d_o);
    auto const d_score = of_query ? at.part(dx.query) : at.part(dx.key),
               d_value = of_right ? at.part(dx.right) : at.part(dx.left);
    auto const d_scores = role == general_role::query_and_left
                              ? d_bias.of_head(bias.graphs, place.graph, place.head, p.heads)
                              : triangle_bias_head<T>{};
    keeper const keep(p);
    int const steps = role == general_role::flat_query || role == general_role::flat_key ? 2 * n : n;

    for (int c0 = 0; c0 < width; c0 += held * warp) {
      T score_sum[held] = {}, value_sum[held] = {};
      for (int step = 0; step < steps; ++step) {
        int i = u, l = v, j = step;  // query_and_left
        if (role == general_role::key_and_right) {
          i = step;
          l = u;
          j = v;
        } else if (role == general_role::own_key || role == general_role::flat_query) {
          l = step;
          j = v;
        } else if (role == general_role::flat_key && step >= n) {
          i = step - n;
          l = n + u;
          j = v;
        }
        bool const writes_ds = d_scores.data != nullptr && c0 == 0 && b.lane() == 0;
        if (!at.has_term(i, l, j)) {  // the whole warp
          if (writes_ds) d_scores.at(i, l, j) = 0;
          continue;
        }
        auto const edge = at.row(i, j);
        T const s = at.score(b, i, l, j);
        T dp = 0;
        for (int c = b.lane(); c < width; c += warp) dp += gradient.at(edge, c) * at.value(i, l, j, c);
        dp = warp_sum(b, dp);
        T const probability =
            exponential(s - at.number(statistics.maximum, edge)) * at.number(statistics.inverse_sum, edge);
        T const kept = keep.keeps(at.element(i, l, j)) ? p.kept : T(0);
        T const w = probability * kept;
        T const ds = at.is_masked(i, l, j) ? T(0) : probability * (dp * kept - at.number(statistics.delta, edge));
        T const scaled = ds * p.scale;
        if (writes_ds) d_scores.at(i, l, j) = ds;
        auto const query = at.query_row(i, l, j), key = at.key_row(i, l, j);
        TRIAD_UNROLL
        for (int r = 0; r < held; ++r) {
          int const c = c0 + r * warp + b.lane();
          if (c >= width) continue;
          if (has_score) score_sum[r] += scaled * (of_query ? at.key.at(key, c) : at.query.at(query, c));
          if (!has_value) continue;
          T const t = w * gradient.at(edge, c);
          if (of_right)
            value_sum[r] += t * at.left.at(at.row(i, l), c);
          else
            value_sum[r] += at.has_right() ? t * at.right.at(at.right_row(l, j), c) : t;
        }
      }
      auto const row = at.row(u, v);
      TRIAD_UNROLL
      for (int r = 0; r < held; ++r) {
        int const c = c0 + r * warp + b.lane();
        if (c >= width) continue;
        if (has_score) d_score.at(row, c) = score_sum[r];
        if (has_value) d_value.at(row, c) = value_sum[r];
      }
    }
  }
};

/// Adds the gradients of all scores over the axes that the bias shares.  A warp computes one number of the gradient.
/// Each lane adds every 32nd term, and then the warp adds the sums of its lanes, so the order of the terms is fixed.
template <class T>
struct bias_sum_kernel {
  static constexpr char const* name = "triangle bias gradient";
  static constexpr int warps = 4, threads = warps * warp;

  static index_t blocks_of_head(triangle_bias_axes const& axes, graph_dims const& dims) {
    return blocks_for(axes.numbers_of_head(dims.max_nodes), warps);
  }
  /// `d_scores` has all axes.  `blocks` is blocks_of_head().
  TRIAD_DEVICE void operator()(block const& b, graph_batch const& g, index_t heads, index_t blocks,
                               triangle_bias<T const> d_scores, triangle_bias<T> d_bias) const {
    auto const& axes = d_bias.axes;
    index_t const e = b.index() % blocks * warps + b.row(), where = b.index() / blocks,
                  c = axes.heads ? where % heads : 0, graph = axes.heads ? where / heads : where,
                  n = g.dims.graphs == 0 ? 0 : g.size(graph);
    if (e >= axes.numbers_of_head(n)) return;  // the whole warp returns; blocks have no barrier
    index_t const across = axes.j ? n : 1, down = axes.l ? n : 1, i = e / (across * down), l = e / across % down,
                  j = e % across;
    index_t const shared_j = axes.j ? 1 : n, shared_l = axes.l ? 1 : n, shared_i = axes.i ? 1 : n,
                  shared_heads = axes.heads ? 1 : heads, shared_graphs = axes.graphs ? 1 : g.dims.graphs,
                  of_head = shared_i * shared_l * shared_j;
    T sum = 0;
    for (index_t t = b.lane(); t < shared_graphs * shared_heads * of_head; t += warp) {
      auto const from = d_scores.of_head(g, graph + t / of_head / shared_heads, c + t / of_head % shared_heads, heads);
      index_t const r = t % of_head;
      sum += from.at(i + r / (shared_l * shared_j), l + r / shared_j % shared_l, j + r % shared_j);
    }
    sum = warp_sum(b, sum);
    if (b.lane() == 0) d_bias.of_head(g, graph, c, heads).at(i, l, j) = sum;
  }
};

/// Computes the softmax weights of one edge of one graph, with one warp per head.  Writes nothing if the graph does not
/// have the edge.
template <class T>
struct weights_kernel {
  static constexpr char const* name = "triangle weights";
  static constexpr int threads = warp;

  TRIAD_DEVICE void operator()(block const& b, problem<T> const& p, score_bias<T> const& bias, triangle_form form,
                               index_t graph, index_t i, index_t j, matrix<T> weights) const {
    general_head<T> const at(p, bias, form, graph, b.index());
    if (i < 0 || j < 0 || i >= at.n || j >= at.n) return;  // the whole block returns
    int const row = static_cast<int>(i), column = static_cast<int>(j);
    auto const x = at.over_terms(b, row, column);
    int const end = at.end_of_terms(row, column);
    for (int l = 0; l < at.terms; ++l) {
      T const weight = l < end ? exponential(at.score(b, row, l, column) - x.maximum) / x.sum : T(0);
      if (b.lane() == 0 && l < weights.extent(1)) weights(at.head, l) = weight;
    }
  }
};

}  // namespace triad::cuda::triangles
