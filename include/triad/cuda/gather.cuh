// Gather of rows, and scatter-add.  In scatter-add, each row of the table has an owner: one block that adds all terms
// of the row, in the order of the rows of dy.
// SPDX-License-Identifier: Apache-2.0
//
// An owner finds the rows of its terms in one of two ways, which give the same bits:
//
//   by a scan   The owner compares every index with its own index.  A scan needs no memory, but owners * rows
//               comparisons for every 32 columns.
//   by a sort   The pairs (index, row) are sorted by index.  Pairs with equal indices keep their order, so the rows of
//               an index follow one another in ascending order.
//
// In both ways, each warp of the owner sums the rows of one part of [0, rows).  The sums of the parts are then added in
// order.
#pragma once

#include <cuda/std/bit>
#include <cuda/std/limits>

#include "triad/cuda/device/primitives.cuh"
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
    bool const inside = from >= 0 && from < table.extent(0);  // a kernel cannot report an error, and writes NaN
    for (index_t c = b.lane(); c < own.d; c += warp)
      y(own.r, c) = inside ? table(from, c) : ::cuda::std::numeric_limits<T>::quiet_NaN();
  }
};

/// The number of rows in each part: all rows divided by the number of parts, rounded up to a multiple of 32.
TRIAD_DEVICE index_t part_of_rows(index_t rows, int parts) {
  return ((rows + parts - 1) / parts + warp - 1) / warp * warp;
}

/// Adds the rows of dy whose index is `to` to row `to` of dtable, for 32 columns.  Each warp of the owner sums the rows
/// of one part in ascending order.  The sums of the parts are added in order.  If ByIndex is true, block i owns row
/// index(i) of the table, unless an earlier index is the same.  Otherwise, block i owns row i.
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
    index_t const length = part_of_rows(rows, Warps), first = b.row() * length;
    index_t const end = first + length < rows ? first + length : rows;
    bool const inside = c < dtable.extent(1);
    bool found = false, earlier = false;
    T sum = 0;
    for (index_t begin = first; begin < end; begin += warp) {
      index_t const at = begin + b.lane();
      unsigned hits = b.ballot(at < end && index(at) == to);
      if (hits == 0) continue;  // hits is the same in all lanes
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

/// Computes the key of every row.  The key is the index of the row, or table_rows if the index lies outside the table.
struct key_by_index {
  static constexpr char const* name = "keys of rows";
  static constexpr int threads = 256;

  TRIAD_DEVICE void operator()(block const& b, vec<index_t const> index, index_t table_rows, keyed_rows to) const {
    index_t const i = b.index() * threads + b.thread();
    if (i >= index.extent(0)) return;
    index_t const at = index(i);
    to.key[i] = static_cast<std::uint32_t>(at >= 0 && at < table_rows ? at : table_rows);
    to.row[i] = static_cast<std::uint32_t>(i);
  }
};

/// Does the same as `scatter`, for rows that are sorted by key.  The rows with one key are a run.  If ByPlace is true,
/// the block at the first place of a run owns the run.  Otherwise, block `to` owns the run of the key `to`, and
/// searches for it.
template <class T, int Warps, bool ByPlace>
struct add_runs {
  static constexpr char const* name = "scatter_add_rows of sorted rows";
  static constexpr int threads = Warps * warp;
  static constexpr int at_once = 8;  // rows that a lane reads before it adds them
  struct shared {
    T part[Warps][warp];
    int found[Warps];
  };

  TRIAD_DEVICE void operator()(block const& b, keyed_rows sorted, matrix<T const> dy, matrix<T> dtable) const {
    std::uint32_t const *const key = sorted.key, *const row = sorted.row;
    index_t const rows = dy.extent(0), across = (dtable.extent(1) + warp - 1) / warp;
    index_t const item = b.index() / across, c = b.index() % across * warp + b.lane();
    if (ByPlace && item > 0 && key[item - 1] == key[item]) return;  // the block returns; an earlier block owns the run
    index_t const to = ByPlace ? key[item] : item;
    if (to >= dtable.extent(0)) return;  // outside the table
    auto& s = b.shared<shared>();
    index_t const length = part_of_rows(rows, Warps), first = b.row() * length, end = first + length;
    bool const inside = c < dtable.extent(1);

    // Most runs are short, so the next places are searched first.
    auto const ahead = [&](index_t at) { return key[at] < to || (key[at] == to && row[at] < first); };
    index_t const begin = ByPlace ? item : 0, near = begin + warp < rows ? begin + warp : rows;
    index_t at = first_not(b, begin, ByPlace ? near : rows, ahead);
    if (ByPlace && at == near) at = first_not(b, near, rows, ahead);

    T sum = 0;
    bool found = false;
    for (int hits = warp; hits == warp; at += warp) {
      index_t const place = at + b.lane();
      bool const own = place < rows && key[place] == to && row[place] < end;
      std::uint32_t const r = own ? row[place] : 0;
      hits = ::cuda::std::popcount(b.ballot(own));  // the set bits are the lowest, and the same in all lanes
      found = found || hits > 0;
      for (int from = 0; from < hits; from += at_once) {
        T v[at_once] = {};
        TRIAD_UNROLL
        for (int k = 0; k < at_once; ++k) {
          if (from + k < hits) {
            index_t const of = b.shuffle(r, from + k);
            if (inside) v[k] = dy(of, c);
          }
        }
        TRIAD_UNROLL
        for (int k = 0; k < at_once; ++k) sum += v[k];
      }
    }
    s.part[b.row()][b.lane()] = sum;
    if (b.lane() == 0) s.found[b.row()] = found;
    b.sync();
    if (b.row() != 0 || !inside) return;
    T total = 0;
    found = false;
    for (int w = 0; w < Warps; ++w) {
      total += s.part[w][b.lane()];
      found = found || s.found[w] != 0;
    }
    if (found) dtable(to, c) += total;
  }
};

/// Whether dy has fewer rows than the table.  If so, there is one block for each row of dy, with 8 parts.  Otherwise,
/// there is one block for each row of the table, with 32 parts.
constexpr bool owned_by_index(index_t rows, index_t table_rows) { return rows < table_rows; }

template <class T>
void scatter_by_scan(backend& ex, matrix<T const> dy, vec<index_t const> index, matrix<T> dtable) {
  index_t const rows = index.extent(0), tiles = blocks_for(dtable.extent(1), warp);
  if (owned_by_index(rows, dtable.extent(0)))
    launch(ex, scatter<T, 8, true>{}, rows * tiles, dy, index, dtable);
  else
    launch(ex, scatter<T, 32, false>{}, dtable.extent(0) * tiles, dy, index, dtable);
}

/// Scatter-add of rows that are already sorted.
template <class T>
void scatter_sorted(backend& ex, keyed_rows sorted, matrix<T const> dy, matrix<T> dtable) {
  index_t const rows = dy.extent(0), tiles = blocks_for(dtable.extent(1), warp);
  if (owned_by_index(rows, dtable.extent(0)))
    launch(ex, add_runs<T, 8, true>{}, rows * tiles, sorted, dy, dtable);
  else
    launch(ex, add_runs<T, 32, false>{}, dtable.extent(0) * tiles, sorted, dy, dtable);
}

/// The number of bits of keys in [0, table_rows].
constexpr int key_bits(index_t table_rows) { return ::cuda::std::bit_width(static_cast<std::uint64_t>(table_rows)); }

/// The number of bytes of one array of a sort.  A sort has four arrays: two for keys and two for rows.
constexpr std::size_t sorted_bytes(index_t rows) {
  return arena_stride(static_cast<std::size_t>(rows) * sizeof(std::uint32_t));
}

template <class T>
std::size_t scatter_by_sort_bytes(backend& ex, index_t rows, matrix<T> dtable) {
  return 4 * sorted_bytes(rows) + sort_rows_bytes(ex, rows, key_bits(dtable.extent(0)));
}

template <class T>
void scatter_by_sort(backend& ex, matrix<T const> dy, vec<index_t const> index, matrix<T> dtable, workspace ws) {
  index_t const rows = index.extent(0), table_rows = dtable.extent(0);
  std::size_t const each = sorted_bytes(rows);
  auto const array = [&](std::size_t k) { return reinterpret_cast<std::uint32_t*>(ws.data + k * each); };
  keyed_rows const pairs{array(0), array(1)}, other{array(2), array(3)};
  launch(ex, key_by_index{}, blocks_for(rows, key_by_index::threads), index, table_rows, pairs);
  scatter_sorted(ex, sort_rows(ex, pairs, other, rows, key_bits(table_rows), {ws.data + 4 * each, ws.bytes - 4 * each}),
                 dy, dtable);
}

}  // namespace detail

