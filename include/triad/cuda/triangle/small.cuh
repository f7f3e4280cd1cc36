// Triangular attention forward for graphs of a few nodes.  One warp, or one small block, keeps one head of one graph in
// shared memory.
// SPDX-License-Identifier: Apache-2.0
//
// A batch has hundreds of small graphs, such as the graphs of CLUTRR with 3 to 12 nodes.  Waiting for their rows takes
// longer than the arithmetic.  A team is the group of threads that computes one head of one graph.  For graphs of up to
// 6 nodes, a team is one warp.  If n is 5, 25 of its 32 threads have one edge each.  A block has four such teams, which
// never wait for each other.  For larger graphs, a team is the 128 threads of a block.  The shared memory of a team
// holds the scores of all triangles.  The rest of the memory holds as many columns of the edges as fit.  If n is 5, all
// columns of a CLUTRR head fit.  If not all columns fit, they are computed in chunks.
//
// Threads and elements of a team: task number t belongs to thread t mod (number of threads of the team).
//
//   scores    t = 2 (n l + i) + half: p(i, l, j) of the first or the second half of all j
//   softmax   t = n i + j: all l
//   outputs   t = quads (groups (i / thread_ij) + j / thread_ij) + c / 4: thread_ij rows and columns, 4 channels
//
//   outputs at n = 5, with thread_ij = 2 and heads of 50 columns, so 13 quads, c = 0 .. 49 in each field:
//
//              j = 0, 1        2, 3           4
//     i = 0, 1  t = 0 .. 12   13 .. 25    26 .. 38
//         2, 3     39 .. 51   52 .. 64    65 .. 77
//         4        78 .. 90   91 .. 103  104 .. 116
//
// Bank conflicts: shared memory serves several threads together: 32 threads that access 4 bytes each, 16 threads that
// access 8 bytes each, or 8 threads that access 16 bytes each.  Each number of the table is the largest number of
// different words in one bank that these threads access.  1 means that there is no bank conflict.
// tests/cuda_on_host/banks_test.cpp checks these numbers: it counts the accesses to each bank.  The distance between
// edges is an odd number of quads.  The distance between lines (l, i, .) of triangles is an odd number of words: n, or
// n + 1.  If n is 8 or 16, edges whose numbers differ by n are a multiple of 32 words apart, so threads with different
// i access the same bank.
//
//   nodes, in float; a head has 50 columns                  3    5    6    7    8   12   16
//   scores: q(i, l)                                         1    1    1    1    4    2    4
//   scores: k(l, j)                                         1    2    1    1    1    1    2
//   scores: stored                                          1    2    2    2    2    2    2
//   softmax: scores of one l                                1    1    2    1    2    2    2
//   outputs: v1(i, l)                                       2    2    2    2    2    2    2
//   outputs: v2(l, j)                                       2    2    2    2    2    2    2
//   outputs: p(i, l, j)                                     1    1    1    1    2    1    3
#pragma once

#include "triad/cuda/device/launch.cuh"
#include "triad/cuda/triangle/parts.cuh"

namespace triad::cuda::triangles {

/// For graphs of up to this number of nodes, a team is one warp.  For graphs of up to `whole_graph` nodes, a team is a
/// block.
inline constexpr int warp_graph = 6;

/// Returns the smaller of `which` and n - 1.
TRIAD_DEVICE int inside(int which, int n) { return which < n ? which : n - 1; }

/// A team: the threads that compute one head of one graph of `least` to N nodes, and their memory.  The memory holds
/// `Matrices` matrices of columns of all edges, and `Cubes` arrays of one number for each triangle.
template <class T, int N, int Bytes, int Matrices, int Cubes>
struct small_team {
  static constexpr int threads = 128, size = N <= warp_graph ? warp : threads, teams = threads / size;
  static constexpr int least = N <= warp_graph ? 1 : warp_graph + 1;
  static constexpr int step = size == warp ? 1 : 2;  // in a block, graphs of 2 m - 1 and of 2 m nodes share their code
  static constexpr int room = Bytes / static_cast<int>(sizeof(T));
  static constexpr bool branches = sizeof(T) == 8;  // whether loops over the columns of a half test each column
  static_assert(room >= Cubes * N * N * (N | 1) + (Matrices * N * N + 1) * 4,
                "triad: a team of the triangle's kernels for small graphs has too little shared memory for four "
                "columns of its largest graph");

