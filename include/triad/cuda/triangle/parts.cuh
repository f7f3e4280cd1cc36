// What the kernels of triangular attention have in common: four columns as one unit, the columns of one head, and one
// head of one graph.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cuda/std/array>
#include <cuda/std/cmath>
#include <cuda/std/limits>
#include <type_traits>

#include "triad/cuda/device/blas.cuh"
#include "triad/cuda/device/block.cuh"
#include "triad/ops/triangle.hpp"

namespace triad::cuda::triangles {

/// Graphs of up to this number of nodes have separate kernels, which keep one head of a graph in shared memory.
inline constexpr int whole_graph = 16;

/// Four neighbouring columns, which a float kernel loads with one instruction.
template <class T>
struct alignas(16) quad {
  T at[4];
};
template <class T>
struct alignas(2 * sizeof(T)) pair {
  T at[2];
};

/// In shared memory, the address of four columns is a multiple of 16 bytes.
template <class T>
TRIAD_DEVICE quad<T> quad_at(T const* x) {
  return *reinterpret_cast<quad<T> const*>(x);
}
template <class T>
TRIAD_DEVICE void put(T* x, quad<T> const& v) {
  *reinterpret_cast<quad<T>*>(x) = v;
}

/// sum + a . b
template <class T>
TRIAD_DEVICE T dot(quad<T> const& a, quad<T> const& b, T sum) {
  TRIAD_UNROLL
  for (int e = 0; e < 4; ++e) sum += a.at[e] * b.at[e];
  return sum;
}
/// sum + a . (b * c)
template <class T>
TRIAD_DEVICE T dot(quad<T> const& a, quad<T> const& b, quad<T> const& c, T sum) {
  TRIAD_UNROLL
  for (int e = 0; e < 4; ++e) sum += (a.at[e] * b.at[e]) * c.at[e];
  return sum;
}
/// sum += w x
template <class T>
TRIAD_DEVICE void add(quad<T>& sum, T w, quad<T> const& x) {
  TRIAD_UNROLL
  for (int e = 0; e < 4; ++e) sum.at[e] += w * x.at[e];
}
/// sum += (w x) * y
template <class T>
TRIAD_DEVICE void add(quad<T>& sum, T w, quad<T> const& x, quad<T> const& y) {
  TRIAD_UNROLL
  for (int e = 0; e < 4; ++e) sum.at[e] += (w * x.at[e]) * y.at[e];
}
template <class T>
TRIAD_DEVICE quad<T> times(quad<T> x, T w) {
  TRIAD_UNROLL
  for (int e = 0; e < 4; ++e) x.at[e] *= w;
  return x;
}

/// Returns e^x.  In float, the rounding of x log2(e) causes a relative error of at most 1e-5 if x is above -87.  Only
/// tiny weights have an error of this size.  On a device, results below 2^-126 are 0 (x below about -87.3): they have
/// fewer bits, and would take three more instructions.
template <class T>
TRIAD_DEVICE T exponential(T x) {
  if constexpr (std::is_same_v<T, float>) {
    float const power = x * 1.44269504088896341f;
#if defined(__CUDA_ARCH__)
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(power));
    return y;
#else
    return ::cuda::std::exp2(power);
#endif
  } else {
    return ::cuda::std::exp(x);
  }
}

/// Returns the coordinates of a linear index in a box, with the fastest coordinate first, like idx2crd of CuTe.  The
/// last element is the quotient after the last extent: coordinates(x, a, b) = {x % a, x / a % b, x / a / b}.
template <class N, class... Extents>
TRIAD_DEVICE ::cuda::std::array<N, sizeof...(Extents) + 1> coordinates(N index, Extents... extents) {
  ::cuda::std::array<N, sizeof...(Extents) + 1> at{};
  std::size_t axis = 0;
  ((at[axis++] = index % N(extents), index /= N(extents)), ...);
  at[axis] = index;
  return at;
}

/// The columns of a head in rows of any stride.  `grain` is the number of neighbouring columns that can be moved as one
/// aligned unit, because they are contiguous in memory.  A head and a quad have a whole number of grains.
template <class T>
struct columns {
  using value = std::remove_const_t<T>;
  T* data;
  int row, column;  // strides, in elements
  int grain;        // 4, 2 or 1

