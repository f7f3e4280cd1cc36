// Soft tree operations.  Some lanes of a warp compute one row of a tree from all its sources.  The gradients of weights
// are sums of products over runs of rows, which are added in order.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/cuda/device/rows.cuh"
#include "triad/ops/tree_shift.hpp"

namespace triad::cuda {

namespace detail {

/// Some lanes of a warp that compute a row of a tree together.  8 numbers of float are as many bytes as a sector, the
/// 32 bytes that device memory reads at once.  So groups of 8 lanes read few bytes in vain, and rows with few fillers
/// keep them busy.
template <int Lanes>
struct row_lanes {
  static constexpr int threads = row_threads, rows = threads / Lanes;  // of a block
  int row, lane;  // the row of `rows` rows, and the lane of that row

  TRIAD_DEVICE explicit row_lanes(block const& b) : row(b.thread() / Lanes), lane(b.thread() % Lanes) {}
};

/// Calls f(row_lanes<Lanes>) with as many lanes as suit rows of this length.
template <class F>
void with_row_lanes(index_t fillers, F&& f) {
  if (fillers < 4 * warp)
    f.template operator()<warp / 4>();
  else
    f.template operator()<warp>();
}

/// Sums of weighted rows of trees, in some columns of a lane.  The lane holds the sums in registers, so each weight is
/// read once for all of them.
template <class T, int Columns, int Lanes>
struct row_sums {
  T sum[Columns] = {};

  /// f(element of sum, column) for the columns from `first` on
  template <class F>
  TRIAD_DEVICE void each(int first, F&& f) {
    TRIAD_UNROLL
    for (int e = 0; e < Columns; ++e) f(sum[e], first + e * Lanes);
  }
  /// Adds `count` rows.  `row` is the lane's first column in the first of them, and `stride` is the distance of the
  /// next row.
  TRIAD_DEVICE void add(index_t count, T const* row, index_t stride, T const* weight, index_t weight_stride) {
    for (; count > 0; --count, row += stride, weight += weight_stride) {
      T const by = *weight;
      TRIAD_UNROLL
      for (int e = 0; e < Columns; ++e) sum[e] += by * row[e * Lanes];
    }
  }
};

/// Calls f<n>(first) for n columns of a lane: first, first + Lanes, ...  The calls have all columns of the lane, 8, 4
/// or 1 at once.  So no instruction asks whether a column is beyond the end of a row.
template <int Lanes, class F>
TRIAD_DEVICE void each_columns(int lane, int fillers, F&& f) {
  int first = lane;
  for (; first + 7 * Lanes < fillers; first += 8 * Lanes) f.template operator()<8>(first);
  for (; first + 3 * Lanes < fillers; first += 4 * Lanes) f.template operator()<4>(first);
  for (; first < fillers; first += Lanes) f.template operator()<1>(first);
}

/// Computes rows of a new tree.  The lanes of a row sum its sources from all slots.
template <class T, int Lanes>
struct tree_shift_rows {
  static constexpr char const* name = "tree_shift";
  static constexpr int threads = row_threads;

