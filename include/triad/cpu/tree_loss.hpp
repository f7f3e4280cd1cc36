// The loss of trees, with rows in parallel.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/cpu/backend.hpp"
#include "triad/reference/tree_loss.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

template <class T>
void do_tree_loss(backend& ex, matrix<T const> x, vec<index_t const> target, vec<T> of_rows, matrix<T> dx,
                  tree_loss_options const& o) {
  if (x.stride(1) != 1 || dx.stride(1) != 1) return reference::do_tree_loss(ex, x, target, of_rows, dx, o);
  index_t const symbols = x.extent(1);
  T const per_row = T(1) / T(x.extent(0)), per_empty = per_row * T(o.empty_weight);
  parallel_rows(ex, x.extent(0), 256, [&](index_t first, index_t count, int) {
    for (index_t r = first; r < first + count; ++r) {
      index_t const symbol = target(r);
      TRIAD_EXPECTS(symbol >= 0 && symbol < symbols, target_outside("tree_loss", r, symbol, symbols));
      T const* const from = &x(r, 0);
      T* const to = &dx(r, 0);
      auto const squares = [&](index_t begin, index_t end) {
        T part = 0;
#pragma omp simd reduction(+ : part)
        for (index_t v = begin; v < end; ++v) part += from[v] * from[v];
        return part;
      };
      // Adds the squares of all symbols except the target.  The sum of all squares minus the target's square would lose
      // digits, because the target's square is near 1.
      T const sum = symbol == 0 ? squares(1, symbols) : squares(1, symbol) + squares(symbol + 1, symbols);
      T slope = 2 * per_row;
      if (symbol == 0) {
        T const norm = std::sqrt(sum);
        slope = norm == T(0) ? T(0) : per_empty / norm;
        of_rows(r) = norm * per_empty;
      }
#pragma omp simd
      for (index_t v = 0; v < symbols; ++v) to[v] = from[v] * slope;
      to[0] = T(0);
      if (symbol == 0) continue;
      reference::distance_from_one<T> const of_target(o, from[symbol]);
      of_rows(r) = (sum + of_target.value) * per_row;
      to[symbol] = per_row * of_target.slope;
    }
  });
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
