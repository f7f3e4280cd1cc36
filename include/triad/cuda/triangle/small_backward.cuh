// Triangular attention backward of graphs of a few nodes: one warp, or one small block, keeps one head of one graph in
// shared memory.
// SPDX-License-Identifier: Apache-2.0
//
//   columns in chunks:   scores and dp = sum_c do v1 v2 of all triangles, in registers
//   edge by edge:        p, delta = sum_l p dp (without reading o), w = dropout(p) and ds, in shared memory
//   columns in chunks:   dq, dk, dv1 and dv2, each sum by one thread
#pragma once

#include "triad/cuda/triangle/small.cuh"

namespace triad::cuda::triangles {

template <class T, int N, bool OwnKey, bool RightValue>
struct small_backward {
  using team = small_team<T, N, (N <= warp_graph ? 16384 : 108000), RightValue ? 5 : 4, 2>;
  using layout = typename team::layout;
  using shared = typename team::shared;
  static constexpr char const* name = "triangle backward of small graphs";
  static constexpr int threads = team::threads, resident = N <= warp_graph ? 3 : 2;
  static constexpr int own = N <= warp_graph || sizeof(T) == 8 ? 2 : 4;  // rows i or columns j of a thread's gradients

  /// Heads: of all graphs.
  TRIAD_DEVICE void operator()(block const& b, problem<T> const& p, index_t heads, columns<T const> d_o,
                               matrix<T const> maximum, matrix<T const> inverse_sum, gradients<T> dx) const {
    team const with(b);
    index_t where = b.index() * team::teams + with.index();
    if (where >= heads) return;  // the whole team
    index_t const head = digit(where, p.heads);
    one_head<T> const of(p, where, head);
    int const n = of.n, width = p.width;
    if (n < team::least || n > N) return;  // the whole team
    columns<T const> const gradient = of.part(d_o);
    gradients<T> const out{of.part(dx.query), of.part(dx.key), of.part(dx.left), of.part(dx.right)};
    layout const at(n, width);
    parts const s(at, with.memory());

    T score[team::tasks][team::part] = {}, dp[team::tasks][team::part] = {};
    for (int c0 = 0; c0 < width; c0 += 4 * at.quads) {
      start_all(with, at, s, of, gradient, c0, width);
      with.wait();
      TRIAD_UNROLL
      for (int r = 0; r < team::tasks; ++r)
        add_scores(at, s, of, typename team::task(with.thread() + r * team::size, n), 4 * at.here(c0, width), score[r],
                   dp[r]);
      with.sync();
    }
    TRIAD_UNROLL
    for (int r = 0; r < team::tasks; ++r) {
      typename team::task const my(with.thread() + r * team::size, n);
      TRIAD_UNROLL
      for (int e = 0; e < team::part; ++e) {
        int const j = my.first + e;
        if (j >= my.last) continue;
        s.w[at.triangle(my.l, my.i, j)] = score[r][e];
        s.ds[at.triangle(my.l, my.i, j)] = dp[r][e];
      }
    }
    with.drop(p, of, s.ds);
    with.sync();
    for (int t = with.thread(); t < n * n; t += team::size) weigh(at, s, p, of, t / n, t % n, maximum, inverse_sum);
    with.drop(p, of, s.w);
    for (int c0 = 0; c0 < width; c0 += 4 * at.quads) {
      if (width > 4 * at.quads) start_all(with, at, s, of, gradient, c0, width);  // else they are still there
      with.wait();                                                                // also for the weights
      sums(with, at, s, of, c0, width, out);
      with.sync();
    }
  }

 private:
  /// Where everything lies in the memory of a team.
  struct parts {
    T *query, *key, *left, *d_o, *right;  // (edges, stride)
    T *w, *ds;                            // (l, i, j)
    TRIAD_DEVICE parts(layout const& at, T* memory)
        : query(memory),
          key(memory + at.matrix(1)),
          left(memory + at.matrix(2)),
          d_o(memory + at.matrix(3)),
          right(RightValue ? memory + at.matrix(4) : nullptr),
          w(memory + at.cube(0)),
          ds(memory + at.cube(1)) {}
  };