  /// The columns of one head, with rows counted from `first_row`.
  TRIAD_DEVICE columns of_head(index_t head, int width, index_t first_row = 0) const {
    return {data == nullptr ? nullptr : data + first_row * row + head * width * column, row, column, grain};
  }
  TRIAD_DEVICE T* place(int r, int c) const { return data + index_t(r) * row + index_t(c) * column; }
  TRIAD_DEVICE T& at(int r, int c) const { return *place(r, c); }

  /// Loads the columns c .. c + 3 of a head.  Columns from `width` on become zero.
  TRIAD_DEVICE quad<value> load(int r, int c, int width) const {
    T const* const from = place(r, c);
    quad<value> x{};
    if (grain == 4) return *reinterpret_cast<quad<value> const*>(from);
    if (grain == 2) {
      TRIAD_UNROLL
      for (int e = 0; e < 4; e += 2)
        if (c + e < width) {
          auto const both = *reinterpret_cast<pair<value> const*>(from + e);
          x.at[e] = both.at[0];
          x.at[e + 1] = both.at[1];
        }
      return x;
    }
    TRIAD_UNROLL
    for (int e = 0; e < 4; ++e)
      if (c + e < width) x.at[e] = from[index_t(e) * column];
    return x;
  }
  TRIAD_DEVICE void store(int r, int c, int width, quad<value> const& x) const {
    T* const to = place(r, c);
    if (grain == 4) {
      *reinterpret_cast<quad<value>*>(to) = x;
    } else if (grain == 2) {
      TRIAD_UNROLL
      for (int e = 0; e < 4; e += 2)
        if (c + e < width) *reinterpret_cast<pair<value>*>(to + e) = {{x.at[e], x.at[e + 1]}};
    } else {
      TRIAD_UNROLL
      for (int e = 0; e < 4; ++e)
        if (c + e < width) to[index_t(e) * column] = x.at[e];
    }
  }
};

/// The columns of a matrix whose heads have `width` columns each.
template <class T>
columns<T> make_columns(matrix<T> m, index_t width) {
  auto const address = reinterpret_cast<std::uintptr_t>(m.data_handle());
  auto const fits = [&](index_t grain) {
    auto const bytes = grain * static_cast<index_t>(sizeof(T)), unit = bytes < 16 ? bytes : 16;
    return m.stride(1) == 1 && width % grain == 0 && m.stride(0) % grain == 0 &&
           address % static_cast<std::uintptr_t>(unit) == 0;
  };
  TRIAD_EXPECTS(m.stride(0) <= 0x7fffffff && m.stride(1) <= 0x7fffffff,
                "triangle: strides of " + std::to_string(m.stride(0)) + " and " + std::to_string(m.stride(1)) +
                    " elements, expected below 2^31 on a device");
  return {m.data_handle(), static_cast<int>(m.stride(0)), static_cast<int>(m.stride(1)), fits(4) ? 4 : fits(2) ? 2 : 1};
}

