// Sums of fixed chunks, which are added in order.  The shape alone decides the chunks, and so the bits of the result.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda/std/cmath>

#include "triad/cuda/device/rows.cuh"
#include "triad/ops/reduce.hpp"

namespace triad::cuda {

/// The number of elements that a block sums.
inline constexpr index_t sum_chunk = 4096;

/// The number of rows in a chunk.  A block computes the sums of columns over one chunk.  There are at most 2048 chunks.
constexpr index_t column_chunk(index_t rows) { return rows <= 32 * 2048 ? 32 : blocks_for(rows, 2048); }
/// The number of chunks that memory is planned for.  If there are more rows, this number is never smaller, because
/// memory for the largest batch must be enough for every smaller batch.
constexpr index_t most_column_chunks(index_t rows) { return rows <= 32 * 2048 ? blocks_for(rows, 32) : 2048; }
/// Up to this number of chunks, one launch computes the sums of columns.  A thread then adds the sums of all chunks.
/// It waits for memory a few times, and a launch takes some microseconds.  We did not measure the limit.
inline constexpr index_t few_chunks = 16;

namespace detail {

/// Returns the sum of the elements in the chunk of the block, or of their squares if Squares is true.  All threads get
/// the same sum.
template <bool Squares, class T>
TRIAD_DEVICE double chunk_sum(block const& b, vec<T const> x, double (&part)[row_warps]) {
  index_t const first = b.index() * sum_chunk, end = first + sum_chunk < x.extent(0) ? first + sum_chunk : x.extent(0);
  double s = 0;
  for (index_t i = first + b.thread(); i < end; i += row_threads) {
    auto const v = static_cast<double>(x(i));
    s += Squares ? v * v : v;
  }
  return block_sum(b, part, s);
}

/// Returns the square root of s if Root is true, else s.
template <class T, bool Root>
TRIAD_DEVICE T total_of(double s) {
  return static_cast<T>(Root ? ::cuda::std::sqrt(s) : s);
}

template <class T, bool Squares>
struct partial_sums {
  static constexpr char const* name = "partial sums";
  static constexpr int threads = row_threads;
  struct shared {
    double part[row_warps];
  };

  TRIAD_DEVICE void operator()(block const& b, vec<T const> x, double* partial) const {
    double const s = chunk_sum<Squares>(b, x, b.shared<shared>().part);
    if (b.thread() == 0) partial[b.index()] = s;
  }
};

/// One block adds all partial sums.  Thread t adds the sums t, t + threads, ...
template <class T, bool Root>
struct join_sums {
  static constexpr char const* name = "joining sums";
  static constexpr int threads = row_threads;
  struct shared {
    double part[row_warps];
  };

  TRIAD_DEVICE void operator()(block const& b, double const* partial, index_t count, vec<T> total) const {
    double s = 0;
    for (index_t i = b.thread(); i < count; i += threads) s += partial[i];
    s = block_sum(b, b.shared<shared>().part, s);
    if (b.thread() == 0) total(0) = total_of<T, Root>(s);
  }
};

/// Does the work of partial_sums and join_sums in one launch, if there is at most one chunk.  The result has the same
/// bits.
template <class T, bool Norm>
struct sum_of_chunk {
  static constexpr char const* name = "sum of one chunk";
  static constexpr int threads = row_threads;
  struct shared {
    double part[row_warps];
  };

  TRIAD_DEVICE void operator()(block const& b, vec<T const> x, vec<T> total) const {
    double const s = chunk_sum<Norm>(b, x, b.shared<shared>().part);
    if (b.thread() == 0) total(0) = total_of<T, Norm>(s);
  }
};

template <bool Norm, class T>
void chunked_sum(backend& ex, vec<T const> x, vec<T> total, workspace ws) {
  index_t const chunks = blocks_for(x.extent(0), sum_chunk);
  if (chunks <= 1) return launch(ex, sum_of_chunk<T, Norm>{}, 1, x, total);
  auto* const partial = reinterpret_cast<double*>(ws.data);
  launch(ex, partial_sums<T, Norm>{}, chunks, x, partial);
  launch(ex, join_sums<T, Norm>{}, 1, static_cast<double const*>(partial), chunks, total);
}

/// Sets partial[chunk * stride + c] to the sum of term(r, c) over the rows r of a chunk.  A block computes 32 columns
/// of one chunk.  The warps of the block take the rows in turn.
template <class T, class Term>
struct column_partials {
  static constexpr char const* name = "partial column sums";
  static constexpr int threads = row_threads;
  struct shared {
    T part[row_warps][warp];
  };
  Term term;

