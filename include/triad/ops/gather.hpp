// Gathers rows of a table by index, and adds rows to a table by index.  The first operation is an embedding, and the
// second operation is its gradient.
// SPDX-License-Identifier: Apache-2.0
//
//   y(r, :) = table(index(r), :)            table (v, d), index (rows), y (rows, d)
//   dtable(index(r), :) += dy(r, :)         in ascending r
//
// A NaN in a row of the table affects only the rows of y whose index selects this row.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>

#include "triad/core/backend.hpp"
#include "triad/core/call.hpp"
#include "triad/core/views.hpp"
#include "triad/ops/elementwise.hpp"

namespace triad {

/// Thrown by backends on the host if an index is not the index of a row of the table.
struct index_out_of_range : contract_violation {
  index_t row, index, rows;  // the row with the index, the index, and the number of rows of the table

  index_out_of_range(index_t at, index_t found, index_t table)
      : contract_violation("gather_rows: index " + std::to_string(found) + " of row " + std::to_string(at) +
                           " is outside of a table of " + std::to_string(table) + " rows"),
        row(at),
        index(found),
        rows(table) {}
};

/// Sets y(r) = table(index(r)).  Every index must be in [0, v).  Backends on the host check the indices.  A device does
/// not check them.
template <backend Ex, class Table, class Y>
void gather_rows(Ex& ex, Table table, vec<index_t const> index, Y y) {
  using T = element_t<Y>;
  static_assert(std::is_same_v<T, element_t<Table>>,
                "gather_rows: y and table have different element types: make both float or both double");
  matrix<T const> const from = as_matrix(table);
  matrix<T> const to = as_matrix(y);
  expect_extent("gather_rows", "rows of y", to.extent(0), index.extent(0));
  expect_extent("gather_rows", "columns of y", to.extent(1), from.extent(1));
  if constexpr (executes<Ex>) do_gather_rows(ex, from, index, to);
}

namespace detail {

/// The operands of scatter_add_rows as matrices.  The constructor checks their shapes.
template <class T>
struct scattered {
  matrix<T const> from;
  matrix<T> to;

  template <class Dy, class DTable>
  scattered(Dy dy, vec<index_t const> index, DTable dtable) : from(as_matrix(dy)), to(as_matrix(dtable)) {
    static_assert(std::is_same_v<T, element_t<Dy>>,
                  "scatter_add_rows: dy and dtable have different element types: make both float or both double");
    expect_extent("scatter_add_rows", "rows of dy", from.extent(0), index.extent(0));
    expect_extent("scatter_add_rows", "columns of dtable", to.extent(1), from.extent(1));
  }
};

}  // namespace detail

/// Adds dy(r) to dtable(index(r)).  Every index must be in [0, v).  Backends on the host check the indices.  A device
/// skips indices outside of this range.  Without scratch memory, a device compares each row of the table with every
/// index, so this overload is suitable only for small tables.
template <backend Ex, class Dy, class DTable>
void scatter_add_rows(Ex& ex, Dy dy, vec<index_t const> index, DTable dtable) {
  detail::scattered<element_t<DTable>> const s(dy, index, dtable);
  if constexpr (executes<Ex>) do_scatter_add_rows(ex, s.from, index, s.to, workspace{});
}

/// Adds dy(r) to dtable(index(r)), like the overload above.  A device uses the scratch memory if there are many rows.
template <backend Ex, class Dy, class DTable>
void scatter_add_rows(Ex& ex, scratch_place scratch, Dy dy, vec<index_t const> index, DTable dtable) {
  detail::scattered<element_t<DTable>> const s(dy, index, dtable);
  std::size_t const bytes = do_scatter_add_rows_workspace(planning(ex), s.from, index, s.to);
  if (bytes == 0) return scatter_add_rows(ex, dy, index, dtable);  // no scratch memory is needed
  with_workspace(ex, *scratch, bytes, [&](auto ws) { do_scatter_add_rows(ex, s.from, index, s.to, ws); });
}

/// Overwrites dtable with the gradient of gather_rows, and returns it.
template <backend Ex, class Dy, class DTable>
const_view<DTable> scatter_rows(Ex& ex, scratch_place scratch, Dy dy, vec<index_t const> index, DTable dtable) {
  fill(ex, element_t<DTable>(0), dtable);
  scatter_add_rows(ex, scratch, dy, index, dtable);
  return dtable;
}

}  // namespace triad
