// Gather and scatter-add of rows, directly from their definition in ops/gather.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/ops/gather.hpp"
#include "triad/reference/backend.hpp"

namespace triad::TRIAD_REFERENCE {

inline void expect_indices(vec<index_t const> index, index_t rows) {
  bool inside = true;
  for (index_t r = 0; r < index.extent(0); ++r) inside = inside && index(r) >= 0 && index(r) < rows;
  if (inside) return;
  for (index_t r = 0; r < index.extent(0); ++r)
    if (index(r) < 0 || index(r) >= rows) throw index_out_of_range(r, index(r), rows);
}

template <class T>
void do_gather_rows(backend&, matrix<T const> table, vec<index_t const> index, matrix<T> y) {
  expect_indices(index, table.extent(0));
  for (index_t r = 0; r < y.extent(0); ++r)
    for (index_t c = 0; c < y.extent(1); ++c) y(r, c) = table(index(r), c);
}

template <class T>
std::size_t do_scatter_add_rows_workspace(backend&, matrix<T const>, vec<index_t const>, matrix<T>) {
  return 0;
}

template <class T>
void do_scatter_add_rows(backend&, matrix<T const> dy, vec<index_t const> index, matrix<T> dtable, workspace) {
  expect_indices(index, dtable.extent(0));
  for (index_t r = 0; r < dy.extent(0); ++r)
    for (index_t c = 0; c < dy.extent(1); ++c) dtable(index(r), c) += dy(r, c);
}

}  // namespace triad::TRIAD_REFERENCE