  struct shared {
    alignas(16) T memory[teams][room];
  };

  block const& b;
  TRIAD_DEVICE explicit small_team(block const& of) : b(of) {}
  TRIAD_DEVICE int thread() const { return size == warp ? b.lane() : b.thread(); }
  TRIAD_DEVICE int index() const { return size == warp ? b.row() : 0; }
  TRIAD_DEVICE T* memory() const { return b.shared<shared>().memory[index()]; }
  TRIAD_DEVICE void sync() const {
    if constexpr (size == warp)
      b.sync_warp();
    else
      b.sync();
  }

  /// The layout of a team's memory for graphs of `most` nodes.  If the team is a block, the layout is also for graphs
  /// of most - 1 nodes.  The rows are the edges in order.  The distance between rows is an odd number of quads, so that
  /// neighbouring rows begin in different banks.  For the same reason, the distance between lines (l, i, .) of
  /// triangles is an odd number of words: n, or n + 1.  Everything except n, the line and `quads` follows from `most`.
  /// If `most` is a constant, load instructions contain the distances.
  struct layout {
    int n, most, quads, stride;
    TRIAD_DEVICE layout(int nodes, int width) : layout(nodes, nodes + nodes % step, width) {}
    TRIAD_DEVICE layout(int nodes, int most_nodes, int width)
        : n(nodes), most(most_nodes), quads((width + 3) / 4), stride(4 * quads_for(most_nodes)) {
      if (4 * quads > stride) quads = stride / 4;
    }
    /// The number of quads of columns that fit into the memory, for all edges and one extra row.  If a half has one
    /// column less, its last column is read from the next row, which may be the extra row.  The value has no effect.
    TRIAD_DEVICE static constexpr int quads_for(int most) {
      int const fit = (room - Cubes * most * most * (most | 1)) / ((Matrices * most * most + 1) * 4);
      return fit - 1 + fit % 2;
    }
    TRIAD_DEVICE int line() const { return n | 1; }
    TRIAD_DEVICE int matrix(int which) const { return which * most * most * stride; }
    TRIAD_DEVICE int cube(int which) const { return matrix(Matrices) + which * most * most * (most | 1); }
    TRIAD_DEVICE int triangle(int l, int i, int j) const { return (l * n + i) * line() + j; }
    TRIAD_DEVICE int row(int i, int j) const { return (i * n + j) * stride; }
    /// The number of quads in the chunk that begins at column c0.
    TRIAD_DEVICE int here(int c0, int width) const {
      int const left = (width - c0 + 3) / 4;
      return left < quads ? left : quads;
    }
  };

  /// Starts copying the columns of all edges from column c0 on.
  TRIAD_DEVICE void start(layout const& at, columns<T const> const& x, int c0, int width, T* to) const {
    int const quads = at.here(c0, width), rows = at.n * at.n, step_r = size / quads, step_q = size % quads;
    with_grain(x, [&]<int Grain>(std::integral_constant<int, Grain>) {
      int r = thread() / quads, q = thread() % quads;
      while (r < rows) {
        int const c = c0 + 4 * q;
        start_quad<Grain>(b, to + r * at.stride + 4 * q, x.place(r, c), x.column, c, width, true);
        r += step_r;
        q += step_q;
        if (q >= quads) {
          q -= quads;
          ++r;
        }
      }
    });
  }
  /// Waits for all copies that were started.
  TRIAD_DEVICE void wait() const {
    b.end_copies();
    b.wait_for_copies<0>();
    sync();
  }

