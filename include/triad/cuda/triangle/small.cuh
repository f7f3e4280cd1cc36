// Triangular attention forward of graphs of a few nodes: one warp, or one small block, keeps one head of one graph in
// shared memory.
// SPDX-License-Identifier: Apache-2.0
//
// Such graphs come by the hundred (CLUTRR: 3 to 12 nodes), and waiting for their rows costs more than the arithmetic.
// Up to 6 nodes a warp is enough: at n = 5 a thread an edge, 25 of 32; four heads or graphs share a block and never
// wait for each other.  Above, the 128 threads of a block work together.  A team has room in shared memory for the
// scores of all triangles and for as many columns of the edges as fit beside them, whatever n is: all columns of a
// CLUTRR head at n = 5.  More columns pass in chunks.
//
// Threads and elements of a team; t is the number of a task, which thread t % (threads of the team) does:
//
//   scores    t = 2 (n l + i) + half: p(i, l, j) of the first or the second half of all j
//   softmax   t = n i + j: all l
//   outputs   t = quads (groups (i / thread_ij) + j / thread_ij) + c / 4: thread_ij rows and columns, 4 channels
//
//   outputs at n = 5, with thread_ij = 2 and, where a head has 50 columns, 13 quads, c = 0 .. 49 in each field:
//
//              j = 0, 1        2, 3           4
//     i = 0, 1  t = 0 .. 12   13 .. 25    26 .. 38
//         2, 3     39 .. 51   52 .. 64    65 .. 77
//         4        78 .. 90   91 .. 103  104 .. 116
//
// Banks: how many different words the threads that are served together (32 at 4 bytes each, 16 at 8, 8 at 16) ask of
// the busiest bank of shared memory, at worst; 1 is no conflict.  tests/cuda_on_host/banks_test.cpp counts them.
// Edges are odd numbers of quads apart, and lines (l, i, .) of triangles odd numbers of words: n, or one more.  n edges
// are a multiple of 32 words apart where n is 8 or 16, so there threads that differ in i meet.
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

/// Graphs of up to this many nodes are a warp's, larger ones of up to `whole_graph` a block's.
inline constexpr int warp_graph = 6;

/// The number, or the last one of n.
TRIAD_DEVICE int inside(int which, int n) { return which < n ? which : n - 1; }

