// Gather in parallel over rows, and scatter-add in parallel over columns.  Each element of the table belongs to one
// thread, which adds the terms in the order of rows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/cpu/backend.hpp"
#include "triad/reference/gather.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

template <class T>
void do_gather_rows(backend& ex, matrix<T const> table, vec<index_t const> index, matrix<T> y) {
  reference::expect_indices(index, table.extent(0));
  parallel_rows(ex, y.extent(0), 256, [=](index_t first, index_t count, int) {
    for (index_t r = first; r < first + count; ++r)
      for (index_t c = 0; c < y.extent(1); ++c) y(r, c) = table(index(r), c);
  });
}

template <class T>
void do_scatter_add_rows(backend& ex, matrix<T const> dy, vec<index_t const> index, matrix<T> dtable, workspace) {
  reference::expect_indices(index, dtable.extent(0));
  parallel_rows(ex, dy.extent(1), 32, [=](index_t first, index_t count, int) {
    for (index_t r = 0; r < dy.extent(0); ++r)
      for (index_t c = first; c < first + count; ++c) dtable(index(r), c) += dy(r, c);
  });
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