  /// Waits for the team, and then sets the numbers of the triangles that dropout does not keep to zero.  Dropout
  /// numbers the triangles without the gaps between lines.
  TRIAD_DEVICE void drop(problem<T> const& p, one_head<T> const& of, layout const& at, T* numbers) const {
    if (p.threshold == 0) return;
    sync();
    keeper(p).each_dropped(of.first_element, of.n * of.n * of.n, thread(), size,
                           [&at, numbers](int e) { numbers[e + e / at.n * (at.line() - at.n)] = 0; });
  }

  /// The scores (i, l, j) that one thread computes, for j in [first, last).
  struct task {
    int i, l, first, last;
    TRIAD_DEVICE task(int t, int n)
        : i(t / 2 % n), l(t / 2 / n), first(t % 2 * ((n + 1) / 2)), last(t % 2 == 0 ? (n + 1) / 2 : n) {
      if (l >= n) last = first;  // the task has no score
    }
    /// Whether column e of this half must be skipped.  Always false if loops do not test columns.
    TRIAD_DEVICE bool leaves_out(int e) const { return branches && first + e >= last; }
  };

  /// The constants of a kernel for graphs of Most nodes.  If a team is a block, they are also for graphs of Most - 1
  /// nodes.
  template <int Most>
  struct known {
    static constexpr int half = (Most + 1) / 2;                        // columns of a task, which may have one less
    static constexpr int tasks = (2 * Most * Most + size - 1) / size;  // per thread
    static constexpr int quads = layout::quads_for(Most);              // in a chunk, at most
    static constexpr int together = branches ? 1 : size == warp ? 2 : quads <= 5 ? quads : 3;  // more take registers

    /// Calls read(column) for each quad of a chunk, and calls move(columns) to advance the pointers.  A pass of the
    /// loop reads several quads, so that the test of the loop's end and the pointers take little time.  If a small
    /// chunk is full, there is no loop.
    template <class Read, class Move>
    TRIAD_DEVICE static void each_quad(int here, Read const& read, Move const& move) {
      if constexpr (together == quads && together > 1) {
        if (here == quads) {
          TRIAD_UNROLL
          for (int q = 0; q < quads; ++q) read(4 * q);
          return;
        }
      } else if constexpr (together > 1) {
        TRIAD_NO_UNROLL
        for (; here >= together; here -= together) {
          TRIAD_UNROLL
          for (int q = 0; q < together; ++q) read(4 * q);
          move(4 * together);
        }
      }
      TRIAD_NO_UNROLL
      for (; here > 0; --here) {
        read(0);
        move(4);
      }
    }
  };

  /// Calls f(known<Most>(), layout) for graphs of n nodes.  Distances in memory and the number of columns of a half
  /// follow from the constant Most.  Loops over a constant number have no branch and half the instructions.  In double,
  /// loops keep the branch.  Without branches, the compiler would move loads forward, and the loads would take
  /// registers from sums.  So in double, f gets the largest Most, and a layout made from n.
  template <int Most = N, class F>
  TRIAD_DEVICE static void with_known(int n, int width, F const& f) {
    if constexpr (branches) {
      f(known<N>(), layout(n, width));
    } else {
      if constexpr (Most - step >= least)
        if (n <= Most - step) return with_known<Most - step>(n, width, f);
      f(known<Most>(), layout(step == 1 ? Most : n, Most, width));
    }
  }
};

template <class T, int N, bool OwnKey, bool RightValue>
struct small_forward {
  using team = small_team<T, N, (N <= warp_graph ? 12288 : 56000), 2, 1>;  // matrices: q and k, then v1 and v2
  using layout = typename team::layout;
  using shared = typename team::shared;
  static constexpr char const* name = "triangle forward of small graphs";
  static constexpr int threads = team::threads, resident = N <= warp_graph ? 4 : sizeof(T) == 8 ? 2 : 3;
  static constexpr int thread_ij =
      N <= warp_graph || sizeof(T) == 8 ? 2 : 4;  // rows i, and columns j, in a thread's outputs

