// What the kernels of triangular attention share: four columns moved at once, the columns of one head, one head of one graph.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda/std/cmath>
#include <cuda/std/limits>

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "triad/cuda/block.cuh"
#include "triad/ops/triangle.hpp"

namespace triad::cuda::triangles {

/// Graphs of up to this many nodes have kernels of their own, that keep one head of a graph in shared memory.
inline constexpr int whole_graph = 16;

/// Four neighbouring columns: one load of a float kernel.
template <class T>
struct alignas(16) quad {
  T at[4];
};
template <class T>
struct alignas(2 * sizeof(T)) pair {
  T at[2];
};

/// In shared memory, four columns begin on 16 bytes.
template <class T>
TRIAD_DEVICE quad<T> quad_at(T const* x) { return *reinterpret_cast<quad<T> const*>(x); }
template <class T>
TRIAD_DEVICE void put(T* x, quad<T> const& v) { *reinterpret_cast<quad<T>*>(x) = v; }

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

/// e^x.  Scores differ by less than a hundred where it matters, so that the rounding of x log2(e) costs 1e-5 of a tiny weight at most.
template <class T>
TRIAD_DEVICE T exponential(T x) {
  if constexpr (std::is_same_v<T, float>)
    return ::cuda::std::exp2(x * 1.44269504088896341f);
  else
    return ::cuda::std::exp(x);
}

/// The lowest digit of a mixed-radix number, which is taken off.
template <class N>
TRIAD_DEVICE int digit(N& number, N radix) {
  auto const d = static_cast<int>(number % radix);
  number /= radix;
  return d;
}

/// The columns of a head in rows of any stride.  `grain` neighbouring columns begin on their own size wherever a quad of a row
/// begins, and lie side by side; a head is a whole number of grains.
template <class T>
struct columns {
  using value = std::remove_const_t<T>;
  T* data;
  index_t row, column;  // strides, in elements
  int grain;            // 4, 2 or 1

  TRIAD_DEVICE columns of_head(index_t head, int width) const {
    return {data == nullptr ? nullptr : data + head * width * column, row, column, grain};
  }
  TRIAD_DEVICE T& at(index_t r, int c) const { return data[r * row + c * column]; }

