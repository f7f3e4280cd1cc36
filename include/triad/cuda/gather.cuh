// Gather of rows, and scatter-add where every row of the table has one owner, which sees the rows in order.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda/std/bit>
#include <cuda/std/limits>

#include "triad/cuda/device/rows.cuh"
#include "triad/ops/gather.hpp"

namespace triad::cuda {

namespace detail {

template <class T>
struct gather {
  static constexpr char const* name = "gather_rows";
  static constexpr int threads = row_threads;

  TRIAD_DEVICE void operator()(block const& b, matrix<T const> table, vec<index_t const> index, matrix<T> y) const {
    warp_row const own(b, y);
    index_t const from = own.live ? index(own.r) : 0;
    bool const inside =
        from >= 0 && from < table.extent(0);  // nobody is there to tell of another index, so it gives NaN
    for (index_t c = b.lane(); c < own.d; c += warp)
      y(own.r, c) = inside ? table(from, c) : ::cuda::std::numeric_limits<T>::quiet_NaN();
  }
};

/// dtable(to, 32 columns) += the rows of dy whose index is `to`.  Each warp of the owning block sums a part of the
/// indices in ascending order; the parts are added in order.  ByIndex: block i owns row index(i), where no index before
/// the i-th names that row.
template <class T, int Warps, bool ByIndex>
struct scatter {
  static constexpr char const* name = "scatter_add_rows";
  static constexpr int threads = Warps * warp;
  static constexpr int at_once = 8;  // rows that a lane reads before it adds them
  struct shared {
    T part[Warps][warp];
    int found[Warps], earlier[Warps];
  };

  TRIAD_DEVICE void operator()(block const& b, matrix<T const> dy, vec<index_t const> index, matrix<T> dtable) const {
    auto& s = b.shared<shared>();
    index_t const rows = index.extent(0), across = (dtable.extent(1) + warp - 1) / warp;
    index_t const item = b.index() / across, c = b.index() % across * warp + b.lane(),
                  to = ByIndex ? index(item) : item;
    index_t const length = ((rows + Warps - 1) / Warps + warp - 1) / warp * warp, first = b.row() * length;
    index_t const end = first + length < rows ? first + length : rows;
    bool const inside = c < dtable.extent(1);
    bool found = false, earlier = false;
    T sum = 0;
    for (index_t begin = first; begin < end; begin += warp) {
      index_t const at = begin + b.lane();
      unsigned hits = b.ballot(at < end && index(at) == to);
      if (hits == 0) continue;  // the same hits in all lanes
      found = true;
      if (ByIndex && begin + ::cuda::std::countr_zero(hits) < item) earlier = true;
      while (hits != 0) {
        T v[at_once] = {};
        TRIAD_UNROLL
        for (int k = 0; k < at_once; ++k) {
          if (hits != 0 && inside) v[k] = dy(begin + ::cuda::std::countr_zero(hits), c);
          hits &= hits - 1;
        }
        TRIAD_UNROLL
        for (int k = 0; k < at_once; ++k) sum += v[k];
      }
    }
    s.part[b.row()][b.lane()] = sum;
    if (b.lane() == 0) {
      s.found[b.row()] = found;
      s.earlier[b.row()] = earlier;
    }
    b.sync();
    if (b.row() != 0 || !inside || to < 0 || to >= dtable.extent(0)) return;
    T total = 0;
    found = earlier = false;
    for (int w = 0; w < Warps; ++w) {
      total += s.part[w][b.lane()];
      found = found || s.found[w] != 0;
      earlier = earlier || s.earlier[w] != 0;
    }
    if (found && !earlier) dtable(to, c) += total;
  }
};

}  // namespace detail

template <class T>
void do_gather_rows(backend& ex, matrix<T const> table, vec<index_t const> index, matrix<T> y) {
  launch(ex, detail::gather<T>{}, blocks_for(y.extent(0), row_warps), table, index, y);
}

/// Reads all indices once for each owner: right for a small table (labels) and for few indices (edges that are read
/// out).  Where both are large, past about 10^5 of each, sorting the indices first would be better.
template <class T>
void do_scatter_add_rows(backend& ex, matrix<T const> dy, vec<index_t const> index, matrix<T> dtable) {
  index_t const rows = index.extent(0), tiles = blocks_for(dtable.extent(1), warp);
  if (rows == 0) return;
  if (rows < dtable.extent(0))
    launch(ex, detail::scatter<T, 8, true>{}, rows * tiles, dy, index, dtable);
  else
    launch(ex, detail::scatter<T, 32, false>{}, dtable.extent(0) * tiles, dy, index, dtable);
}

}  // namespace triad::cuda