  /// The outputs that a thread sums: thread_ij rows from i on, thread_ij columns from j on, and four channels from c
  /// on.
  struct place {
    int c, j, i;
    TRIAD_DEVICE place(int t, int quads, int groups)
        : c(4 * (t % quads)), j(thread_ij * (t / quads % groups)), i(thread_ij * (t / quads / groups)) {}
  };

  /// `heads` is the number of heads of all graphs.
  TRIAD_DEVICE void operator()(block const& b, problem<T> const& p, index_t heads, matrix<T> maximum,
                               matrix<T> inverse_sum, columns<T> o) const {
    team const with(b);
    index_t const item = b.index() * team::teams + with.index();
    if (item >= heads) return;  // the whole team returns
    auto const [head, graph] = coordinates(item, p.heads);
    one_head<T> const of(p, graph, static_cast<int>(head));
    int const n = of.n, width = p.width;
    if (n < team::least || n > N) return;  // the whole team returns
    layout const at(n, width);
    T* const left = with.memory();
    T* const right = left + at.matrix(1);
    T* const weights = left + at.cube(0);

    using most = typename team::template known<N>;
    T score[most::tasks][most::half] = {};
    for (int c0 = 0; c0 < width; c0 += 4 * at.quads) {
      with.start(at, of.query, c0, width, left);
      with.start(at, of.key, c0, width, right);
      with.wait();
      team::with_known(n, width, [&]<class Known>(Known, layout const& cut) {
        TRIAD_UNROLL
        for (int r = 0; r < Known::tasks; ++r) {
          typename team::task const my(with.thread() + r * team::size, n);
          if (my.first >= my.last || !of.open(my.i, my.l, my.last - 1)) continue;
          T const* query = with.memory() + cut.row(my.i, my.l);
          T const* key = with.memory() + cut.matrix(1) + cut.row(OwnKey ? my.i : my.l, my.first);
          Known::each_quad(
              cut.here(c0, width),
              [&](int c) {
                quad<T> const q = quad_at(query + c);
                TRIAD_UNROLL
                for (int e = 0; e < Known::half; ++e)
                  if (!my.leaves_out(e)) score[r][e] = dot(q, quad_at(key + c + e * cut.stride), score[r][e]);
              },
              [&](int by) { query += by, key += by; });
        }
      });
      with.sync();
    }
    TRIAD_UNROLL
    for (int r = 0; r < most::tasks; ++r) {
      typename team::task const my(with.thread() + r * team::size, n);
      TRIAD_UNROLL
      for (int e = 0; e < most::half; ++e) {
        int const j = my.first + e;
        if (j < my.last)
          weights[at.triangle(my.l, my.i, j)] = of.masked(my.i, my.l, j) ? p.fill : score[r][e] * p.scale;
      }
    }
    with.sync();
    for (int t = with.thread(); t < n * n; t += team::size)
      softmax(at, weights, p, of, t / n, t % n, maximum, inverse_sum);
    with.drop(p, of, at, weights);
    for (int c0 = 0; c0 < width; c0 += 4 * at.quads) {
      with.start(at, of.left, c0, width, left);
      if constexpr (RightValue) with.start(at, of.right, c0, width, right);
      with.wait();  // waits also for the weights
      outputs(with, at, of, c0, width, of.part(o));
      with.sync();
    }
  }