  /// Columns c .. c + 4 of `width`; zeros beyond.
  TRIAD_DEVICE quad<value> load(index_t r, int c, int width) const {
    T const* const from = data + r * row + c * column;
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
      if (c + e < width) x.at[e] = from[e * column];
    return x;
  }
  TRIAD_DEVICE void store(index_t r, int c, int width, quad<value> const& x) const {
    T* const to = data + r * row + c * column;
    if (grain == 4) {
      *reinterpret_cast<quad<value>*>(to) = x;
    } else if (grain == 2) {
      TRIAD_UNROLL
      for (int e = 0; e < 4; e += 2)
        if (c + e < width) *reinterpret_cast<pair<value>*>(to + e) = {{x.at[e], x.at[e + 1]}};
    } else {
      TRIAD_UNROLL
      for (int e = 0; e < 4; ++e)
        if (c + e < width) to[e * column] = x.at[e];
    }
  }
};

/// Of a matrix whose heads have `width` columns each.
template <class T>
columns<T> make_columns(matrix<T> m, index_t width) {
  auto const address = reinterpret_cast<std::uintptr_t>(m.data_handle());
  auto const fits = [&](index_t grain) {
    auto const bytes = grain * static_cast<index_t>(sizeof(T)), unit = bytes < 16 ? bytes : 16;
    return m.stride(1) == 1 && width % grain == 0 && m.stride(0) % grain == 0 && address % static_cast<std::uintptr_t>(unit) == 0;
  };
  return {m.data_handle(), m.stride(0), m.stride(1), fits(4) ? 4 : fits(2) ? 2 : 1};
}

/// Copies rows of one head to shared memory, Width columns of room each.  from_row(r) < 0: zeros; to(r): where row r goes.  A thread
/// asks for four quads before it waits for the first.
template <int Threads, int Width, class T, class From, class To>
TRIAD_DEVICE void copy_rows(block const& b, columns<T const> const& x, int width, int rows, From from_row, To to) {
  constexpr int ahead = 4;
  for (int first = b.thread(); first < rows * (Width / 4); first += ahead * Threads) {
    quad<T> here[ahead] = {};
    TRIAD_UNROLL
    for (int e = 0; e < ahead; ++e) {
      int const t = first + e * Threads, c = t % (Width / 4) * 4, r = t / (Width / 4);
      index_t const from = r < rows && c < width ? from_row(r) : -1;
      if (from >= 0) here[e] = x.load(from, c, width);
    }
    TRIAD_UNROLL
    for (int e = 0; e < ahead; ++e) {
      int const t = first + e * Threads, c = t % (Width / 4) * 4, r = t / (Width / 4);
      if (r < rows && c < width) put(to(r) + c, here[e]);
    }
  }
}

/// Everything that one use of the operation gives every kernel.
template <class T>
struct problem {
  columns<T const> query, key, left, right;         // (rows, d) each; right: nothing where the form has none
  index_t const *size, *first_edge, *first_triangle;  // (b) each
  std::uint8_t const* masked;                       // (triangles), or null
  dropout_mask dropout;
  T fill, scale, kept;  // score of masked triangles, 1 / sqrt(k), 1 / (1 - rate)
  index_t heads;
  int width;  // k
};

template <class T>
problem<T> make_problem(triangle_settings const& t, triangle_projections<T const> const& x, graph_batch const& g) {
  auto const width = x.query.extent(1) / t.heads;
  return {make_columns(x.query, width), make_columns(x.key, width), make_columns(x.left_value, width), make_columns(x.right_value, width),
          g.size.data_handle(), g.edge.data_handle(), g.triangle.data_handle(), t.mask.empty() ? nullptr : t.mask.masked.data_handle(), t.dropout,
          static_cast<T>(t.mask.fill), static_cast<T>(1 / std::sqrt(static_cast<double>(width))),
          t.dropout.active() ? static_cast<T>(t.dropout.scale()) : T(1), t.heads, static_cast<int>(width)};
}

/// Gradients of the projections.
template <class T>
struct gradients {
  columns<T> query, key, left, right;
};

/// Dropout of single elements; what is the same for all of them is made once a thread.
class keeper {
 public:
  TRIAD_DEVICE explicit keeper(dropout_mask const& d) : counter_(d.counter(0)), key_(d.key), threshold_(d.threshold()), active_(d.active()) {}

  TRIAD_DEVICE bool keeps(index_t element) const {
    if (!active_) return true;
    auto const e = static_cast<std::uint64_t>(element);
    auto counter = counter_;
    counter[0] = static_cast<std::uint32_t>(e / 64 * 16 + e % 16);
    auto const words = philox(counter, key_);
    auto const w = e % 64 / 16;  // selected by value: an index that is known at run time only would put the words in memory
    return (w < 2 ? w == 0 ? words[0] : words[1] : w == 2 ? words[2] : words[3]) >= threshold_;
  }

 private:
  philox_words counter_;
  philox_key key_;
  std::uint64_t threshold_;
  bool active_;
};

/// One head of one graph.
template <class T>
struct one_head {
  columns<T const> query, key, left, right;
  std::uint8_t const* mask;       // of this graph, or null
  index_t first_row, first_element, head;
  int n;

  /// Terms: n, or 2 n where the form is flat.
  TRIAD_DEVICE one_head(problem<T> const& p, index_t graph, index_t c, int terms_per_node = 1)
      : query(p.query.of_head(c, p.width)), key(p.key.of_head(c, p.width)), left(p.left.of_head(c, p.width)), right(p.right.of_head(c, p.width)),
        mask(p.masked == nullptr ? nullptr : p.masked + p.first_triangle[graph]), first_row(p.first_edge[graph]), first_element(0), head(c),
        n(static_cast<int>(p.size[graph])) {
    auto const cube = index_t(n) * n * n;
    first_element = terms_per_node * (p.first_triangle[graph] * p.heads + c * cube);
  }

  TRIAD_DEVICE index_t row(int i, int j) const { return first_row + index_t(i) * n + j; }
  TRIAD_DEVICE bool masked(int i, int l, int j) const { return mask != nullptr && mask[(index_t(i) * n + l) * n + j] != 0; }
  /// The number of p(i, l, j) among the elements that dropout numbers.
  TRIAD_DEVICE index_t element(int i, int l, int j) const { return first_element + (index_t(l) * n + i) * n + j; }
};

}  // namespace triad::cuda::triangles