  TRIAD_DEVICE void operator()(block const& b, index_t rows, index_t columns, T* partial, index_t chunk,
                               index_t stride) const {
    auto& s = b.shared<shared>();
    index_t const across = (columns + warp - 1) / warp, at = b.index() / across,
                  c = b.index() % across * warp + b.lane();
    index_t const first = at * chunk, end = first + chunk < rows ? first + chunk : rows;
    T sum = 0;
    if (c < columns)
      for (index_t r = first + b.row(); r < end; r += row_warps) sum += term(r, c);
    s.part[b.row()][b.lane()] = sum;
    b.sync();
    if (b.row() != 0 || c >= columns) return;
    T total = 0;
    for (int w = 0; w < row_warps; ++w) total += s.part[w][b.lane()];
    partial[at * stride + c] = total;
  }
};

/// Adds the sums of all chunks to s(c) for each column c.  The columns after the last column of s are added to t.  The
/// warps of a block take the chunks in turn, and the sums of the warps are then added in order.
template <class T>
struct add_partials {
  static constexpr char const* name = "joining column sums";
  static constexpr int warps = 32, threads = warps * warp;
  static_assert(
      few_chunks <= warps,
      "triad: a warp of add_partials adds at most one of few chunks, so that their order is that of one launch");
  struct shared {
    T part[warps][warp];
  };

  TRIAD_DEVICE void operator()(block const& b, T const* partial, index_t chunks, vec<T> s, vec<T> t) const {
    auto& memory = b.shared<shared>();
    index_t const d = s.extent(0), columns = d + t.extent(0), c = b.index() * warp + b.lane();
    T sum = 0;
    if (c < columns)
      for (index_t k = b.row(); k < chunks; k += warps) sum += partial[k * columns + c];
    memory.part[b.row()][b.lane()] = sum;
    b.sync();
    if (b.row() != 0 || c >= columns) return;
    T total = 0;
    for (int w = 0; w < warps; ++w) total += memory.part[w][b.lane()];
    if (c < d)
      s(c) += total;
    else
      t(c - d) += total;
  }
};

/// Does the work of column_partials and add_partials in one launch, if there are few chunks.  The result has the same
/// bits.  A block adds 32 columns of all chunks, so few blocks read many rows.
template <class T, class Term>
struct column_sums_of_few {
  static constexpr char const* name = "column sums of few rows";
  static constexpr int warps = 32, threads = warps * warp;
  struct shared {
    T part[few_chunks * row_warps][warp];
  };
  Term term;

  TRIAD_DEVICE void operator()(block const& b, index_t rows, index_t chunk, int chunks, vec<T> s) const {
    auto& memory = b.shared<shared>();
    index_t const c = b.index() * warp + b.lane();
    bool const inside = c < s.extent(0);
    for (int p = b.row(); p < chunks * row_warps; p += warps) {  // the part of a warp of column_partials
      index_t const first = p / row_warps * chunk, end = first + chunk < rows ? first + chunk : rows;
      T sum = 0;
      if (inside)
        for (index_t r = first + p % row_warps; r < end; r += row_warps) sum += term(r, c);
      memory.part[p][b.lane()] = sum;
    }
    b.sync();
    if (b.row() != 0 || !inside) return;
    T total = 0;
    for (int k = 0; k < chunks; ++k) {
      T of_chunk = 0;
      for (int w = 0; w < row_warps; ++w) of_chunk += memory.part[k * row_warps + w][b.lane()];
      total += of_chunk;
    }
    s(c) += total;
  }
};

template <class T>
struct matrix_term {
  matrix<T const> x;
  TRIAD_DEVICE T operator()(index_t r, index_t c) const { return x(r, c); }
};

}  // namespace detail

template <class T>
std::size_t do_sum_workspace(backend&, vec<T const> x) {
  return static_cast<std::size_t>(blocks_for(x.extent(0), sum_chunk)) * sizeof(double);
}

template <class T>
void do_sum(backend& ex, vec<T const> x, vec<T> total, workspace ws) {
  detail::chunked_sum<false>(ex, x, total, ws);
}

template <class T>
void do_norm(backend& ex, vec<T const> x, vec<T> length, workspace ws) {
  detail::chunked_sum<true>(ex, x, length, ws);
}

template <class T>
std::size_t do_column_sums_workspace(backend&, matrix<T const> x) {
  return static_cast<std::size_t>(most_column_chunks(x.extent(0)) * x.extent(1)) * sizeof(T);
}

template <class T>
void do_column_sums_add(backend& ex, matrix<T const> x, vec<T> s, workspace ws) {
  index_t const rows = x.extent(0), d = x.extent(1), chunk = column_chunk(rows), chunks = blocks_for(rows, chunk),
                tiles = blocks_for(d, warp);
  if (rows == 0) return;
  using few = detail::column_sums_of_few<T, detail::matrix_term<T>>;
  if (chunks <= few_chunks) return launch(ex, few{{x}}, tiles, rows, chunk, static_cast<int>(chunks), s);
  auto* const partial = reinterpret_cast<T*>(ws.data);
  launch(ex, detail::column_partials<T, detail::matrix_term<T>>{{x}}, chunks * tiles, rows, d, partial, chunk, d);
  launch(ex, detail::add_partials<T>{}, tiles, static_cast<T const*>(partial), chunks, s, vec<T>(nullptr, 0));
}

}  // namespace triad::cuda