template <class T>
void do_gather_rows(backend& ex, matrix<T const> table, vec<index_t const> index, matrix<T> y) {
  launch(ex, detail::gather<T>{}, blocks_for(y.extent(0), row_warps), table, index, y);
}

/// If the owners together read at most this number of bytes of indices, nothing is sorted, and each owner reads all
/// indices.  A sort takes about six more launches, which take about 15 us.  In 15 us, the L2 cache of an H100 delivers
/// about this number of bytes.  The number is an estimate, not a measurement.
inline constexpr double most_scanned_bytes = 64.0 * 1024 * 1024;

/// Whether scatter_add_rows sorts its rows.  If it sorts for some sizes, it also sorts for larger numbers of rows,
/// owners or columns.
constexpr bool sorts_rows(index_t rows, index_t table_rows, index_t columns) {
  constexpr index_t most = 0x7ffffffe;  // keys and rows have 32 bits, and CUB counts with int
  if (rows > most || table_rows > most) return false;
  auto const owners = static_cast<double>(rows < table_rows ? rows : table_rows);
  return owners * static_cast<double>(blocks_for(columns, warp)) * static_cast<double>(rows) * sizeof(index_t) >
         most_scanned_bytes;
}

template <class T>
std::size_t do_scatter_add_rows_workspace(backend& ex, matrix<T const>, vec<index_t const> index, matrix<T> dtable) {
  index_t const rows = index.extent(0);
  return sorts_rows(rows, dtable.extent(0), dtable.extent(1)) ? detail::scatter_by_sort_bytes(ex, rows, dtable) : 0;
}

/// Sorts if there is a workspace.  No workspace is needed if the table is small, such as a table of labels, or if there
/// are few indices, such as the indices of edges that are read out.
template <class T>
void do_scatter_add_rows(backend& ex, matrix<T const> dy, vec<index_t const> index, matrix<T> dtable, workspace ws) {
  if (index.extent(0) == 0) return;
  if (ws.bytes == 0)
    detail::scatter_by_scan(ex, dy, index, dtable);
  else
    detail::scatter_by_sort(ex, dy, index, dtable, ws);
}

}  // namespace triad::cuda
