// Soft tree operations, one position after another, directly from their definition in ops/tree_shift.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/ops/tree_shift.hpp"
#include "triad/reference/backend.hpp"

namespace triad::TRIAD_REFERENCE {

/// Calls f(argument, to) for each argument that moves the filler at position q to a position `to`.  Taking a child
/// moves the filler up, unless q is the root.  Each argument of cons moves the filler down, unless q is on the last
/// level.
template <class F>
void each_target(tree_positions<> const& where, index_t q, F&& f) {
  if (auto const up = where.cons_source(q); up.position != no_position) f(up.argument, up.position);
  for (index_t c = 0; c < where.branching(); ++c)
    if (auto const down = where.child_source(c, q); down != no_position) f(where.branching() + c, down);
}

template <class T>
void do_tree_shift(backend&, tree_positions<> const& where, tree_support const& support, index_t step,
                   tree_weights_view<T const> w, matrix<T const> root, tree_memory_view<T> memory) {
  index_t const positions = where.count(), fillers = memory.extent(3);
  auto const y = tree_slot(memory, step + 1);
  for (index_t b = 0; b < y.extent(0); ++b) {
    for (index_t r = 0; r < positions; ++r)
      for (index_t f = 0; f < fillers; ++f) y(b, r, f) = r == 0 ? root(b, f) : T(0);
    for (index_t q = 0; q < positions; ++q)
      each_target(where, q, [&](index_t argument, index_t to) {
        for (index_t l = 0; l <= step; ++l)
          if (support.has(l, q))
            for (index_t f = 0; f < fillers; ++f) y(b, to, f) += w(step, b, l, argument) * memory(l, b, q, f);
      });
  }
}

template <class T>
std::size_t do_tree_shift_dots_workspace(backend&, tree_positions<> const&, index_t, tree_memory_view<T const>) {
  return 0;
}

template <class T>
void do_tree_shift_dots(backend&, tree_positions<> const& where, tree_support const& support, index_t step,
                        tree_memory_view<T const> memory, tree_memory_view<T const> d_memory, tree_weights_view<T> dw,
                        matrix<T> d_root, workspace) {
  index_t const positions = where.count(), fillers = memory.extent(3);
  auto const dy = tree_slot(d_memory, step + 1);
  for (index_t b = 0; b < dy.extent(0); ++b) {
    for (index_t f = 0; f < fillers; ++f) d_root(b, f) = dy(b, 0, f);
    for (index_t l = 0; l <= step; ++l) {
      for (index_t c = 0; c < dw.extent(3); ++c) dw(step, b, l, c) = T(0);
      for (index_t q = 0; q < positions; ++q)
        if (support.has(l, q))
          each_target(where, q, [&](index_t argument, index_t to) {
            for (index_t f = 0; f < fillers; ++f) dw(step, b, l, argument) += memory(l, b, q, f) * dy(b, to, f);
          });
    }
  }
}

template <class T>
void do_tree_shift_grad(backend&, tree_positions<> const& where, tree_support const& support,
                        tree_weights_view<T const> w, index_t slot, tree_memory_view<T> d_memory) {
  index_t const steps = w.extent(0), positions = where.count(), fillers = d_memory.extent(3);
  for (index_t b = 0; b < d_memory.extent(1); ++b)
    for (index_t q = 0; q < positions; ++q) {
      if (!support.has(slot, q)) continue;
      for (index_t f = 0; f < fillers; ++f) d_memory(slot, b, q, f) = T(0);
      for (index_t k = slot; k < steps; ++k)
        each_target(where, q, [&](index_t argument, index_t to) {
          for (index_t f = 0; f < fillers; ++f)
            d_memory(slot, b, q, f) += w(k, b, slot, argument) * d_memory(k + 1, b, to, f);
        });
    }
}

}  // namespace triad::TRIAD_REFERENCE