  TRIAD_DEVICE void operator()(block const& b, tree_positions<> where, tree_support support, index_t step,
                               tree_weights_view<T const> w, matrix<T const> root, tree_memory_view<T> memory) const {
    index_t const count = memory.extent(2), stride = memory.stride(0), arguments = w.stride(2);
    int const fillers = static_cast<int>(memory.extent(3));
    row_lanes<Lanes> const at(b);
    index_t const tiles = (count + at.rows - 1) / at.rows, sample = b.index() / tiles,
                  r = b.index() % tiles * at.rows + at.row;
    if (r >= count) return;
    auto const place = where.place_of(r);
    auto const part = where.cons_source(place);
    each_columns<Lanes>(at.lane, fillers, [&]<int Columns>(int first) {
      row_sums<T, Columns, Lanes> sums;
      if (r == 0) sums.each(first, [&](T& s, int x) { s = root(sample, x); });
      auto const add = [&](index_t argument, index_t q) {
        if (q == no_position) return;
        T const *const row = &memory(0, sample, q, first), *const weight = &w(step, sample, 0, argument);
        if (support.has(0, q)) sums.add(1, row, stride, weight, arguments);
        index_t const l = support.first_after_input(q);
        sums.add(step + 1 - l, row + l * stride, stride, weight + l * arguments, arguments);
      };
      for (index_t c = 0; c < where.branching(); ++c) add(c, where.child_source(c, place));
      add(where.branching() + part.argument, part.position);
      sums.each(first, [&](T const& s, int x) { memory(step + 1, sample, r, x) = s; });
    });
  }
};

/// The runs of positions that tree_shift_dots multiplies.  The shape alone decides them, and so the bits of the result.
/// Runs are short, so that the first steps, which read few slots, also have some blocks for each multiprocessor.
using dot_runs = tree_runs<warp>;

/// Multiplies the rows of a run with the rows that they are moved to: one row if a child is taken, and one row for each
/// child that the tree can become.  A block computes the products of one run, for a sample and a few slots.  So a row
/// of memory is read once, and a row of the gradient is read once for these slots.
/// Overwrites partial (batch, step + 1, 1 + b, runs).
template <class T, int Lanes>
struct tree_shift_products {
  static constexpr char const* name = "tree_shift_dots";
  static constexpr int threads = row_threads;
  static constexpr int slots = 4;    // of a block
  static constexpr int targets = 3;  // that are multiplied at once; binary trees have no more
  static constexpr int columns = 4;  // of a lane that are read before it waits for one
  struct shared {
    T part[row_warps][slots * targets];
  };

  TRIAD_DEVICE void operator()(block const& b, tree_positions<> where, dot_runs runs, tree_support support,
                               index_t step, tree_memory_view<T const> memory, tree_memory_view<T const> d_memory,
                               T* partial, matrix<T> d_root) const {
    int const fillers = static_cast<int>(memory.extent(3));
    auto const block_number = static_cast<unsigned>(b.index()), count = static_cast<unsigned>(runs.count()),
               groups = static_cast<unsigned>(step / slots + 1);
    index_t const number = block_number % count, group = block_number / count % groups,
                  sample = block_number / count / groups, first = group * slots, children = where.branching();
    auto const run = runs(number);
    auto const place = where.place_of(run.begin);
    row_lanes<Lanes> const at(b);
    T const* const d = &d_memory(step + 1, sample, 0, 0);
    if (number == 0 && group == 0)
      for (index_t x = b.thread(); x < fillers; x += threads) d_root(sample, x) = d[x];
    for (index_t from = 0; from <= children; from += targets) {
      T const* to[targets];  // the row to which a target moves the first row of the run; null if there is none
      TRIAD_UNROLL
      for (int t = 0; t < targets; ++t) {
        index_t const target = from + t, position = target == 0          ? where.cons_source(place).position
                                                    : target <= children ? where.child_source(target - 1, place)
                                                                         : no_position;
        to[t] = position == no_position ? nullptr : d + position * fillers;
      }
      T sum[slots][targets] = {};
      for (index_t r = at.row; r < run.size; r += at.rows) {
        index_t const q = run.begin + r, since = support.first_after_input(q);
        bool read[slots], any = false;
        TRIAD_UNROLL
        for (int s = 0; s < slots; ++s) {
          index_t const l = first + s;
          read[s] = l <= step && (l == 0 ? support.has(0, q) : l >= since);
          any = any || read[s];
        }
        if (any) multiply(at, &memory(first, sample, q, 0), memory.stride(0), read, to, r * fillers, fillers, sum);
      }
      write(b, sum, from, children, first, step, partial + (sample * (step + 1) * (children + 1)) * count + number,
            count);
    }
  }

