// Soft tree operations.  A thread computes one number of a tree from all its sources.  A block computes the gradient of
// one weight of a slot.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/cuda/device/rows.cuh"
#include "triad/ops/tree_shift.hpp"

namespace triad::cuda {

namespace detail {

inline constexpr int tree_threads = 128;

/// Computes `tree_threads` numbers of one row of a new tree.
template <class T>
struct tree_shift_rows {
  static constexpr char const* name = "tree_shift";
  static constexpr int threads = tree_threads;

  TRIAD_DEVICE void operator()(block const& b, tree_positions<> where, tree_support support, index_t step,
                               tree_weights_view<T const> w, matrix<T const> root, tree_memory_view<T> memory) const {
    index_t const fillers = memory.extent(3), spans = (fillers + threads - 1) / threads;
    index_t const row = b.index() / spans, sample = row / where.count(), r = row % where.count(),
                  f = b.index() % spans * threads + b.thread();
    if (f >= fillers) return;
    T sum = r == 0 ? root(sample, f) : T(0);
    auto const add = [&](index_t argument, index_t q) {
      if (q == no_position) return;
      for (index_t l = 0; l <= step; ++l)
        if (support.has(l, q)) sum += w(step, sample, l, argument) * memory(l, sample, q, f);
    };
    for (index_t c = 0; c < where.branching(); ++c) add(c, where.child_source(c, r));
    auto const part = where.cons_source(r);
    add(where.branching() + part.argument, part.position);
    memory(step + 1, sample, r, f) = sum;
  }
};

/// Computes the weight gradient of one slot, for one sample and one argument.
template <class T>
struct tree_shift_products {
  static constexpr char const* name = "tree_shift_dots";
  static constexpr int threads = row_threads;
  struct shared {
    T part[row_warps];
  };

  TRIAD_DEVICE void operator()(block const& b, tree_positions<> where, tree_support support, index_t step,
                               tree_memory_view<T const> memory, tree_memory_view<T const> d_memory,
                               tree_weights_view<T> dw, matrix<T> d_root) const {
    index_t const arguments = dw.extent(3), slots = step + 1, fillers = memory.extent(3), children = where.branching();
    index_t const c = b.index() % arguments, l = b.index() / arguments % slots, sample = b.index() / arguments / slots;
    T sum = 0;
    // The warps of the block take the positions that the argument fills in turn.
    for (index_t r = b.row(); r < where.count(); r += row_warps) {
      index_t q = no_position;
      if (c < children) {
        q = where.child_source(c, r);
      } else if (auto const part = where.cons_source(r); part.argument == c - children) {
        q = part.position;
      }
      if (q == no_position || !support.has(l, q)) continue;
      for (index_t f = b.lane(); f < fillers; f += warp)
        sum += memory(l, sample, q, f) * d_memory(step + 1, sample, r, f);
    }
    sum = block_sum(b, b.shared<shared>().part, sum);
    if (b.thread() == 0) dw(step, sample, l, c) = sum;
    if (c == 0 && l == 0)
      for (index_t f = b.thread(); f < fillers; f += threads) d_root(sample, f) = d_memory(step + 1, sample, 0, f);
  }
};

/// Computes one row of the gradient of a slot.
template <class T>
struct tree_shift_back_rows {
  static constexpr char const* name = "tree_shift_grad";
  static constexpr int threads = tree_threads;

  TRIAD_DEVICE void operator()(block const& b, tree_positions<> where, tree_support support,
                               tree_weights_view<T const> w, index_t slot, tree_memory_view<T> d_memory) const {
    index_t const steps = w.extent(0), fillers = d_memory.extent(3), spans = (fillers + threads - 1) / threads,
                  children = where.branching();
    index_t const row = b.index() / spans, sample = row / where.count(), q = row % where.count(),
                  f = b.index() % spans * threads + b.thread();
    if (f >= fillers || !support.has(slot, q)) return;
    T sum = 0;
    auto const add = [&](index_t argument, index_t to) {
      if (to == no_position) return;
      for (index_t k = slot; k < steps; ++k) sum += w(k, sample, slot, argument) * d_memory(k + 1, sample, to, f);
    };
    auto const up = where.cons_source(q);
    add(up.argument, up.position);
    for (index_t c = 0; c < children; ++c) add(children + c, where.child_source(c, q));
    d_memory(slot, sample, q, f) = sum;
  }
};

}  // namespace detail

template <class T>
void do_tree_shift(backend& ex, tree_positions<> const& where, tree_support const& support, index_t step,
                   tree_weights_view<T const> w, matrix<T const> root, tree_memory_view<T> memory) {
  launch(ex, detail::tree_shift_rows<T>{},
         memory.extent(1) * where.count() * blocks_for(memory.extent(3), detail::tree_threads), where, support, step, w,
         root, memory);
}

template <class T>
void do_tree_shift_dots(backend& ex, tree_positions<> const& where, tree_support const& support, index_t step,
                        tree_memory_view<T const> memory, tree_memory_view<T const> d_memory, tree_weights_view<T> dw,
                        matrix<T> d_root) {
  launch(ex, detail::tree_shift_products<T>{}, memory.extent(1) * (step + 1) * dw.extent(3), where, support, step,
         memory, d_memory, dw, d_root);
}

template <class T>
void do_tree_shift_grad(backend& ex, tree_positions<> const& where, tree_support const& support,
                        tree_weights_view<T const> w, index_t slot, tree_memory_view<T> d_memory) {
  launch(ex, detail::tree_shift_back_rows<T>{},
         d_memory.extent(1) * where.count() * blocks_for(d_memory.extent(3), detail::tree_threads), where, support, w,
         slot, d_memory);
}

}  // namespace triad::cuda
