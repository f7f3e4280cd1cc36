// Triangular attention backward of graphs of a few nodes: one warp, or one small block, keeps one head of one graph in
// shared memory.
// SPDX-License-Identifier: Apache-2.0
//
//   columns in chunks:   scores and dp = sum_c do v1 v2 of all triangles, in registers
//   edge by edge:        p, delta = sum_l p dp (without reading o), w = dropout(p) and ds, in shared memory
//   columns in chunks:   dq, dk, dv1 and dv2, each sum by one thread
//
// Threads and elements of a team: scores and softmax as forward.  Of sums, t = quads (groups (n sum + one) + k) + c /
// 4, with groups = n / thread_ij, rounded up; a thread has 4 channels and
//
//   sum 0    dq(i, l), dv1(i, l)    l = one, thread_ij rows i from thread_ij k, over all j
//   sum 1    dk(l, j), dv2(l, j)    l = one, thread_ij columns j from thread_ij k, over all i
//   sum 2    dk(i, j), own keys     i = one, thread_ij columns j from thread_ij k, over all l
//
// Banks: how many different words the threads that are served together (32 at 4 bytes each, 16 at 8, 8 at 16) ask of
// the busiest bank of shared memory, at worst; 1 is no conflict.  tests/cuda_on_host/banks_test.cpp counts them.
//
//   nodes, in float; a head has 50 columns                  3    5    6    7    8   12   16
//   scores: q(i, l) and v1(i, l)                            1    1    1    1    4    2    4
//   scores: k(l, j) and v2(l, j)                            1    2    1    1    1    1    2
//   scores: do(i, j)                                        2    2    2    2    4    2    8
//   softmax: q . k and dp of one l                          1    1    2    1    2    2    2
//   rows: do(i, j)                                          2    2    3    2    2    2    3
//   rows: k(l, j) and v2(l, j)                              2    2    2    2    2    2    2
//   rows: w and ds (i, l, j)                                1    1    1    1    1    1    2
//   columns: do(i, j)                                       2    2    3    2    2    2    2
//   columns: q(i, l) and v1(i, l)                           2    1    1    2    2    1    1
//   columns: w and ds (i, l, j)                             1    1    1    1    1    2    2
#pragma once

#include "triad/cuda/triangle/small.cuh"

namespace triad::cuda::triangles {

template <class T, int N, bool OwnKey, bool RightValue>
struct small_backward {
  using team = small_team<T, N, (N <= warp_graph ? 16640 : 110592), RightValue ? 5 : 4, 2>;
  using layout = typename team::layout;
  using shared = typename team::shared;
  static constexpr char const* name = "triangle backward of small graphs";
  static constexpr int threads = team::threads, resident = N <= warp_graph ? 3 : 2;
  static constexpr int thread_ij =
      N <= warp_graph || sizeof(T) == 8 ? 2 : 4;  // rows i or columns j of a thread's gradients

  /// Which sums a thread makes: four channels from c of thread_ij rows i or columns j from `first`, of one l (of one i
  /// where keys are own); sum 0: dq and dv1, 1: dk and dv2, 2: dk of own keys.
  struct place {
    int c, first, one, sum;
    TRIAD_DEVICE place(int t, int quads, int groups, int n)
        : c(4 * (t % quads)),
          first(thread_ij * (t / quads % groups)),
          one(t / quads / groups % n),
          sum(t / quads / groups / n) {}
  };

