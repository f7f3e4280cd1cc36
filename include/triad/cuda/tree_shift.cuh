// Soft tree operations.  Some lanes of a warp compute one row of a tree from all its sources.  A block computes the
// gradients of two weights of a slot.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/cuda/device/rows.cuh"
#include "triad/ops/tree_shift.hpp"

namespace triad::cuda {

namespace detail {

/// Some lanes of a warp that compute a row of a tree together.  8 numbers of float are as many bytes as a sector, the 32
/// bytes that device memory reads at once.  So groups of 8 lanes read few bytes in vain, and rows with few fillers keep
/// them busy.
template <int Lanes>
struct row_lanes {
  static constexpr int threads = row_threads, rows = threads / Lanes;  // of a block
  int row, lane;  // the row of `rows` rows, and the lane of that row

  TRIAD_DEVICE explicit row_lanes(block const& b) : row(b.thread() / Lanes), lane(b.thread() % Lanes) {}

  /// Returns `sum` plus the product of the lane's columns of two rows.  Reads four columns before it waits for one.
  template <class T>
  TRIAD_DEVICE T dot(T const* x, T const* y, int fillers, T sum) const {
    for (int k = lane; k < fillers; k += 4 * Lanes) {
      T a[4] = {}, b[4] = {};
      TRIAD_UNROLL
      for (int e = 0; e < 4; ++e)
        if (k + e * Lanes < fillers) a[e] = x[k + e * Lanes], b[e] = y[k + e * Lanes];
      TRIAD_UNROLL
      for (int e = 0; e < 4; ++e) sum += a[e] * b[e];
    }
    return sum;
  }
};

/// Calls f(row_lanes<Lanes>) with as many lanes as suit rows of this length.
template <class F>
void with_row_lanes(index_t fillers, F&& f) {
  if (fillers < 4 * warp)
    f.template operator()<warp / 4>();
  else
    f.template operator()<warp>();
}

/// Sums of weighted rows of trees.  A lane holds some columns of the sum in registers, so each weight is read once for
/// all of them.
template <class T, int Lanes>
struct row_sums {
  int first, fillers;  // the lane's first column, and the number of columns
  T sum[held_columns] = {};

  /// f(element of sum, column) for the lane's columns
  template <class F>
  TRIAD_DEVICE void each(F&& f) {
    TRIAD_UNROLL
    for (int e = 0; e < held_columns; ++e)
      if (int const x = first + e * Lanes; x < fillers) f(sum[e], x);
  }
  TRIAD_DEVICE void add(T weight, T const* row) {
    each([&](T& s, int x) { s += weight * row[x]; });
  }
};

/// Computes rows of a new tree.  The lanes of a row sum its sources from all slots.
template <class T, int Lanes>
struct tree_shift_rows {
  static constexpr char const* name = "tree_shift";
  static constexpr int threads = row_threads;

  TRIAD_DEVICE void operator()(block const& b, tree_positions<> where, tree_support support, index_t step,
                               tree_weights_view<T const> w, matrix<T const> root, tree_memory_view<T> memory) const {
    index_t const count = memory.extent(2);
    int const fillers = static_cast<int>(memory.extent(3));
    row_lanes<Lanes> const at(b);
    index_t const tiles = (count + at.rows - 1) / at.rows, sample = b.index() / tiles,
                  r = b.index() % tiles * at.rows + at.row;
    if (r >= count) return;
    auto const place = where.place_of(r);
    auto const part = where.cons_source(place);
    for (int first = at.lane; first < fillers; first += held_columns * Lanes) {
      row_sums<T, Lanes> sums{first, fillers};
      if (r == 0) sums.each([&](T& s, int x) { s = root(sample, x); });
      auto const add = [&](index_t argument, index_t q) {
        if (q == no_position) return;
        auto const add_slot = [&](index_t l) { sums.add(w(step, sample, l, argument), &memory(l, sample, q, 0)); };
        if (support.has(0, q)) add_slot(0);
        for (index_t l = support.first_after_input(q); l <= step; ++l) add_slot(l);
      };
      for (index_t c = 0; c < where.branching(); ++c) add(c, where.child_source(c, place));
      add(where.branching() + part.argument, part.position);
      sums.each([&](T const& s, int x) { memory(step + 1, sample, r, x) = s; });
    }
  }
};

/// Computes two weight gradients of one slot, for one sample and one child c: of taking child c, and of being child c.
/// Each level of the child is a block of consecutive rows, in the whole tree and in the child's tree.
template <class T, int Lanes>
struct tree_shift_products {
  static constexpr char const* name = "tree_shift_dots";
  static constexpr int threads = row_threads;
  struct shared {
    T part[row_warps];
  };

  TRIAD_DEVICE void operator()(block const& b, tree_positions<> where, tree_support support, index_t step,
                               tree_memory_view<T const> memory, tree_memory_view<T const> d_memory,
                               tree_weights_view<T> dw, matrix<T> d_root) const {
    index_t const slots = step + 1, children = where.branching(), levels = where.depth() - 1;
    int const fillers = static_cast<int>(memory.extent(3));
    index_t const c = b.index() % children, l = b.index() / children % slots, sample = b.index() / children / slots;
    T const *const tree = &memory(l, sample, 0, 0), *const d = &d_memory(slots, sample, 0, 0);
    row_lanes<Lanes> const at(b);
    T taken = 0, grafted = 0;
    for (index_t level = 0, size = 1, part = 0; level < levels; ++level, part += size, size *= children) {
      index_t const whole = part + size + c * size;
      for (index_t r = at.row; r < size; r += at.rows) {
        index_t const upper = (part + r) * fillers, lower = (whole + r) * fillers;
        if (support.has(l, whole + r)) taken = at.dot(tree + lower, d + upper, fillers, taken);
        if (support.has(l, part + r)) grafted = at.dot(tree + upper, d + lower, fillers, grafted);
      }
    }
    auto& part = b.shared<shared>().part;
    taken = block_sum(b, part, taken);
    grafted = block_sum(b, part, grafted);
    if (b.thread() == 0) {
      dw(step, sample, l, c) = taken;
      dw(step, sample, l, children + c) = grafted;
    }
    if (c == 0 && l == 0)
      for (index_t x = b.thread(); x < fillers; x += threads) d_root(sample, x) = d[x];
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
    for (int first = at.lane; first < fillers; first += held_columns * Lanes) {
      row_sums<T, Lanes> sums{first, fillers};
      auto const add = [&](index_t argument, index_t to) {
        if (to == no_position) return;
        for (index_t k = slot; k < steps; ++k) sums.add(w(k, sample, slot, argument), &d_memory(k + 1, sample, to, 0));
      };
      add(up.argument, up.position);
      for (index_t c = 0; c < children; ++c) add(children + c, where.child_source(c, place));
      sums.each([&](T const& s, int x) { d_memory(slot, sample, q, x) = s; });
    }
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
void do_tree_shift_dots(backend& ex, tree_positions<> const& where, tree_support const& support, index_t step,
                        tree_memory_view<T const> memory, tree_memory_view<T const> d_memory, tree_weights_view<T> dw,
                        matrix<T> d_root) {
  detail::with_row_lanes(memory.extent(3), [&]<int Lanes>() {
    launch(ex, detail::tree_shift_products<T, Lanes>{}, memory.extent(1) * (step + 1) * where.branching(), where,
           support, step, memory, d_memory, dw, d_root);
  });
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
