// Pointers between the members of a list.  A block computes one grid.  In softmaxes, a warp computes a row, with lanes
// along the members.  In products of matrices, a thread computes an element.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda/std/cmath>

#include "triad/cuda/device/rows.cuh"
#include "triad/ops/list_pointers.hpp"

namespace triad::cuda {

namespace detail {

inline constexpr int grid_warps = 4, grid_threads = grid_warps * warp;

/// Calls f(i, j) for the pairs of columns that belong to a thread.
template <class F>
TRIAD_DEVICE void each_pair_of(block const& b, index_t m, F&& f) {
  for (index_t p = b.thread(); p < m * m; p += b.threads()) f(p / m, p % m);
}

/// The values l(i, .) of one member, as softmax_total reads them.
template <class T>
struct pointer_row {
  static constexpr int held = 0;
  vec<T const> const& score;
  index_t first, i;
  T distance;

  TRIAD_DEVICE T operator()(int, index_t j) const {
    return score(first + j) - (j < i ? distance * static_cast<T>(i - j - 1) : T(0));
  }
};

template <class T>
struct list_pointers_grid {
  static constexpr char const* name = "list_pointers";
  static constexpr int threads = grid_threads;

  TRIAD_DEVICE void operator()(block const& b, grid_batch g, vec<index_t const> members, list_pointer_options o,
                               vec<T const> score, matrix<T> powers) const {
    triad::detail::column_pairs const at(g, b.index());
    index_t const e = members(b.index());
    each_pair_of(b, at.m, [&](index_t i, index_t j) {
      if (i < e && j <= i) return;  // written below
      for (index_t k = 0; k <= o.squarings; ++k) powers(k, at(i, j)) = i == j ? T(1) : T(0);
    });
    for (index_t i = b.row(); i < e; i += grid_warps) {
      pointer_row<T> const row{score, at(i, 0), i, T(o.distance)};
      softmax_total<T> const total(b, row, i + 1);
      for (index_t j = b.lane(); j <= i; j += warp) powers(0, at(i, j)) = total.probability(row(0, j));
    }
    for (index_t k = 0; k < o.squarings; ++k) {
      b.sync();
      each_pair_of(b, e, [&](index_t i, index_t j) {
        if (j > i) return;
        T sum = 0;
        for (index_t c = j; c <= i; ++c) sum += powers(k, at(i, c)) * powers(k, at(c, j));
        powers(k + 1, at(i, j)) = sum;
      });
    }
  }
};

template <class T>
struct list_pointers_grad_grid {
  static constexpr char const* name = "list_pointers_grad";
  static constexpr int threads = grid_threads;

  TRIAD_DEVICE void operator()(block const& b, grid_batch g, vec<index_t const> members, list_pointer_options o,
                               matrix<T const> powers, vec<T const> d_heads, vec<T const> d_links, vec<T> dscore,
                               matrix<T> d) const {
    triad::detail::column_pairs const at(g, b.index());
    index_t const e = members(b.index());
    index_t now = 0;
    each_pair_of(b, at.m, [&](index_t i, index_t j) {
      if (i < e && j <= i)
        d(now, at(i, j)) = d_heads(at(i, j));
      else
        dscore(at(i, j)) = T(0);
    });
    b.sync();
    for (index_t k = o.squarings - 1; k >= 0; --k, now = 1 - now) {
      each_pair_of(b, e, [&](index_t i, index_t j) {
        if (j > i) return;
        T sum = 0;
        for (index_t c = 0; c <= j; ++c) sum += d(now, at(i, c)) * powers(k, at(j, c));
        for (index_t c = i; c < e; ++c) sum += powers(k, at(c, i)) * d(now, at(c, j));
        d(1 - now, at(i, j)) = sum;
      });
      b.sync();
    }
    for (index_t i = b.row(); i < e; i += grid_warps) {
      auto const of_l = [&](index_t j) { return d(now, at(i, j)) + d_links(at(i, j)); };
      T dot = 0;
      for (index_t j = b.lane(); j <= i; j += warp) dot += powers(0, at(i, j)) * of_l(j);
      dot = warp_sum(b, dot);
      for (index_t j = b.lane(); j <= i; j += warp) dscore(at(i, j)) = powers(0, at(i, j)) * (of_l(j) - dot);
    }
  }
};

template <class T>
struct list_penalty_grid {
  static constexpr char const* name = "list_penalty";
  static constexpr int threads = grid_threads;

  TRIAD_DEVICE void operator()(block const& b, grid_batch g, vec<index_t const> members, vec<T const> links,
                               vec<T const> weight, vec<T> d_links, vec<T> of_columns) const {
    triad::detail::column_pairs const at(g, b.index());
    index_t const e = members(b.index());
    each_pair_of(b, at.m, [&](index_t i, index_t j) {
      bool const counts = i == j && i > 0 && i < e;
      T const other = counts ? T(1) - links(at(i, i)) + T(list_penalty_offset) : T(1);
      d_links(at(i, j)) = counts ? weight(0) / other : T(0);
      if (i == j) of_columns(g.column_begin(b.index()) + i) = counts ? -weight(0) * ::cuda::std::log(other) : T(0);
    });
  }
};

}  // namespace detail

template <class T>
void do_list_pointers(backend& ex, grid_batch const& g, vec<index_t const> members, list_pointer_options const& o,
                      vec<T const> score, matrix<T> powers) {
  launch(ex, detail::list_pointers_grid<T>{}, g.dims.graphs, g, members, o, score, powers);
}

template <class T>
void do_list_pointers_grad(backend& ex, grid_batch const& g, vec<index_t const> members, list_pointer_options const& o,
                           matrix<T const> powers, vec<T const> d_heads, vec<T const> d_links, vec<T> dscore,
                           matrix<T> d) {
  launch(ex, detail::list_pointers_grad_grid<T>{}, g.dims.graphs, g, members, o, powers, d_heads, d_links, dscore, d);
}

template <class T>
void do_list_penalty(backend& ex, grid_batch const& g, vec<index_t const> members, vec<T const> links,
                     vec<T const> weight, vec<T> d_links, vec<T> of_columns) {
  launch(ex, detail::list_penalty_grid<T>{}, g.dims.graphs, g, members, links, weight, d_links, of_columns);
}

}  // namespace triad::cuda
