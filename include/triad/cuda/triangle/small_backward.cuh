// Triangular attention backward for graphs of a few nodes.  One warp, or one small block, keeps one head of one graph
// in shared memory.
// SPDX-License-Identifier: Apache-2.0
//
//   columns in chunks:   scores and dp = sum_c do v1 v2 of all triangles, in registers
//   edge by edge:        p, delta = sum_l p dp (without reading o), w = dropout(p), ds; w and ds into shared memory
//   columns in chunks:   dq, dk, dv1 and dv2; one thread computes each sum
//
// Threads and elements of a team: scores and softmax are as in forward.  For sums, t = quads (groups (n sum + one) + k)
// + c / 4, where `groups` is n / thread_ij, rounded up.  A thread has 4 channels and
//
//   sum 0    dq(i, l), dv1(i, l)    l = one, thread_ij rows i from thread_ij k, over all j
//   sum 1    dk(l, j), dv2(l, j)    l = one, thread_ij columns j from thread_ij k, over all i
//   sum 2    dk(i, j), own keys     i = one, thread_ij columns j from thread_ij k, over all l
//
// Bank conflicts: shared memory serves several threads together: 32 threads that access 4 bytes each, 16 threads that
// access 8 bytes each, or 8 threads that access 16 bytes each.  Each number of the table is the largest number of
// different words in one bank that these threads access.  1 means that there is no bank conflict.
// tests/cuda_on_host/banks_test.cpp checks these numbers: it counts the accesses to each bank.
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
  using team = small_team<T, N, (N <= warp_graph ? 16640 : 115712), RightValue ? 5 : 4, 2>;
  using layout = typename team::layout;
  using shared = typename team::shared;
  static constexpr char const* name = "triangle backward of small graphs";
  static constexpr int threads = team::threads, resident = N <= warp_graph ? 3 : 2;
  static constexpr int thread_ij =
      N <= warp_graph || sizeof(T) == 8 ? 2 : 4;  // rows i or columns j in a thread's gradients

  /// The sums of a thread: four channels from c on, thread_ij rows i or columns j from `first` on, and one l, or one i
  /// for own keys.  The sums are dq and dv1 if `sum` is 0, dk and dv2 if it is 1, and dk of own keys if it is 2.
  struct place {
    int c, first, one, sum;
    TRIAD_DEVICE place(int t, int quads, int groups, int n)
        : c(4 * (t % quads)),
          first(thread_ij * (t / quads % groups)),
          one(t / quads / groups % n),
          sum(t / quads / groups / n) {}
  };

  /// `heads` is the number of heads of all graphs.
  TRIAD_DEVICE void operator()(block const& b, problem<T> const& p, index_t heads, columns<T const> d_o,
                               matrix<T const> maximum, matrix<T const> inverse_sum, gradients<T> dx) const {
    team const with(b);
    index_t const item = b.index() * team::teams + with.index();
    if (item >= heads) return;  // the whole team returns
    auto const [head, graph] = coordinates(item, p.heads);
    one_head<T> const of(p, graph, static_cast<int>(head));
    int const n = of.n, width = p.width;
    if (n < team::least || n > N) return;  // the whole team returns
    columns<T const> const gradient = of.part(d_o);
    gradients<T> const out{of.part(dx.query), of.part(dx.key), of.part(dx.left), of.part(dx.right)};
    layout const at(n, width);
    parts const s(at, with.memory());

    using most = typename team::template known<N>;
    T score[most::tasks][most::half] = {}, dp[most::tasks][most::half] = {};
    for (int c0 = 0; c0 < width; c0 += 4 * at.quads) {
      start_all(with, at, s, of, gradient, c0, width);
      with.wait();
      team::with_known(n, width, [&]<class Known>(Known, layout const& cut) {
        parts const there(cut, with.memory());
        TRIAD_UNROLL
        for (int r = 0; r < Known::tasks; ++r)
          add_scores<Known>(cut, there, of, typename team::task(with.thread() + r * team::size, n), cut.here(c0, width),
                            score[r], dp[r]);
      });
      with.sync();
    }
    TRIAD_UNROLL
    for (int r = 0; r < most::tasks; ++r) {
      typename team::task const my(with.thread() + r * team::size, n);
      TRIAD_UNROLL
      for (int e = 0; e < most::half; ++e) {
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
      if (width > 4 * at.quads) start_all(with, at, s, of, gradient, c0, width);  // else the columns are still there
      with.wait();                                                                // waits also for the weights
      sums(with, at, of, c0, width, out);
      with.sync();
    }
  }

 private:
  /// The addresses of the matrices in the memory of a team.
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

  template <class Known, int Half>
  TRIAD_DEVICE static void add_scores(layout const& at, parts const& s, one_head<T> const& of,
                                      typename team::task const& my, int here, T (&score)[Half], T (&dp)[Half]) {
    if (my.first >= my.last || !of.open(my.i, my.l, my.last - 1)) return;
    // Only these pointers are advanced.  Every other address has a constant distance from one of these pointers.
    T const *edge = s.query + at.row(my.i, my.l), *pair = s.d_o + at.row(my.i, my.first),
            *other = s.key + at.row(my.l, my.first);
    Known::each_quad(
        here,
        [&](int c) {
          quad<T> const q = quad_at(edge + c), v1 = quad_at(edge + (s.left - s.query) + c);
          TRIAD_UNROLL
          for (int e = 0; e < Known::half; ++e) {
            if (my.leaves_out(e)) continue;
            int const there = c + e * at.stride;
            score[e] = dot(q, quad_at((OwnKey ? pair - (s.d_o - s.key) : other) + there), score[e]);
            if constexpr (RightValue)
              dp[e] = dot(quad_at(pair + there), v1, quad_at(other + (s.right - s.key) + there), dp[e]);
            else
              dp[e] = dot(quad_at(pair + there), v1, dp[e]);
          }
        },
        [&](int by) { edge += by, pair += by, other += by; });
  }

  /// For edge (i, j), replaces the products q . k in w by p, without dropout, and replaces dp in ds by ds.  dp is zero
  /// for the elements that dropout drops.  If l is masked, ds becomes zero.  If l is closed to the edge, w and ds
  /// become zero.
  TRIAD_DEVICE static void weigh(layout const& at, parts const& s, problem<T> const& p, one_head<T> const& of, int i,
                                 int j, matrix<T const> maximum, matrix<T const> inverse_sum) {
    int const end = of.end(i, j);
    T const top = of.number(maximum, of.row(i, j)), inverse = of.number(inverse_sum, of.row(i, j));
    T delta = 0;
    unsigned masked = 0;  // one bit for each l
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

  /// Computes the gradients.  A thread sums four channels over j for thread_ij rows i of one l, or over i for thread_ij
  /// columns j of one l.  With own keys, it sums over l for thread_ij columns j of one i.  For rows and columns beyond
  /// the graph, the thread computes the last row or column again and stores nothing.
  TRIAD_DEVICE static void sums(team const& with, layout const& at, one_head<T> const& of, int c0, int width,
                                gradients<T> const& out) {
    int const n = at.n, groups = (n + thread_ij - 1) / thread_ij, quads = at.here(c0, width), each = n * groups * quads;
    for (int t = with.thread(); t < (OwnKey ? 3 : 2) * each; t += team::size) {
      place const my(t, quads, groups, n);
      int mine[thread_ij];
      TRIAD_UNROLL
      for (int r = 0; r < thread_ij; ++r) mine[r] = inside(my.first + r, n);
      quad<T> of_score[thread_ij] = {}, of_value[thread_ij] = {};  // dq or dk, and dv1 or dv2
      team::with_known(n, width, [&]<class Known>(Known, layout const& cut) {
        parts const s(cut, with.memory());
        if (my.sum == 0)
          sum_of_rows(cut, s, of, my.one, mine, my.c, of_score, of_value);
        else if (my.sum == 1)
          sum_of_columns(cut, s, of, my.one, mine, my.c, of_score, of_value);
        else if constexpr (OwnKey)
          sum_of_own_keys(cut, s, of, my.one, mine, my.c, of_score);
      });
      TRIAD_UNROLL
      for (int r = 0; r < thread_ij; ++r) {
        if (my.first + r >= n) continue;
        int const edge = my.sum == 0 ? of.row(mine[r], my.one) : of.row(my.one, mine[r]);
        if (!OwnKey || my.sum != 1) (my.sum == 0 ? out.query : out.key).store(edge, c0 + my.c, width, of_score[r]);
        if (my.sum == 0 || (RightValue && my.sum == 1))
          (my.sum == 0 ? out.left : out.right).store(edge, c0 + my.c, width, of_value[r]);
      }
    }
  }
  // The functions below compute the sums of one thread, and also advance pointers by additions.
  /// Calls f() for each of `count` terms, two in each pass.  In double, one in each pass, because two would take
  /// registers from sums.
  template <class F>
  TRIAD_DEVICE static void each_term(int count, F const& f) {
    if constexpr (sizeof(T) == 8) {
      TRIAD_NO_UNROLL
      for (; count > 0; --count) f();
    } else {
      TRIAD_UNROLL_TWICE
      for (; count > 0; --count) f();
    }
  }
  TRIAD_DEVICE static void sum_of_rows(layout const& at, parts const& s, one_head<T> const& of, int l,
                                       int const (&i)[thread_ij], int c, quad<T> (&dq)[thread_ij],
                                       quad<T> (&dv)[thread_ij]) {
    int const begin = of.begin(l, i[thread_ij - 1]);
    T const *other = s.key + at.row(l, begin) + c, *pair[thread_ij], *weight[thread_ij];
    TRIAD_UNROLL
    for (int r = 0; r < thread_ij; ++r) {
      pair[r] = s.d_o + at.row(i[r], begin) + c;
      weight[r] = s.w + at.triangle(l, i[r], begin);
    }
    each_term(at.n - begin, [&] {
      quad<T> key{}, right{};
      if constexpr (!OwnKey) key = quad_at(other);
      if constexpr (RightValue) right = quad_at(other + (s.right - s.key));
      TRIAD_UNROLL
      for (int r = 0; r < thread_ij; ++r) {
        quad<T> const d_o = quad_at(pair[r]);
        if constexpr (OwnKey) key = quad_at(pair[r] - (s.d_o - s.key));
        add(dq[r], weight[r][s.ds - s.w], key);
        if constexpr (RightValue)
          add(dv[r], *weight[r], d_o, right);
        else
          add(dv[r], *weight[r], d_o);
        pair[r] += at.stride;
        ++weight[r];
      }
      other += at.stride;
    });
  }
  TRIAD_DEVICE static void sum_of_columns(layout const& at, parts const& s, one_head<T> const& of, int l,
                                          int const (&j)[thread_ij], int c, quad<T> (&dk)[thread_ij],
                                          quad<T> (&dv)[thread_ij]) {
    if constexpr (!OwnKey || RightValue) {
      int const begin = of.begin(l, j[thread_ij - 1]), step = at.n * at.stride;
      T const *edge = s.query + at.row(begin, l) + c, *pair[thread_ij], *weight[thread_ij];
      TRIAD_UNROLL
      for (int r = 0; r < thread_ij; ++r) {
        pair[r] = s.d_o + at.row(begin, j[r]) + c;
        weight[r] = s.w + at.triangle(l, begin, j[r]);
      }
      each_term(at.n - begin, [&] {
        quad<T> const query = quad_at(edge), left = quad_at(edge + (s.left - s.query));
        TRIAD_UNROLL
        for (int r = 0; r < thread_ij; ++r) {
          if constexpr (!OwnKey) add(dk[r], weight[r][s.ds - s.w], query);
          if constexpr (RightValue) add(dv[r], *weight[r], quad_at(pair[r]), left);
          pair[r] += step;
          weight[r] += at.line();
        }
        edge += step;
      });
    }
  }
  TRIAD_DEVICE static void sum_of_own_keys(layout const& at, parts const& s, one_head<T> const& of, int i,
                                           int const (&j)[thread_ij], int c, quad<T> (&dk)[thread_ij]) {
    int const end = of.end(i, j[thread_ij - 1]);
    T const* edge = s.query + at.row(i, 0) + c;
    for (int l = 0; l < end; ++l) {
      quad<T> const query = quad_at(edge);
      TRIAD_UNROLL
      for (int r = 0; r < thread_ij; ++r) add(dk[r], s.ds[at.triangle(l, i, j[r])], query);
      edge += at.stride;
    }
  }
};

}  // namespace triad::cuda::triangles
