// Sums of fixed chunks, which are computed in parallel.  The sums of the chunks are added in order, so the result has
// the same bits with any number of threads.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "triad/cpu/backend.hpp"
#include "triad/reference/reduce.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

inline constexpr index_t sum_chunk = 1 << 14;     // elements
inline constexpr index_t column_sum_chunk = 256;  // rows

constexpr index_t chunks_of(index_t size, index_t chunk) { return (size + chunk - 1) / chunk; }

template <class T>
std::size_t do_sum_workspace(backend&, vec<T const> x) {
  return static_cast<std::size_t>(chunks_of(x.extent(0), sum_chunk)) * sizeof(double);
}

namespace detail {
template <class T, class Term>
double chunked_sum(backend& ex, vec<T const> x, workspace ws, Term term) {
  auto* const partial = reinterpret_cast<double*>(ws.data);
  T const* const data = x.data_handle();
  parallel_rows(ex, x.extent(0), sum_chunk, [=](index_t first, index_t count, int) {
    double s = 0;
#pragma omp simd reduction(+ : s)
    for (index_t i = first; i < first + count; ++i) s += term(static_cast<double>(data[i]));
    partial[first / sum_chunk] = s;
  });
  double total = 0;
  for (index_t c = 0; c < chunks_of(x.extent(0), sum_chunk); ++c) total += partial[c];
  return total;
}
}  // namespace detail

template <class T>
void do_sum(backend& ex, vec<T const> x, vec<T> total, workspace ws) {
  total(0) = T(detail::chunked_sum(ex, x, ws, [](double v) { return v; }));
}

template <class T>
void do_norm(backend& ex, vec<T const> x, vec<T> length, workspace ws) {
  length(0) = T(std::sqrt(detail::chunked_sum(ex, x, ws, [](double v) { return v * v; })));
}

template <class T>
std::size_t do_column_sums_workspace(backend&, matrix<T const> x) {
  return static_cast<std::size_t>(chunks_of(x.extent(0), column_sum_chunk) * x.extent(1)) * sizeof(T);
}

template <class T>
void do_column_sums_add(backend& ex, matrix<T const> x, vec<T> s, workspace ws) {
  index_t const rows = x.extent(0), d = x.extent(1);
  if (x.stride(1) != 1) return reference::do_column_sums_add(ex, x, s, ws);
  T* const partial = reinterpret_cast<T*>(ws.data);
  parallel_rows(ex, rows, column_sum_chunk, [=](index_t first, index_t count, int) {
    T* const to = partial + first / column_sum_chunk * d;
    for (index_t c = 0; c < d; ++c) to[c] = T(0);
    for (index_t r = first; r < first + count; ++r) {
      T const* const from = &x(r, 0);
#pragma omp simd
      for (index_t c = 0; c < d; ++c) to[c] += from[c];
    }
  });
  for (index_t chunk = 0; chunk < chunks_of(rows, column_sum_chunk); ++chunk)
    for (index_t c = 0; c < d; ++c) s(c) += partial[chunk * d + c];
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