/// The threads that share one head of one graph of `least` to N nodes, and their memory: `Matrices` times columns of
/// all edges, `Cubes` times one number a triangle.
template <class T, int N, int Bytes, int Matrices, int Cubes>
struct small_team {
  static constexpr int threads = 128, size = N <= warp_graph ? warp : threads, teams = threads / size;
  static constexpr int least = N <= warp_graph ? 1 : warp_graph + 1;
  static constexpr int part = (N + 1) / 2,
                       tasks = (2 * N * N + size - 1) / size;  // of a thread: scores (i, l, half of the columns j)
  static constexpr int room = Bytes / static_cast<int>(sizeof(T));
  static constexpr bool branches = sizeof(T) == 8;  // loops over columns of a half ask whether there is one
  static_assert(room >= Cubes * N * N * (N | 1) + Matrices * N * N * 4,
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

  /// How the memory is cut for one size of graph.  Rows are edges in their own order; they are an odd number of quads
  /// apart, so that neighbouring ones begin in other banks.  Numbers (l, i, .) of triangles are an odd number of words
  /// apart for the same reason: n, or one more.
  struct layout {
    int n, quads, stride;
    TRIAD_DEVICE layout(int nodes, int width) : n(nodes) {
      int const fit = (room - Cubes * n * n * line()) / (Matrices * n * n * 4), odd = fit - 1 + fit % 2,
                all = (width + 3) / 4;
      quads = all < odd ? all : odd;
      stride = 4 * (quads + 1 - quads % 2);
    }
    TRIAD_DEVICE int line() const { return n | 1; }
    TRIAD_DEVICE int matrix(int which) const { return which * n * n * stride; }
    TRIAD_DEVICE int cube(int which) const { return Matrices * n * n * stride + which * n * n * line(); }
    TRIAD_DEVICE int triangle(int l, int i, int j) const { return (l * n + i) * line() + j; }
    TRIAD_DEVICE int row(int i, int j) const { return (i * n + j) * stride; }
    /// Quads of the chunk that begins at column c0.
    TRIAD_DEVICE int here(int c0, int width) const {
      int const left = (width - c0 + 3) / 4;
      return left < quads ? left : quads;
    }
  };

  /// Starts copies of the columns from c0 of all edges.
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
  /// Everything that was started is there.
  TRIAD_DEVICE void wait() const {
    b.end_copies();
    b.wait_for_copies<0>();
    sync();
  }

  /// Numbers of triangles that dropout does not keep become zeros, once all threads have been here.  Dropout counts
  /// them without what lies between the lines.
  TRIAD_DEVICE void drop(problem<T> const& p, one_head<T> const& of, layout const& at, T* numbers) const {
    if (p.threshold == 0) return;
    sync();
    keeper(p).each_dropped(of.first_element, of.n * of.n * of.n, thread(), size,
                           [&at, numbers](int e) { numbers[e + e / at.n * (at.line() - at.n)] = 0; });
  }

  /// Scores (i, l, first) .. (i, l, last) of one thread.
  struct task {
    int i, l, first, last;
    TRIAD_DEVICE task(int t, int n)
        : i(t / 2 % n), l(t / 2 / n), first(t % 2 * ((n + 1) / 2)), last(t % 2 == 0 ? (n + 1) / 2 : n) {
      if (l >= n) last = first;  // nothing
    }
    /// Whether column e of this half has to be left out; where loops have no branch, it never has.
    TRIAD_DEVICE bool leaves_out(int e) const { return branches && first + e >= last; }
    /// Where column e of this half lies behind its first, in rows: of a half of `Half` columns all but the last are
    /// there; instead of that the one before it is taken once more where n is odd, and what comes of it is not stored.
    template <int Half>
    TRIAD_DEVICE int behind_first(int e) const {
      return branches || e + 1 < Half ? e : last - 1 - first;
    }
  };

  /// Calls f(how many columns the first half of n nodes has): loops over so many have no branch, and half the
  /// instructions.  In double their loads would go ahead of the branches that are not there, and take registers from
  /// sums: those loops have the branch, and f is called with the most columns.
  template <int Half = (least + 1) / 2, class F>
  TRIAD_DEVICE static void with_half(int n, F const& f) {
    if constexpr (branches)
      f(std::integral_constant<int, part>());
    else if constexpr (Half == part)
      f(std::integral_constant<int, Half>());
    else if ((n + 1) / 2 > Half)
      with_half<Half + 1>(n, f);
    else
      f(std::integral_constant<int, Half>());
  }
};

template <class T, int N, bool OwnKey, bool RightValue>
struct small_forward {
  using team = small_team<T, N, (N <= warp_graph ? 12288 : 56000), 2, 1>;  // the matrices: q and k, then v1 and v2
  using layout = typename team::layout;
  using shared = typename team::shared;
  static constexpr char const* name = "triangle forward of small graphs";
  static constexpr int threads = team::threads, resident = N <= warp_graph ? 4 : sizeof(T) == 8 ? 2 : 3;
  static constexpr int thread_ij =
      N <= warp_graph || sizeof(T) == 8 ? 2 : 4;  // rows i, and columns j, of a thread's outputs

  /// Which outputs a thread sums: thread_ij rows from i, as many columns from j, four channels from c.
  struct place {
    int c, j, i;
    TRIAD_DEVICE place(int t, int quads, int groups)
        : c(4 * (t % quads)), j(thread_ij * (t / quads % groups)), i(thread_ij * (t / quads / groups)) {}
  };

