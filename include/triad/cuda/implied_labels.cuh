// Removes labels that edges imply.  Forward has a warp for each column of the grids, and the lanes take relations or
// labels in turn.  The gradient has a block for each relation.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda/std/cmath>
#include <cuda/std/limits>

#include "triad/core/finite.hpp"
#include "triad/cuda/device/rows.cuh"
#include "triad/ops/implied_labels.hpp"

namespace triad::cuda {

namespace detail {

/// Computes E for the column of a warp.
template <class T>
struct outgoing_edges {
  static constexpr char const* name = "implied_labels: outgoing edges";
  static constexpr int threads = row_threads;

  TRIAD_DEVICE void operator()(block const& b, grid_batch g, matrix<T const> s, matrix<T> edge) const {
    warp_row const own(b, edge);
    index_t const graph = last_begun(b, g.column_begin, own.r), m = g.columns(graph),
                  first = g.pair_begin(graph) + (own.r - g.column_begin(graph)) * m;
    for (index_t r = b.lane(); r < own.d; r += warp) {
      T sum = 0;
      for (index_t c = 0; c < m; ++c) sum += s(first + c, r);
      edge(own.r, r) = -::cuda::std::expm1(sum);
    }
  }
};

/// Computes the labels of the column of a warp.
template <class T>
struct kept_labels {
  static constexpr char const* name = "implied_labels";
  static constexpr int threads = row_threads;

  TRIAD_DEVICE void operator()(block const& b, matrix<T const> x, matrix<T const> implied, matrix<T const> edge,
                               matrix<T> of_x, matrix<T> of_y, matrix<T> result) const {
    warp_row const own(b, result);
    for (index_t u = b.lane(); u < own.d; u += warp) {
      T y = 0;
      for (index_t r = 0; r < implied.extent(0); ++r)
        y += ::cuda::std::log1p(-(T(noisy_or_kappa) * edge(own.r, r)) * implied(r, u));
      keep(own.r, u, x(own.r, u), y, of_x, of_y, result);
    }
  }

 private:
  /// As keep_label() of reference/implied_labels.hpp.
  TRIAD_DEVICE static void keep(index_t a, index_t u, T x, T y, matrix<T> of_x, matrix<T> of_y, matrix<T> result) {
    constexpr T least = ::cuda::std::numeric_limits<T>::min(), most = most_implied_exponent;
    T const kept = ::cuda::std::exp(y), p = -::cuda::std::expm1(x) * kept;
    T score = x, slope = 1;
    if (is_nan(y) || (y <= -least && p <= T(0.5))) {
      score = ::cuda::std::log1p(-p);
      slope = ::cuda::std::exp(x) * kept / (T(1) - p);
    } else if (y <= -least) {
      T const removed = ::cuda::std::log(-::cuda::std::expm1(y)), missed = x + y;
      bool const more = missed > removed;
      T const ratio = ::cuda::std::exp(more ? removed - missed : missed - removed);
      score = (more ? missed : removed) + ::cuda::std::log1p(ratio);
      slope = (more ? T(1) : ratio) / (T(1) + ratio);
    }
    result(a, u) = score;
    of_x(a, u) = slope;
    of_y(a, u) = -p * ::cuda::std::exp(-score < most ? -score : most);
  }
};

template <class T>
struct kept_labels_grad {
  static constexpr char const* name = "implied_labels_grad of x";
  static constexpr int threads = row_threads;

  TRIAD_DEVICE void operator()(block const& b, matrix<T const> of_x, matrix<T const> dresult, matrix<T> dx) const {
    warp_row const own(b, dx);
    for (index_t u = b.lane(); u < own.d; u += warp) dx(own.r, u) = dresult(own.r, u) * of_x(own.r, u);
  }
};

/// Computes the row of dimplied that belongs to a block.  Warp w adds the columns w, w + 8, ... of the grids for 32
/// labels, and the sums of the warps are added in order.
template <class T>
struct implied_grad {
  static constexpr char const* name = "implied_labels_grad of implied";
  static constexpr int threads = row_threads;
  struct shared {
    T part[row_warps][warp];
  };

  TRIAD_DEVICE void operator()(block const& b, matrix<T const> implied, matrix<T const> edge, matrix<T const> of_y,
                               matrix<T const> dresult, matrix<T> dimplied) const {
    auto& part = b.shared<shared>().part;
    index_t const r = b.index(), labels = implied.extent(1);
    for (index_t first = 0; first < labels; first += warp) {
      index_t const u = first + b.lane();
      T sum = 0;
      if (u < labels) {
        T const p = implied(r, u);
        for (index_t a = b.row(); a < edge.extent(0); a += row_warps) {
          T const e = T(noisy_or_kappa) * edge(a, r);
          sum -= dresult(a, u) * of_y(a, u) * (e / (T(1) - e * p));
        }
      }
      part[b.row()][b.lane()] = sum;
      b.sync();
      if (b.row() == 0 && u < labels) {
        T total = 0;
        for (int w = 0; w < row_warps; ++w) total += part[w][b.lane()];
        dimplied(r, u) = total;
      }
      b.sync();
    }
  }
};

}  // namespace detail

template <class T>
void do_implied_labels(backend& ex, grid_batch const& g, matrix<T const> s, matrix<T const> x, matrix<T const> implied,
                       matrix<T> edge, matrix<T> of_x, matrix<T> of_y, matrix<T> result) {
  index_t const blocks = blocks_for(edge.extent(0), row_warps);
  launch(ex, detail::outgoing_edges<T>{}, blocks, g, s, edge);
  launch(ex, detail::kept_labels<T>{}, blocks, x, implied, matrix<T const>(edge), of_x, of_y, result);
}

template <class T>
void do_implied_labels_grad(backend& ex, matrix<T const> implied, matrix<T const> edge, matrix<T const> of_x,
                            matrix<T const> of_y, matrix<T const> dresult, matrix<T> dx, matrix<T> dimplied) {
  launch(ex, detail::kept_labels_grad<T>{}, blocks_for(dx.extent(0), row_warps), of_x, dresult, dx);
  launch(ex, detail::implied_grad<T>{}, implied.extent(0), implied, edge, of_y, dresult, dimplied);
}

}  // namespace triad::cuda
