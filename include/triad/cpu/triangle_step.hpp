// One step of causal triangular attention.  A task computes a few edges of a slot, and reads each cached row once for
// all heads.
// SPDX-License-Identifier: Apache-2.0
//
// A step uses every number of q, k, v1 and v2 in only one product, so it spends most of its time on reading memory.
// Each row is read whole, for all heads.  The queries and keys are read first, for the scores, and then the values.
// Prefetching made the step slower.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>

#include "triad/core/finite.hpp"
#include "triad/cpu/backend.hpp"
#include "triad/cpu/kernels/attention_rows.hpp"
#include "triad/ops/triangle.hpp"
#include "triad/reference/triangle_step.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

namespace stepping {

inline constexpr index_t edges = 4;  // edges per task

/// The scratch memory of a thread for one edge (i, j).  The memory has the row numbers of the edges (i, l) and (l, j),
/// the scores, and vectors of partial sums.  The lanes of the partial sums are not added up yet.
template <class T>
struct edge_buffers {
  index_t across, heads;  // across: the number of scores of a head, rounded up to whole vectors
  index_t *left, *right;  // (across)
  T *scores, *partial;    // (heads, across), (heads, lanes, lanes)

  static index_t lanes_count() { return attending::lanes_of<T>::count; }
  static std::size_t bytes(index_t n, index_t heads) {
    auto const across = attending::padded<T>(n);
    auto const numbers = heads * (across + lanes_count() * lanes_count());
    return static_cast<std::size_t>(2 * across) * sizeof(index_t) + static_cast<std::size_t>(numbers) * sizeof(T);
  }
  edge_buffers(workspace ws, int thread, index_t n, index_t h) : across(attending::padded<T>(n)), heads(h) {
    auto* const begin = ws.data + static_cast<std::size_t>(thread) * bytes(n, h);
    left = reinterpret_cast<index_t*>(begin);
    right = left + across;
    scores = reinterpret_cast<T*>(right + across);
    partial = scores + heads * across;
  }
};

/// Computes partial sums of the dot product of a and b for one head.  Each element of to[0 .. lanes) is the sum of one
/// lane.
template <class T>
[[gnu::always_inline]] inline void multiply(T const* a, T const* b, index_t width, T* to) {
  if constexpr (std::same_as<T, float>) {
    simd::floats sum{};
    simd::each_vector(width, [&](index_t e, auto part) { sum += part.load(a + e) * part.load(b + e); });
    simd::store(to, sum);
  } else {
    T sum = 0;
#pragma omp simd reduction(+ : sum)
    for (index_t e = 0; e < width; ++e) sum += a[e] * b[e];
    to[0] = sum;
  }
}

/// Sets to[l] to the sum of the lanes of vector l.  There are as many vectors as lanes.
template <class T>
[[gnu::always_inline]] inline void add_up(T const* partial, T* to) {
  constexpr index_t count = attending::lanes_of<T>::count;
  if constexpr (std::same_as<T, float>)
    simd::store(to, simd::sums(partial));
  else
    for (index_t l = 0; l < count; ++l) to[l] = partial[l * count];
}

/// Replaces the n scores in `row` by weights.  Sets the elements [n, across) to zero.
template <class T>
void weigh(T* row, index_t n, index_t across, T scale) {
  using attending::lanes;
  constexpr index_t count = attending::lanes_of<T>::count;
  std::fill(row + n, row + across, below_all<T>);
  lanes<T> most = attending::load(row), total{};
  for (index_t l = count; l < across; l += count) {
    lanes<T> const x = attending::load(row + l);
    most = x > most ? x : most;
  }
  T const maximum = attending::across_lanes<T>(most, [](T a, T b) { return a > b ? a : b; });
  for (index_t l = 0; l < across; l += count) {
    lanes<T> const p = attending::exponential((attending::load(row + l) - maximum) * scale);
    total += p;
    attending::store(row + l, p);
  }
  T const inverse = T(1) / attending::across_lanes<T>(total, plus{});
  for (index_t l = 0; l < across; l += count) attending::store(row + l, attending::load(row + l) * inverse);
}

/// Adds to `to` the product p a * b for one head if Both is true, else p a.
template <bool Both, class T>
[[gnu::always_inline]] inline void add_product(T p, T const* a, T const* b, index_t width, T* to) {
  if constexpr (std::same_as<T, float>) {
    simd::each_vector(width, [&](index_t e, auto part) {
      simd::floats const x = p * part.load(a + e);
      part.store(to + e, part.load(to + e) + (Both ? x * part.load(b + e) : x));
    });
  } else {
#pragma omp simd
    for (index_t e = 0; e < width; ++e) to[e] += Both ? p * a[e] * b[e] : p * a[e];
  }
}

/// Computes the row of o for one edge (i, j).
template <bool OwnKey, bool RightValue, class T>
void attend(edge_buffers<T> const& buffers, triangle_projections<T const> const& x, edge_shells const& at,
            shell_edge const& e, index_t width, T* to) {
  constexpr index_t count = attending::lanes_of<T>::count;
  shell_graph const g = at.graph(e.slot);
  index_t const n = g.nodes, heads = buffers.heads, across = attending::padded<T>(n), own = g.row(e.i, e.j);
  for (index_t l = 0; l < n; ++l) {
    buffers.left[l] = g.row(e.i, l);
    buffers.right[l] = g.row(l, e.j);
  }
  for (index_t first = 0; first < n; first += count) {
    index_t const some = std::min(count, n - first);
    for (index_t l = 0; l < some; ++l) {
      T const *const q = &x.query(buffers.left[first + l], 0), *const k =
                                                                   &x.key(OwnKey ? own : buffers.right[first + l], 0);
      for (index_t c = 0; c < heads; ++c)
        multiply(q + c * width, k + c * width, width, buffers.partial + (c * count + l) * count);
    }
    for (index_t c = 0; c < heads; ++c)
      add_up(buffers.partial + c * count * count, buffers.scores + c * across + first);
  }
  T const scale = T(1) / std::sqrt(T(width));
  for (index_t c = 0; c < heads; ++c) weigh(buffers.scores + c * across, n, across, scale);
  std::fill_n(to, heads * width, T(0));
  for (index_t l = 0; l < n; ++l) {
    T const* const v1 = &x.left_value(buffers.left[l], 0);
    T const* const v2 = RightValue ? &x.right_value(buffers.right[l], 0) : v1;
    for (index_t c = 0; c < heads; ++c) {
      index_t const first = c * width;
      add_product<RightValue>(buffers.scores[c * across + l], v1 + first, v2 + first, width, to + first);
    }
  }
}

}  // namespace stepping