  /// Heads: of all graphs.
  TRIAD_DEVICE void operator()(block const& b, problem<T> const& p, index_t heads, matrix<T> maximum,
                               matrix<T> inverse_sum, columns<T> o) const {
    team const with(b);
    index_t const item = b.index() * team::teams + with.index();
    if (item >= heads) return;  // the whole team
    auto const [head, graph] = coordinates(item, p.heads);
    one_head<T> const of(p, graph, static_cast<int>(head));
    int const n = of.n, width = p.width;
    if (n < team::least || n > N) return;  // the whole team
    layout const at(n, width);
    T* const left = with.memory();
    T* const right = left + at.matrix(1);
    T* const weights = left + at.cube(0);

    T score[team::tasks][team::part] = {};
    for (int c0 = 0; c0 < width; c0 += 4 * at.quads) {
      with.start(at, of.query, c0, width, left);
      with.start(at, of.key, c0, width, right);
      with.wait();
      team::with_half(n, [&]<int Half>(std::integral_constant<int, Half>) {
        TRIAD_UNROLL
        for (int r = 0; r < team::tasks; ++r) {
          typename team::task const my(with.thread() + r * team::size, n);
          if (my.first >= my.last || !of.open(my.i, my.l, my.last - 1)) continue;
          T const* query = left + at.row(my.i, my.l);
          T const* key = right + at.row(OwnKey ? my.i : my.l, my.first);
          TRIAD_NO_UNROLL
          for (int c = 0; c < 4 * at.here(c0, width); c += 4, query += 4, key += 4) {
            quad<T> const q = quad_at(query);
            TRIAD_UNROLL
            for (int e = 0; e < Half; ++e)
              if (!my.leaves_out(e))
                score[r][e] = dot(q, quad_at(key + my.template behind_first<Half>(e) * at.stride), score[r][e]);
          }
        }
      });
      with.sync();
    }
    TRIAD_UNROLL
    for (int r = 0; r < team::tasks; ++r) {
      typename team::task const my(with.thread() + r * team::size, n);
      TRIAD_UNROLL
      for (int e = 0; e < team::part; ++e) {
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
      with.wait();  // also for the weights
      outputs(with, at, left, right, weights, of, c0, width, of.part(o));
      with.sync();
    }
  }

 private:
  /// Scores of edge (i, j) to weights, as they are where all are kept; zeros of what is masked.
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

  /// A thread sums thread_ij rows i, as many columns j and four channels; beyond the graph it takes the last once more
  /// and stores nothing.
  TRIAD_DEVICE static void outputs(team const& with, layout const& at, T const* left, T const* right, T const* weights,
                                   one_head<T> const& of, int c0, int width, columns<T> const& o) {
    int const n = at.n, groups = (n + thread_ij - 1) / thread_ij, quads = at.here(c0, width);
    for (int t = with.thread(); t < groups * groups * quads; t += team::size) {
      place const my(t, quads, groups);
      int const c = my.c, j0 = my.j, i0 = my.i;
      int i[thread_ij], j[thread_ij];
      TRIAD_UNROLL
      for (int r = 0; r < thread_ij; ++r) {
        i[r] = inside(i0 + r, n);
        j[r] = inside(j0 + r, n);
      }
      quad<T> sum[thread_ij][thread_ij] = {};
      int const end = of.end(i[thread_ij - 1], j[thread_ij - 1]);
      for (int l = 0; l < end; ++l) {
        quad<T> v2[thread_ij] = {};
        if constexpr (RightValue) {
          TRIAD_UNROLL
          for (int e = 0; e < thread_ij; ++e) v2[e] = quad_at(right + at.row(l, j[e]) + c);
        }
        TRIAD_UNROLL
        for (int r = 0; r < thread_ij; ++r) {
          quad<T> const v1 = quad_at(left + at.row(i[r], l) + c);
          TRIAD_UNROLL
          for (int e = 0; e < thread_ij; ++e) {
            T const w = weights[at.triangle(l, i[r], j[e])];
            if constexpr (RightValue)
              add(sum[r][e], w, v1, v2[e]);
            else
              add(sum[r][e], w, v1);
          }
        }
      }
      TRIAD_UNROLL
      for (int r = 0; r < thread_ij; ++r) TRIAD_UNROLL
      for (int e = 0; e < thread_ij; ++e)
        if (i0 + r < n && j0 + e < n) o.store(of.row(i[r], j[e]), c0 + c, width, sum[r][e]);
    }
  }
};

}  // namespace triad::cuda::triangles