 private:
  /// Adds to sum the products of one row of each slot.  The row of slot s begins at m + s * stride, and the row of
  /// target t at to[t] + offset.
  TRIAD_DEVICE static void multiply(row_lanes<Lanes> const& at, T const* m, index_t stride, bool const (&read)[slots],
                                    T const* const (&to)[targets], index_t offset, int fillers,
                                    T (&sum)[slots][targets]) {
    int k = at.lane;
    for (; k + (columns - 1) * Lanes < fillers; k += columns * Lanes)
      multiply_columns<columns>(m + k, stride, read, to, offset + k, sum);
    for (; k < fillers; k += Lanes) multiply_columns<1>(m + k, stride, read, to, offset + k, sum);
  }
  template <int Columns>
  TRIAD_DEVICE static void multiply_columns(T const* m, index_t stride, bool const (&read)[slots],
                                            T const* const (&to)[targets], index_t offset, T (&sum)[slots][targets]) {
    T x[slots][Columns], y[targets][Columns];
    TRIAD_UNROLL
    for (int e = 0; e < Columns; ++e) {
      TRIAD_UNROLL
      for (int t = 0; t < targets; ++t) y[t][e] = to[t] != nullptr ? to[t][offset + e * Lanes] : T(0);
      TRIAD_UNROLL
      for (int s = 0; s < slots; ++s) x[s][e] = read[s] ? m[s * stride + e * Lanes] : T(0);
    }
    TRIAD_UNROLL
    for (int e = 0; e < Columns; ++e) {
      TRIAD_UNROLL
      for (int i = 0; i < slots * targets; ++i) sum[i / targets][i % targets] += x[i / targets][e] * y[i % targets][e];
    }
  }
  /// Writes the sums of the block.
  TRIAD_DEVICE static void write(block const& b, T const (&sum)[slots][targets], index_t from, index_t children,
                                 index_t first, index_t step, T* partial, index_t count) {
    auto& part = b.shared<shared>().part;
    TRIAD_UNROLL
    for (int i = 0; i < slots * targets; ++i) {
      T const of_warp = warp_sum(b, sum[i / targets][i % targets]);
      if (b.lane() == 0) part[b.row()][i] = of_warp;
    }
    b.sync();
    index_t const l = first + b.thread() / targets, target = from + b.thread() % targets;
    if (b.thread() < slots * targets && l <= step && target <= children) {
      T total = 0;
      for (int w = 0; w < row_warps; ++w) total += part[w][b.thread()];
      partial[(l * (children + 1) + target) * count] = total;
    }
    b.sync();
  }
};

/// Adds the products of all runs.  A warp computes the gradient of one weight.
template <class T>
struct tree_shift_join_products {
  static constexpr char const* name = "joining tree_shift_dots";
  static constexpr int threads = row_threads;

  TRIAD_DEVICE void operator()(block const& b, dot_runs runs, index_t step, T const* partial,
                               tree_weights_view<T> dw) const {
    index_t const arguments = dw.extent(3), children = arguments / 2, item = b.index() * row_warps + b.row();
    if (item >= dw.extent(1) * (step + 1) * arguments) return;
    index_t const a = item % arguments, l = item / arguments % (step + 1), sample = item / arguments / (step + 1);
    // Runs below child a are moved up by taking child a.  All runs are moved down by becoming child a - b.
    index_t const target = a < children ? 0 : a - children + 1, begin = a < children ? 1 + a * runs.below_child() : 0,
                  end = a < children ? begin + runs.below_child() : runs.count();
    partial += ((sample * (step + 1) + l) * (children + 1) + target) * runs.count();
    T sum = 0;
    for (index_t i = begin + b.lane(); i < end; i += warp) sum += partial[i];
    sum = warp_sum(b, sum);
    if (b.lane() == 0) dw(step, sample, l, a) = sum;
  }
};

/// Computes rows of the gradient of a slot.
template <class T, int Lanes>
struct tree_shift_back_rows {
  static constexpr char const* name = "tree_shift_grad";
  static constexpr int threads = row_threads;