  /// Heads: of all graphs.
  TRIAD_DEVICE void operator()(block const& b, problem<T> const& p, index_t heads, columns<T const> d_o,
                               matrix<T const> maximum, matrix<T const> inverse_sum, gradients<T> dx) const {
    team const with(b);
    index_t const item = b.index() * team::teams + with.index();
    if (item >= heads) return;  // the whole team
    auto const [head, graph] = coordinates(item, p.heads);
    one_head<T> const of(p, graph, static_cast<int>(head));
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
      team::with_half(n, [&]<int Half>(std::integral_constant<int, Half>) {
        TRIAD_UNROLL
        for (int r = 0; r < team::tasks; ++r)
          add_scores<Half>(at, s, of, typename team::task(with.thread() + r * team::size, n), 4 * at.here(c0, width),
                           score[r], dp[r]);
      });
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
    with.drop(p, of, at, s.ds);
    with.sync();
    for (int t = with.thread(); t < n * n; t += team::size) weigh(at, s, p, of, t / n, t % n, maximum, inverse_sum);
    with.drop(p, of, at, s.w);
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

  template <int Half>
  TRIAD_DEVICE static void add_scores(layout const& at, parts const& s, one_head<T> const& of,
                                      typename team::task const& my, int here, T (&score)[team::part],
                                      T (&dp)[team::part]) {
    if (my.first >= my.last || !of.open(my.i, my.l, my.last - 1)) return;
    // Places that move on by four columns, and rows behind them that are the same for all threads of a half.
    int const edge = at.row(my.i, my.l), pairs = at.row(my.i, my.first), others = at.row(my.l, my.first);
    T const *query = s.query + edge, *left = s.left + edge, *d_o = s.d_o + pairs;
    T const *key = s.key + (OwnKey ? pairs : others), *right = RightValue ? s.right + others : nullptr;
    TRIAD_NO_UNROLL
    for (int c = 0; c < here; c += 4) {
      quad<T> const q = quad_at(query), v1 = quad_at(left);
      TRIAD_UNROLL
      for (int e = 0; e < Half; ++e) {
        if (my.leaves_out(e)) continue;
        int const row = my.template behind_first<Half>(e) * at.stride;
        score[e] = dot(q, quad_at(key + row), score[e]);
        if constexpr (RightValue)
          dp[e] = dot(quad_at(d_o + row), v1, quad_at(right + row), dp[e]);
        else
          dp[e] = dot(quad_at(d_o + row), v1, dp[e]);
      }
      query += 4, left += 4, d_o += 4, key += 4;
      if constexpr (RightValue) right += 4;
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

  /// A thread sums over j for thread_ij rows i of one l, or over i for thread_ij columns j of one l, four channels; own
  /// keys: over l for thread_ij columns j of one i.  Beyond the graph it takes the last row or column once more and
  /// stores nothing.
  TRIAD_DEVICE static void sums(team const& with, layout const& at, parts const& s, one_head<T> const& of, int c0,
                                int width, gradients<T> const& out) {
    int const n = at.n, groups = (n + thread_ij - 1) / thread_ij, quads = at.here(c0, width), each = n * groups * quads;
    for (int t = with.thread(); t < (OwnKey ? 3 : 2) * each; t += team::size) {
      place const my(t, quads, groups, n);
      int const c = my.c, first = my.first, one = my.one;
      int mine[thread_ij];
      TRIAD_UNROLL
      for (int r = 0; r < thread_ij; ++r) mine[r] = inside(first + r, n);
      if (my.sum == 0)
        sum_of_rows(at, s, of, one, first, mine, c0, c, width, out);
      else if (my.sum == 1)
        sum_of_columns(at, s, of, one, first, mine, c0, c, width, out);
      else
        sum_of_own_keys(at, s, of, one, first, mine, c0, c, width, out);
    }
  }
  TRIAD_DEVICE static void sum_of_rows(layout const& at, parts const& s, one_head<T> const& of, int l, int first,
                                       int const (&i)[thread_ij], int c0, int c, int width, gradients<T> const& out) {
    int const n = at.n;
    quad<T> dq[thread_ij] = {}, dv[thread_ij] = {};
    for (int j = of.begin(l, i[thread_ij - 1]); j < n; ++j) {
      quad<T> key{}, right{};
      if constexpr (!OwnKey) key = quad_at(s.key + at.row(l, j) + c);
      if constexpr (RightValue) right = quad_at(s.right + at.row(l, j) + c);
      TRIAD_UNROLL
      for (int r = 0; r < thread_ij; ++r) {
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
    for (int r = 0; r < thread_ij; ++r)
      if (first + r < n) {
        out.query.store(of.row(i[r], l), c0 + c, width, dq[r]);
        out.left.store(of.row(i[r], l), c0 + c, width, dv[r]);
      }
  }
  TRIAD_DEVICE static void sum_of_columns(layout const& at, parts const& s, one_head<T> const& of, int l, int first,
                                          int const (&j)[thread_ij], int c0, int c, int width,
                                          gradients<T> const& out) {
    if constexpr (!OwnKey || RightValue) {
      int const n = at.n;
      quad<T> dk[thread_ij] = {}, dv[thread_ij] = {};
      for (int i = of.begin(l, j[thread_ij - 1]); i < n; ++i) {
        quad<T> const query = quad_at(s.query + at.row(i, l) + c), left = quad_at(s.left + at.row(i, l) + c);
        TRIAD_UNROLL
        for (int r = 0; r < thread_ij; ++r) {
          if constexpr (!OwnKey) add(dk[r], s.ds[at.triangle(l, i, j[r])], query);
          if constexpr (RightValue)
            add(dv[r], s.w[at.triangle(l, i, j[r])], quad_at(s.d_o + at.row(i, j[r]) + c), left);
        }
      }
      TRIAD_UNROLL
      for (int r = 0; r < thread_ij; ++r)
        if (first + r < n) {
          if constexpr (!OwnKey) out.key.store(of.row(l, j[r]), c0 + c, width, dk[r]);
          if constexpr (RightValue) out.right.store(of.row(l, j[r]), c0 + c, width, dv[r]);
        }
    }
  }
  TRIAD_DEVICE static void sum_of_own_keys(layout const& at, parts const& s, one_head<T> const& of, int i, int first,
                                           int const (&j)[thread_ij], int c0, int c, int width,
                                           gradients<T> const& out) {
    int const n = at.n, end = of.end(i, j[thread_ij - 1]);
    quad<T> dk[thread_ij] = {};
    for (int l = 0; l < end; ++l) {
      quad<T> const query = quad_at(s.query + at.row(i, l) + c);
      TRIAD_UNROLL
      for (int r = 0; r < thread_ij; ++r) add(dk[r], s.ds[at.triangle(l, i, j[r])], query);
    }
    TRIAD_UNROLL
    for (int r = 0; r < thread_ij; ++r)
      if (first + r < n) out.key.store(of.row(i, j[r]), c0 + c, width, dk[r]);
  }
};

}  // namespace triad::cuda::triangles