 private:
  /// Replaces the scores of edge (i, j) by weights, without dropout.  If l is closed to the edge, the weight becomes
  /// zero.
  TRIAD_DEVICE static void softmax(layout const& at, T* weights, problem<T> const& p, one_head<T> const& of, int i,
                                   int j, matrix<T> maximum, matrix<T> inverse_sum) {
    int const end = of.end(i, j);
    T top = weights[at.triangle(0, i, j)], sum = 0;
    for (int l = 1; l < end; ++l) {
      T const s = weights[at.triangle(l, i, j)];
      top = s > top ? s : top;
    }
    for (int l = 0; l < end; ++l)
      sum += weights[at.triangle(l, i, j)] = exponential(weights[at.triangle(l, i, j)] - top);
    T const inverse = T(1) / sum;
    for (int l = 0; l < end; ++l) weights[at.triangle(l, i, j)] *= inverse * p.kept;
    for (int l = end; l < at.n; ++l) weights[at.triangle(l, i, j)] = 0;
    of.number(maximum, of.row(i, j)) = top;
    of.number(inverse_sum, of.row(i, j)) = inverse;
  }

  /// Computes the outputs.  A thread sums thread_ij rows i, thread_ij columns j and four channels.  For rows and
  /// columns beyond the graph, the thread computes the last row or column again and stores nothing.
  TRIAD_DEVICE static void outputs(team const& with, layout const& at, one_head<T> const& of, int c0, int width,
                                   columns<T> const& o) {
    int const n = at.n, groups = (n + thread_ij - 1) / thread_ij, quads = at.here(c0, width);
    for (int t = with.thread(); t < groups * groups * quads; t += team::size) {
      place const my(t, quads, groups);
      int i[thread_ij], j[thread_ij];
      TRIAD_UNROLL
      for (int r = 0; r < thread_ij; ++r) {
        i[r] = inside(my.i + r, n);
        j[r] = inside(my.j + r, n);
      }
      quad<T> sum[thread_ij][thread_ij] = {};
      team::with_known(n, width, [&]<class Known>(Known, layout const& cut) {
        add_outputs(cut, with.memory(), i, j, of.end(i[thread_ij - 1], j[thread_ij - 1]), my.c, sum);
      });
      TRIAD_UNROLL
      for (int r = 0; r < thread_ij; ++r) TRIAD_UNROLL
      for (int e = 0; e < thread_ij; ++e)
        if (my.i + r < n && my.j + e < n) o.store(of.row(i[r], j[e]), c0 + my.c, width, sum[r][e]);
    }
  }
  TRIAD_DEVICE static void add_outputs(layout const& at, T const* memory, int const (&i)[thread_ij],
                                       int const (&j)[thread_ij], int end, int c,
                                       quad<T> (&sum)[thread_ij][thread_ij]) {
    T const *left[thread_ij], *right[thread_ij], *weight[thread_ij];  // for l; advanced by additions
    TRIAD_UNROLL
    for (int r = 0; r < thread_ij; ++r) {
      left[r] = memory + at.row(i[r], 0) + c;
      right[r] = memory + at.matrix(1) + at.row(0, j[r]) + c;
      weight[r] = memory + at.cube(0) + at.triangle(0, i[r], j[0]);
    }
    TRIAD_NO_UNROLL
    for (int l = 0; l < end; ++l) {
      quad<T> v2[thread_ij] = {};
      if constexpr (RightValue) {
        TRIAD_UNROLL
        for (int e = 0; e < thread_ij; ++e) v2[e] = quad_at(right[e]);
      }
      TRIAD_UNROLL
      for (int r = 0; r < thread_ij; ++r) {
        quad<T> const v1 = quad_at(left[r]);
        TRIAD_UNROLL
        for (int e = 0; e < thread_ij; ++e) {
          // For columns beyond the graph, this reads a number of the next line or of unused memory, and the sum is not
          // stored.
          T const w = weight[r][e];
          if constexpr (RightValue)
            add(sum[r][e], w, v1, v2[e]);
          else
            add(sum[r][e], w, v1);
        }
      }
      TRIAD_UNROLL
      for (int r = 0; r < thread_ij; ++r) {
        left[r] += at.stride;
        right[r] += at.n * at.stride;
        weight[r] += at.n * at.line();
      }
    }
  }
};

}  // namespace triad::cuda::triangles
