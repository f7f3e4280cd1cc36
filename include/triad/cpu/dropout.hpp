// Dropout with rows in parallel.  Sixteen counters are computed at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/cpu/backend.hpp"
#include "triad/cpu/kernels/random.hpp"
#include "triad/reference/dropout.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

template <class T>
void do_dropout(backend& ex, dropout_mask mask, matrix<T const> x, matrix<T> y) {
  if (!mask.active() || x.stride(1) != 1 || y.stride(1) != 1) return reference::do_dropout(ex, mask, x, y);
  keep_source const source(mask);
  parallel_rows(ex, x.extent(0), 64, [=](index_t first, index_t count, int) {
    for (index_t r = first; r < first + count; ++r)
      drop_row(source, T(mask.scale()), r, x.extent(1), &x(r, 0), &y(r, 0));
  });
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