/// Starts copies of the four columns of a row that begin at column c.  Columns from `width` on become zero.  If
/// `inside` is false, all four columns become zero.
template <int Grain, class T>
TRIAD_DEVICE void start_quad(block const& b, T* to, T const* from, int column, int c, int width, bool inside) {
  constexpr int together = Grain * sizeof(T) > 16 ? 16 / sizeof(T) : Grain;
  TRIAD_UNROLL
  for (int e = 0; e < 4; e += together)
    b.start_copy<together * sizeof(T)>(to + e, Grain == 1 ? from + index_t(e) * column : from + e,
                                       inside && c + e < width);
}
/// Calls f(grain) with the grain of the rows as a compile-time constant.
template <class T, class F>
TRIAD_DEVICE void with_grain(columns<T const> const& x, F&& f) {
  if (x.grain == 4)
    f(std::integral_constant<int, 4>());
  else if (x.grain == 2)
    f(std::integral_constant<int, 2>());
  else
    f(std::integral_constant<int, 1>());
}
/// The edges of a tile as rows of a head.  Edge (u, v) is row `first + u across + v down`.  The edge is inside the
/// graph if u < us and v < vs.
struct edge_grid {
  int first, across, down, us, vs;
};
/// Starts copies of Rows edges of one head to shared memory, which has memory for Width columns of each edge.  Edge
/// number u + Inner v is copied to to[u Stride + v Plane].  Edges outside the graph become zero, and the columns
/// [width, filled) become zero too.  Addresses are advanced from row to row by additions, because computing each
/// address from (u, v) took more instructions than the copies.  The address of an edge outside the graph may be
/// invalid, but the copy does not read it.
template <int Threads, int Width, int Rows, int Inner, int Stride, int Plane, class T>
TRIAD_DEVICE void start_rows(block const& b, columns<T const> const& x, int width, int filled, edge_grid const& g,
                             T* to) {
  constexpr int quads = Width / 4, step = Threads / quads;
  static_assert(Threads % quads == 0 && (step % Inner == 0 || Inner % step == 0) && Rows % Inner == 0,
                "triad: rows of a triangle's tile are copied by whole lines of it, or whole parts of a line");
  int const thread = b.again(b.thread()), c = thread % quads * 4, first = thread / quads, u = first % Inner,
            v = first / Inner;
  if (c >= filled) return;
  int const row = b.again(x.row);
  index_t const along = step < Inner ? index_t(g.across) * step * row : 0,
                on = index_t(g.down) * (step < Inner ? 1 : step / Inner) * row -
                     (step < Inner ? index_t(g.across) * (Inner - step) * row : 0);
  with_grain(x, [&]<int Grain>(std::integral_constant<int, Grain>) {
    T const* from = x.data + index_t(g.first + u * g.across + v * g.down) * row + index_t(c) * x.column;
    T* const target = to + u * Stride + v * Plane + c;
    TRIAD_UNROLL
    for (int e = 0; e < Rows; e += step) {
      bool const inside = u < g.us - e % Inner && v < g.vs - e / Inner;
      if (Rows % step == 0 || first + e < Rows)
        start_quad<Grain>(b, target + e % Inner * Stride + e / Inner * Plane, from, x.column, c, width, inside);
      from += (e + step) % Inner == 0 ? on : along;
    }
  });
}

/// The arguments of the operation that all kernels share.
template <class T>
struct problem {
  columns<T const> query, key, left, right;           // (rows, d) each; right: null if the form has none
  index_t const *size, *first_edge, *first_triangle;  // (b) each
  index_t const* sources;                             // (b), or null if every node is a middle node of every edge
  std::uint8_t const* masked;                         // (triangles), or null
  dropout_mask dropout;
  std::uint64_t threshold;  // the host computes it, because a GPU is slow in double; 0: all are kept
  T fill, scale, kept;      // score of masked triangles, 1 / sqrt(k), 1 / (1 - rate)
  arithmetic factors;       // to which backward rounds q and k, if rounds_scores; forward has a template argument
  index_t heads;
  int width;  // k
};

template <class T>
problem<T> make_problem(triangle_options const& options, triangle_projections<T const> const& x, graph_batch const& g,
                        arithmetic factors = arithmetic::float32) {
  auto const width = x.query.extent(1) / options.heads;
  return {make_columns(x.query, width),
          make_columns(x.key, width),
          make_columns(x.left_value, width),
          make_columns(x.right_value, width),
          g.size.data_handle(),
          g.edge_begin.data_handle(),
          g.triangle_begin.data_handle(),
          options.causal() ? options.sources.data_handle() : nullptr,
          options.mask.empty() ? nullptr : options.mask.masked.data_handle(),
          options.dropout,
          options.dropout.active() ? options.dropout.threshold() : 0,
          static_cast<T>(options.mask.fill),
          static_cast<T>(1 / std::sqrt(static_cast<double>(width))),
          options.dropout.active() ? static_cast<T>(options.dropout.scale()) : T(1),
          factors,
          options.heads,
          static_cast<int>(width)};
}

/// The gradients of the projections.
template <class T>
struct gradients {
  columns<T> query, key, left, right;
};

/// Dropout of single elements.  The values that all elements have in common are computed only once in each thread.
class keeper {
 public:
  template <class T>
  TRIAD_DEVICE explicit keeper(problem<T> const& p)
      : counter_(p.dropout.counter(0)), key_(p.dropout.key), threshold_(p.threshold) {}