  TRIAD_DEVICE void operator()(block const& b, tree_positions<> where, tree_support support,
                               tree_weights_view<T const> w, index_t slot, tree_memory_view<T> d_memory) const {
    index_t const steps = w.extent(0), count = d_memory.extent(2), children = where.branching();
    int const fillers = static_cast<int>(d_memory.extent(3));
    row_lanes<Lanes> const at(b);
    index_t const tiles = (count + at.rows - 1) / at.rows, sample = b.index() / tiles,
                  q = b.index() % tiles * at.rows + at.row;
    if (q >= count || !support.has(slot, q)) return;
    auto const place = where.place_of(q);
    auto const up = where.cons_source(place);
    each_columns<Lanes>(at.lane, fillers, [&]<int Columns>(int first) {
      row_sums<T, Columns, Lanes> sums;
      auto const add = [&](index_t argument, index_t to) {
        if (to == no_position || slot == steps) return;
        sums.add(steps - slot, &d_memory(slot + 1, sample, to, first), d_memory.stride(0),
                 &w(slot, sample, slot, argument), w.stride(0));
      };
      add(up.argument, up.position);
      for (index_t c = 0; c < children; ++c) add(children + c, where.child_source(c, place));
      sums.each(first, [&](T const& s, int x) { d_memory(slot, sample, q, x) = s; });
    });
  }
};

}  // namespace detail

template <class T>
void do_tree_shift(backend& ex, tree_positions<> const& where, tree_support const& support, index_t step,
                   tree_weights_view<T const> w, matrix<T const> root, tree_memory_view<T> memory) {
  detail::with_row_lanes(memory.extent(3), [&]<int Lanes>() {
    launch(ex, detail::tree_shift_rows<T, Lanes>{},
           memory.extent(1) * blocks_for(where.count(), detail::row_lanes<Lanes>::rows), where, support, step, w, root,
           memory);
  });
}

template <class T>
std::size_t do_tree_shift_dots_workspace(backend&, tree_positions<> const& where, index_t step,
                                         tree_memory_view<T const> memory) {
  return static_cast<std::size_t>(memory.extent(1) * (step + 1) * (where.branching() + 1) *
                                  detail::dot_runs(where).count()) *
         sizeof(T);
}

template <class T>
void do_tree_shift_dots(backend& ex, tree_positions<> const& where, tree_support const& support, index_t step,
                        tree_memory_view<T const> memory, tree_memory_view<T const> d_memory, tree_weights_view<T> dw,
                        matrix<T> d_root, workspace ws) {
  auto* const partial = reinterpret_cast<T*>(ws.data);
  detail::dot_runs const runs(where);
  index_t const batch = memory.extent(1);
  detail::with_row_lanes(memory.extent(3), [&]<int Lanes>() {
    using products = detail::tree_shift_products<T, Lanes>;
    launch(ex, products{}, batch * runs.count() * (step / products::slots + 1), where, runs, support, step, memory,
           d_memory, partial, d_root);
  });
  launch(ex, detail::tree_shift_join_products<T>{}, blocks_for(batch * (step + 1) * dw.extent(3), row_warps), runs,
         step, static_cast<T const*>(partial), dw);
}

template <class T>
void do_tree_shift_grad(backend& ex, tree_positions<> const& where, tree_support const& support,
                        tree_weights_view<T const> w, index_t slot, tree_memory_view<T> d_memory) {
  detail::with_row_lanes(d_memory.extent(3), [&]<int Lanes>() {
    launch(ex, detail::tree_shift_back_rows<T, Lanes>{},
           d_memory.extent(1) * blocks_for(where.count(), detail::row_lanes<Lanes>::rows), where, support, w, slot,
           d_memory);
  });
}

}  // namespace triad::cuda
