// Writes the loss and the norm of a training step into a table in the backend's memory, to be read later.
// SPDX-License-Identifier: Apache-2.0
//
//   table(step mod rows, :) = (loss, norm)
#pragma once

#include "triad/core/backend.hpp"
#include "triad/core/mdspan.hpp"
#include "triad/core/views.hpp"

namespace triad {

/// Writes loss (1) and norm (1) into row step mod rows of table (rows, 2).  All arguments must be in the backend's
/// memory.
template <backend Ex, class T>
void log_step(Ex& ex, std::uint64_t const* step, vec<T const> loss, vec<T const> norm, matrix<T> table) {
  expect_shape("log_step", "loss", loss, {1});
  expect_shape("log_step", "norm", norm, {1});
  TRIAD_EXPECTS(table.extent(0) > 0, "log_step: table has 0 rows, expected 1 or more");
  expect_extent("log_step", "columns of table", table.extent(1), 2);
  if constexpr (executes<Ex>) do_log_step(ex, step, loss, norm, table);
}

}  // namespace triad