template <class T>
std::size_t do_triangle_step_workspace(backend& ex, index_t heads, edge_shells const& at, matrix<T> const&) {
  return static_cast<std::size_t>(ex.threads) *
         stepping::edge_buffers<T>::bytes(at.sources.dims.max_nodes + at.step + 1, heads);
}

template <std::floating_point T>
void do_triangle_step(backend& ex, triangle_form form, index_t heads, triangle_projections<T const> const& x,
                      edge_shells const& at, shell_edges wanted, matrix<T> o, workspace ws) {
  bool const contiguous =
      x.query.stride(1) == 1 && x.key.stride(1) == 1 && x.left_value.stride(1) == 1 && o.stride(1) == 1;
  if (!contiguous || (uses_right_value(form) && x.right_value.stride(1) != 1))
    return reference::do_triangle_step(ex, form, heads, x, at, wanted, o, ws);
  for (index_t b = 0; b < at.sources.dims.graphs; ++b)
    TRIAD_EXPECTS(at.sources.size(b) <= at.sources.dims.max_nodes,
                  "triangle_step: graph " + std::to_string(b) + " has " + std::to_string(at.sources.size(b)) +
                      " nodes, expected at most " + std::to_string(at.sources.dims.max_nodes) +
                      ", the batch's `max_nodes`");
  index_t const width = o.extent(1) / heads;
  with_triangle_form(form, [&](auto own_key, auto right_value) {
    parallel_rows(ex, o.extent(0), stepping::edges, [&](index_t first, index_t count, int thread) {
      stepping::edge_buffers<T> const buffers(ws, thread, at.sources.dims.max_nodes + at.step + 1, heads);
      for (index_t r = first; r < first + count; ++r)
        stepping::attend<decltype(own_key)::value, decltype(right_value)::value>(buffers, x, at, at.edge(wanted, r),
                                                                                 width, &o(r, 0));
    });
  });
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