  TRIAD_DEVICE bool keeps(index_t element) const {
    if (threshold_ == 0) return true;
    auto const e = static_cast<std::uint64_t>(element);
    auto const words = philox(counter_at(counter_, e / 64 * 16 + e % 16), key_);
    auto const w = e % 64 / 16;  // selected by value, because indexed words would be stored in memory
    return (w < 2 ? w == 0 ? words[0] : words[1] : w == 2 ? words[2] : words[3]) >= threshold_;
  }
  /// Looks at the `count` elements that begin with element `first`.  Calls dropped(e) if dropout sets element first + e
  /// to zero.  `threads` threads call this function together, because one counter decides four elements, which are
  /// sixteen apart.
  template <class F>
  TRIAD_DEVICE void each_dropped(index_t first, int count, int thread, int threads, F&& dropped) const {
    auto const block = static_cast<std::uint64_t>(first) / 64;
    int const before = static_cast<int>(first % 64);
    for (int t = thread; t < (before + count + 63) / 64 * 16; t += threads) {
      auto const words = philox(counter_at(counter_, block * 16 + static_cast<std::uint64_t>(t)), key_);
      TRIAD_UNROLL
      for (int w = 0; w < 4; ++w) {
        int const e = t / 16 * 64 + 16 * w + t % 16 - before;
        if (e >= 0 && e < count && words[static_cast<std::size_t>(w)] < threshold_) dropped(e);
      }
    }
  }

 private:
  philox_words counter_;
  philox_key key_;
  std::uint64_t threshold_;
};

/// One head of one graph.  Rows are counted from the first edge of the graph.  So the numbers of rows fit into int: n^2
/// is below 2^31, even if the batch has more edges.
template <class T>
struct one_head {
  index_t first_row, first_element, head;
  int width, n, sources;  // sources: n unless causal
  columns<T const> query, key, left, right;
  std::uint8_t const* mask;  // for this graph, or null

  /// terms_per_node is 2 in the flat form, else 1.
  TRIAD_DEVICE one_head(problem<T> const& p, index_t graph, index_t c, int terms_per_node = 1)
      : first_row(p.first_edge[graph]),
        first_element(0),
        head(c),
        width(p.width),
        n(static_cast<int>(p.size[graph])),
        sources(p.sources == nullptr ? n : static_cast<int>(p.sources[graph])),
        query(part(p.query)),
        key(part(p.key)),
        left(part(p.left)),
        right(part(p.right)),
        mask(p.masked == nullptr ? nullptr : p.masked + p.first_triangle[graph]) {
    auto const cube = index_t(n) * n * n;
    first_element = terms_per_node * (p.first_triangle[graph] * p.heads + c * cube);
  }

  /// The columns of this head in a matrix of all edges and heads.
  template <class U>
  TRIAD_DEVICE columns<U> part(columns<U> const& x) const {
    return x.of_head(head, width, first_row);
  }
  TRIAD_DEVICE int row(int i, int j) const { return i * n + j; }
  /// The row of edge (i, j), or -1 if the edge is outside the graph.
  TRIAD_DEVICE int edge(int i, int j) const { return i < n && j < n ? row(i, j) : -1; }
  TRIAD_DEVICE bool masked(int i, int l, int j) const {
    return mask != nullptr && mask[(index_t(i) * n + l) * n + j] != 0;
  }
  /// All middle nodes of the edges up to (i, j) are below this number.
  TRIAD_DEVICE int end(int i, int j) const { return static_cast<int>(causal_end(sources, n, i, j)); }
  /// Whether l is open to any edge up to (i, j), which means that the edge uses middle node l.
  TRIAD_DEVICE bool open(int i, int l, int j) const { return l < sources || l <= i || l <= j; }
  /// If one end of an edge is at most `last`, l is open to the edge only if the other end is at least this number.
  TRIAD_DEVICE int begin(int l, int last) const { return open(last, l, last) ? 0 : l; }
  /// The number of p(i, l, j) in the order of elements that dropout uses.
  TRIAD_DEVICE index_t element(int i, int l, int j) const { return first_element + (index_t(l) * n + i) * n + j; }
  /// The element of m for edge r of this graph and for this head.
  template <class U>
  TRIAD_DEVICE U& number(matrix<U> const& m, int r) const {
    return m(first_row + r, head);
  }
};

/// The softmax statistics that backward needs, and delta(i, j) = sum_c do o.
template <class T>
struct statistics_views {
  matrix<T const> maximum, inverse_sum, delta;  // (rows, h) each
};

}  // namespace triad::cuda::triangles
