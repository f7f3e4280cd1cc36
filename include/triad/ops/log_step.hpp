// What a training step leaves to be read later: its loss and its norm, in a table where the data lives.
// SPDX-License-Identifier: Apache-2.0
//
//   table(step mod rows, :) = (loss, norm)
#pragma once

#include "triad/core/backend.hpp"
#include "triad/core/mdspan.hpp"

namespace triad {

/// step, loss (1), norm (1) and table (rows, 2) live where the parameters live.  Overwrites one row.
template <backend Ex, class T>
void log_step(Ex& ex, std::uint64_t const* step, vec<T const> loss, vec<T const> norm, matrix<T> table) {
  TRIAD_EXPECTS(loss.extent(0) == 1 && norm.extent(0) == 1, "log_step: loss and norm are one number each");
  TRIAD_EXPECTS(table.extent(0) > 0 && table.extent(1) == 2,
                "log_step: the table needs two columns and a row at least");
  if constexpr (executes<Ex>) do_log_step(ex, step, loss, norm, table);
}

}  // namespace triad