  TRIAD_DEVICE static void start_all(team const& with, layout const& at, parts const& s, one_head<T> const& of,
                                     columns<T const> const& gradient, int c0, int width) {
    with.start(at, of.query, c0, width, s.query);
    with.start(at, of.key, c0, width, s.key);
    with.start(at, of.left, c0, width, s.left);
    if constexpr (RightValue) with.start(at, of.right, c0, width, s.right);
    with.start(at, gradient, c0, width, s.d_o);
  }

  TRIAD_DEVICE static void add_scores(layout const& at, parts const& s, one_head<T> const& of,
                                      typename team::task const& my, int here, T (&score)[team::part],
                                      T (&dp)[team::part]) {
    if (my.first >= my.last || !of.open(my.i, my.l, my.last - 1)) return;
    int const row = at.row(my.i, my.l), pairs = at.row(my.i, my.first), others = at.row(my.l, my.first);
    for (int c = 0; c < here; c += 4) {
      quad<T> const query = quad_at(s.query + row + c), left = quad_at(s.left + row + c);
      TRIAD_UNROLL
      for (int e = 0; e < team::part; ++e) {
        if (my.first + e >= my.last) continue;
        int const next = e * at.stride + c;
        quad<T> const d_o = quad_at(s.d_o + pairs + next);
        score[e] = dot(query, quad_at(s.key + (OwnKey ? pairs : others) + next), score[e]);
        if constexpr (RightValue)
          dp[e] = dot(d_o, left, quad_at(s.right + others + next), dp[e]);
        else
          dp[e] = dot(d_o, left, dp[e]);
      }
    }
  }

  /// Of edge (i, j): w holds the products q . k and becomes p as it is where all are kept; ds holds dp, zeros where it
  /// was dropped, and becomes ds.  Both are zero where l is masked.
  TRIAD_DEVICE static void weigh(layout const& at, parts const& s, problem<T> const& p, one_head<T> const& of, int i,
                                 int j, matrix<T const> maximum, matrix<T const> inverse_sum) {
    int const end = of.end(i, j);
    T const top = of.number(maximum, of.row(i, j)), inverse = of.number(inverse_sum, of.row(i, j));
    T delta = 0;
    unsigned masked = 0;  // a bit for each l
    for (int l = 0; l < end; ++l) {
      int const t = at.triangle(l, i, j);
      if (of.masked(i, l, j)) masked |= 1u << l;
      s.w[t] = exponential(((masked >> l & 1u) != 0 ? p.fill : s.w[t] * p.scale) - top) * inverse;
      s.ds[t] *= p.kept;
      delta += s.w[t] * s.ds[t];
    }
    for (int l = 0; l < end; ++l) {
      int const t = at.triangle(l, i, j);
      s.ds[t] = (masked >> l & 1u) != 0 ? T(0) : s.w[t] * (s.ds[t] - delta) * p.scale;
      s.w[t] *= p.kept;
    }
    for (int l = end; l < at.n; ++l) s.w[at.triangle(l, i, j)] = s.ds[at.triangle(l, i, j)] = 0;
  }

  /// A thread sums over j for own rows i of one l, or over i for own columns j of one l, four channels; own keys: over
  /// l for own columns j of one i.  Beyond the graph it takes the last row or column once more and stores nothing.
  TRIAD_DEVICE static void sums(team const& with, layout const& at, parts const& s, one_head<T> const& of, int c0,
                                int width, gradients<T> const& out) {
    int const n = at.n, groups = (n + own - 1) / own, quads = at.here(c0, width), each = n * groups * quads;
    for (int t = with.thread(); t < (OwnKey ? 3 : 2) * each; t += team::size) {
      int rest = t;
      int const c = 4 * digit(rest, quads), first = own * digit(rest, groups), one = digit(rest, n);
      int mine[own];
      TRIAD_UNROLL
      for (int r = 0; r < own; ++r) mine[r] = inside(first + r, n);
      if (rest == 0)
        sum_of_rows(at, s, of, one, first, mine, c0, c, width, out);
      else if (rest == 1)
        sum_of_columns(at, s, of, one, first, mine, c0, c, width, out);
      else
        sum_of_own_keys(at, s, of, one, first, mine, c0, c, width, out);
    }
  }
  TRIAD_DEVICE static void sum_of_rows(layout const& at, parts const& s, one_head<T> const& of, int l, int first,
                                       int const (&i)[own], int c0, int c, int width, gradients<T> const& out) {
    int const n = at.n;
    quad<T> dq[own] = {}, dv[own] = {};
    for (int j = of.begin(l, i[own - 1]); j < n; ++j) {
      quad<T> key{}, right{};
      if constexpr (!OwnKey) key = quad_at(s.key + at.row(l, j) + c);
      if constexpr (RightValue) right = quad_at(s.right + at.row(l, j) + c);
      TRIAD_UNROLL
      for (int r = 0; r < own; ++r) {
        quad<T> const d_o = quad_at(s.d_o + at.row(i[r], j) + c);
        if constexpr (OwnKey) key = quad_at(s.key + at.row(i[r], j) + c);
        add(dq[r], s.ds[at.triangle(l, i[r], j)], key);
        if constexpr (RightValue)
          add(dv[r], s.w[at.triangle(l, i[r], j)], d_o, right);
        else
          add(dv[r], s.w[at.triangle(l, i[r], j)], d_o);
      }
    }
    TRIAD_UNROLL
    for (int r = 0; r < own; ++r)
      if (first + r < n) {
        out.query.store(of.row(i[r], l), c0 + c, width, dq[r]);
        out.left.store(of.row(i[r], l), c0 + c, width, dv[r]);
      }
  }
  TRIAD_DEVICE static void sum_of_columns(layout const& at, parts const& s, one_head<T> const& of, int l, int first,
                                          int const (&j)[own], int c0, int c, int width, gradients<T> const& out) {
    if constexpr (!OwnKey || RightValue) {
      int const n = at.n;
      quad<T> dk[own] = {}, dv[own] = {};
      for (int i = of.begin(l, j[own - 1]); i < n; ++i) {
        quad<T> const query = quad_at(s.query + at.row(i, l) + c), left = quad_at(s.left + at.row(i, l) + c);
        TRIAD_UNROLL
        for (int r = 0; r < own; ++r) {
          if constexpr (!OwnKey) add(dk[r], s.ds[at.triangle(l, i, j[r])], query);
          if constexpr (RightValue)
            add(dv[r], s.w[at.triangle(l, i, j[r])], quad_at(s.d_o + at.row(i, j[r]) + c), left);
        }
      }
      TRIAD_UNROLL
      for (int r = 0; r < own; ++r)
        if (first + r < n) {
          if constexpr (!OwnKey) out.key.store(of.row(l, j[r]), c0 + c, width, dk[r]);
          if constexpr (RightValue) out.right.store(of.row(l, j[r]), c0 + c, width, dv[r]);
        }
    }
  }
  TRIAD_DEVICE static void sum_of_own_keys(layout const& at, parts const& s, one_head<T> const& of, int i, int first,
                                           int const (&j)[own], int c0, int c, int width, gradients<T> const& out) {
    int const n = at.n, end = of.end(i, j[own - 1]);
    quad<T> dk[own] = {};
    for (int l = 0; l < end; ++l) {
      quad<T> const query = quad_at(s.query + at.row(i, l) + c);
      TRIAD_UNROLL
      for (int r = 0; r < own; ++r) add(dk[r], s.ds[at.triangle(l, i, j[r])], query);
    }
    TRIAD_UNROLL
    for (int r = 0; r < own; ++r)
      if (first + r < n) out.key.store(of.row(i, j[r]), c0 + c, width, dk[r]);
  }
};

}  // namespace triad::cuda::triangles
